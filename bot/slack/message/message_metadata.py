"""Metadata that tells the messages of a run from all others, also after a crash.

It holds the run's id, the number of the message, and the claim of each request that it answers: the
ts of the message that asked. A finished message so shows that these questions are over, also to a bot that was restored
from a backup or gets an event late, and of whose answer Redis knows nothing. Slack takes no metadata
for a message that is still streamed, so the id of one of its blocks carries the run's id.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from slack_sdk.errors import SlackApiError

from bot.core.request import Request
from bot.slack.edge.client import NO_PLACE, Clients, Identity, error_code
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
    return next(
        (block_id.removeprefix(_STREAM) for block_id in ids if block_id.startswith(_STREAM)), None
    )


def is_of_run(message: Mapping[str, Any], run_id: str) -> bool:
    """Return whether the message belongs to the run and is not an approval card."""
    return part_number(message, run_id) is not None


def is_under_way(message: Mapping[str, Any]) -> bool:
    """Return whether the message shows a run that has not ended: only these have a Stop button."""
    elements = (
        element for block in message.get("blocks") or () for element in block.get("elements") or ()
    )
    return any(element.get("action_id") == STOP for element in elements)


def _payload(message: Mapping[str, Any]) -> Mapping[str, Any]:
    return (message.get("metadata") or {}).get("event_payload") or {}


def _streams(message: Mapping[str, Any], run_id: str) -> bool:
    block_id = stream_block_id(run_id)
    return any(block.get("block_id") == block_id for block in message.get("blocks") or ())


Message = Mapping[str, Any]

_PAGE = 200
_DELETED = frozenset({"thread_not_found", "message_not_found"})


async def messages_around(clients: Clients, request: Request) -> AsyncGenerator[Message]:
    """Yield the messages of a request's thread, or of a direct message since the request, with
    metadata, oldest first. Raises SlackApiError and TRANSPORT_ERRORS."""
    if request.top_level:
        async for message in _messages_since(clients, request):
            yield message
        return
    cursor = None
    while True:
        page = await clients.reads.conversations_replies(
            channel=request.channel,
            ts=request.thread,
            include_all_metadata=True,
            limit=_PAGE,
            cursor=cursor,
        )
        for message in page["messages"]:
            yield message
        cursor = (page.get("response_metadata") or {}).get("next_cursor")
        if not cursor:
            return


async def _messages_since(clients: Clients, request: Request) -> AsyncGenerator[Message]:
    cursor, newest_first = None, list[Message]()
    while True:
        page = await clients.reads.conversations_history(
            channel=request.channel,
            oldest=request.thread,
            inclusive=True,
            include_all_metadata=True,
            limit=_PAGE,
            cursor=cursor,
        )
        newest_first += page["messages"]
        cursor = (page.get("response_metadata") or {}).get("next_cursor")
        if not cursor:
            break
    for message in reversed(newest_first):
        yield message


@dataclass(frozen=True, slots=True)
class EarlierAnswers:
    """The answers that one workspace shows."""

    clients: Clients
    identity: Identity

    async def ended_by(self, request: Request) -> str | None:
        """Return the id of the run whose final message answers a request; None without one.

        Return "" when the message that asked is gone. Raises SlackApiError and TRANSPORT_ERRORS while
        Slack cannot be read.
        """
        typed = (request.message or request.ts) if request.is_typed else ""
        is_there = not typed
        try:
            async for message in self._messages(request):
                is_own = message.get("user") == self.identity.user
                if is_own and request.claim in answered_by(message):
                    return run_of(message) or ""
                is_there |= message["ts"] == typed and message.get("subtype") != "tombstone"
        except SlackApiError as error:
            if error_code(error) in _DELETED:
                return ""
            if error_code(error) in NO_PLACE:  # the end of the run will tell its asker
                return None
            raise
        return None if is_there else ""

    async def _messages(self, request: Request) -> AsyncGenerator[Message]:
        """Yield the messages among which the answer stands, if there is one.

        The answer to a request that became private is in the direct messages of its asker.
        """
        reads = self.clients.reads
        if request.kept_private:
            channel = await self.clients.direct(request.user)
            page = await reads.conversations_history(
                channel=channel, limit=_PAGE, include_all_metadata=True
            )
            for message in page["messages"]:
                yield message
            return
        async for message in messages_around(self.clients, request):
            yield message
