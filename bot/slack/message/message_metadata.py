"""Metadata that tells the messages of a run from all others, also after a crash.

It holds the run's id, the number of the message, and the ts of each message that asked what it
answers. Such a finished message shows that these questions are over, whatever Redis knows of them.
Slack takes no metadata for a message that is still streamed, so the id of one of its blocks carries
the run's id.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bot.slack.ui.buttons import STOP

EVENT_TYPE = "run"
_STREAM = "run_stream:"


def metadata(run_id: str, number: int, answers: Iterable[str] = ()) -> dict[str, Any]:
    """Return the metadata of message `number` of a run. The whole workspace can read it: ids only.

    `answers` are the ts of the messages that the run has answered; before its end there are none.
    """
    return {
        "event_type": EVENT_TYPE,
        "event_payload": {"run": run_id, "part": number, "answers": list(answers)},
    }


def reply_metadata(ts: str) -> dict[str, Any]:
    """Return the metadata of an answer that no run gave to the message `ts`."""
    return {"event_type": EVENT_TYPE, "event_payload": {"answers": [ts]}}


def card_metadata(run_id: str, approval_id: str) -> dict[str, Any]:
    """Return the metadata of an approval card."""
    return {"event_type": EVENT_TYPE, "event_payload": {"run": run_id, "card": approval_id}}


def stream_block_id(run_id: str) -> str:
    """Return the block id that marks the first message of a run while it is streamed."""
    return f"{_STREAM}{run_id}"


def part_number(message: Mapping[str, Any], run_id: str) -> int | None:
    """Return the number of a message within the run; None for cards and for other messages."""
    payload = _payload(message)
    if payload.get("run") == run_id:
        return int(payload["part"]) if "part" in payload else None
    return 0 if _streams(message, run_id) else None


def answered_by(message: Mapping[str, Any]) -> frozenset[str]:
    """Return the ts of the messages to which this one is the final answer; empty while it is none."""
    answers = _payload(message).get("answers")
    if not isinstance(answers, list) or is_under_way(message):
        return frozenset()
    return frozenset(map(str, answers))


def is_unnamed_answer(message: Mapping[str, Any]) -> bool:
    """Return whether an older version ended a run with this message, which names no questions."""
    payload = _payload(message)
    return "part" in payload and "answers" not in payload and not is_under_way(message)


def run_of(message: Mapping[str, Any]) -> str | None:
    """Return the id of the run that a message or card belongs to; None if there is none."""
    payload = _payload(message)
    if "run" in payload:
        return str(payload["run"])
    ids = (str(block.get("block_id") or "") for block in message.get("blocks") or ())
    return next((each.removeprefix(_STREAM) for each in ids if each.startswith(_STREAM)), None)


def is_of_run(message: Mapping[str, Any], run_id: str) -> bool:
    """Return whether the message belongs to the run and is not an approval card."""
    return part_number(message, run_id) is not None


def is_under_way(message: Mapping[str, Any]) -> bool:
    """Return whether the message shows a run that has not ended: only these have a Stop button."""
    elements = (
        each for block in message.get("blocks") or () for each in block.get("elements") or ()
    )
    return any(each.get("action_id") == STOP for each in elements)


def _payload(message: Mapping[str, Any]) -> Mapping[str, Any]:
    return (message.get("metadata") or {}).get("event_payload") or {}


def _streams(message: Mapping[str, Any], run_id: str) -> bool:
    wanted = stream_block_id(run_id)
    return any(block.get("block_id") == wanted for block in message.get("blocks") or ())
