"""Answers that stand in Slack already, of which Redis knows nothing.

A bot that was restored from a backup, or that gets an event late, may have answered the question since.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Any

from slack_sdk.errors import SlackApiError

from bot.core.request import Request
from bot.slack.edge.client import NO_PLACE, Clients, Identity, error_code
from bot.slack.message.message_metadata import answered_by, run_of

Message = Mapping[str, Any]

_PAGE = 200
_DELETED = frozenset({"thread_not_found", "message_not_found"})


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
                if is_own and request.ts in answered_by(message):
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
        reads, cursor = self.clients.reads, None
        if request.kept_private:
            opened = await self.clients.writes.conversations_open(users=request.user)
            page = await reads.conversations_history(
                channel=opened["channel"]["id"], limit=_PAGE, include_all_metadata=True
            )
            for message in page["messages"]:
                yield message
            return
        while True:
            page = await reads.conversations_replies(
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
