"""How the messages of a run are told apart from all others, in a thread and after a crash.

Metadata names the run and the number of the message. A message that is still streamed can have
none, so its first blocks carry the run in their id.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.slack.render.buttons import STOP

EVENT_TYPE = "run"
_STREAM = "run_stream:"


def metadata(run_id: str, number: int) -> dict[str, Any]:
    """What message `number` of a run carries; readable by the whole workspace, so ids only."""
    return {"event_type": EVENT_TYPE, "event_payload": {"run": run_id, "part": number}}


def card_metadata(run_id: str, approval_id: str) -> dict[str, Any]:
    """What the card of a run's question carries."""
    return {"event_type": EVENT_TYPE, "event_payload": {"run": run_id, "card": approval_id}}


def stream_block_id(run_id: str) -> str:
    """The id of a block in the first message of a run while it is streamed."""
    return f"{_STREAM}{run_id}"


def part_number(message: Mapping[str, Any], run_id: str) -> int | None:
    """Which message of the run this is; None for a card, and for one of no run or another."""
    payload = (message.get("metadata") or {}).get("event_payload") or {}
    if payload.get("run") == run_id:
        return int(payload["part"]) if "part" in payload else None
    return 0 if _streams(message, run_id) else None


def run_of(message: Mapping[str, Any]) -> str | None:
    """Return the run that a message belongs to, cards included; None for a message of no run."""
    payload = (message.get("metadata") or {}).get("event_payload") or {}
    if "run" in payload:
        return str(payload["run"])
    ids = (str(block.get("block_id") or "") for block in message.get("blocks") or ())
    return next((each.removeprefix(_STREAM) for each in ids if each.startswith(_STREAM)), None)


def is_of_run(message: Mapping[str, Any], run_id: str) -> bool:
    """True for any message of the run but its cards."""
    return part_number(message, run_id) is not None


def is_under_way(message: Mapping[str, Any]) -> bool:
    """Return whether the message shows a run that has not ended: only those have a Stop button."""
    elements = (
        each for block in message.get("blocks") or () for each in block.get("elements") or ()
    )
    return any(each.get("action_id") == STOP for each in elements)


def _streams(message: Mapping[str, Any], run_id: str) -> bool:
    wanted = stream_block_id(run_id)
    return any(block.get("block_id") == wanted for block in message.get("blocks") or ())
