"""What Slack's history holds: the bot's conversations, their messages and threads, unhurriedly."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.slack.transport.client import server_time

Message = Mapping[str, Any]

PACE = 1.5
"""Seconds between calls: 40 a minute, of the 50 that Tier 3 gives each method."""

_PAGE = 100
_PAGES = 5  # of a channel or a thread: what goes beyond in a few minutes is no conversation
_KINDS = "public_channel,private_channel,mpim,im"


@dataclass(frozen=True, slots=True)
class History:
    """Reads for one turn; `hold` is called after each call to Slack, and ends the reading by
    raising. Raises SlackApiError and TRANSPORT_ERRORS."""

    client: AsyncWebClient
    hold: Callable[[], Awaitable[None]]
    pace: float = PACE

    async def conversations(self) -> AsyncGenerator[Message]:
        """Those the bot is in."""
        cursor: str | None = None
        while True:
            page = await self._paced(
                self.client.users_conversations(
                    types=_KINDS, exclude_archived=True, limit=1000, cursor=cursor
                )
            )
            for channel in page["channels"]:
                yield channel
            cursor = _next(page)
            if not cursor:
                return

    async def recent(
        self, channel: str, since: Callable[[float], float]
    ) -> tuple[list[Message], float]:
        """What a channel shows, newest first, back to `since` of Slack's time of now, which is
        returned too. It is at least a page: of older threads that one tells the latest reply."""
        found: list[Message] = []
        cursor: str | None = None
        now: float | None = None
        for _ in range(_PAGES):
            page = await self._paced(
                self.client.conversations_history(
                    channel=channel, limit=_PAGE, cursor=cursor, include_all_metadata=True
                )
            )
            now = now or server_time(page)
            found += page["messages"]
            cursor = _next(page)
            if not cursor or float(found[-1]["ts"]) <= since(now):
                break
        assert now is not None  # noqa: S101 - there is a first page
        return found, now

    async def replies(self, channel: str, root: str, since: float) -> list[Message]:
        """A thread's replies after `since`, oldest first."""
        found: list[Message] = []
        cursor: str | None = None
        for _ in range(_PAGES):
            page = await self._paced(
                self.client.conversations_replies(
                    channel=channel,
                    ts=root,
                    oldest=f"{since:.6f}",
                    include_all_metadata=True,
                    limit=_PAGE,
                    cursor=cursor,
                )
            )
            found += page["messages"]
            cursor = _next(page)
            if not cursor:
                break
        return [each for each in found if float(each["ts"]) > since]

    async def _paced(self, call: Awaitable[AsyncSlackResponse]) -> AsyncSlackResponse:
        response = await call
        await self.hold()
        await asyncio.sleep(self.pace)
        return response


def _next(page: AsyncSlackResponse) -> str | None:
    return (page.get("response_metadata") or {}).get("next_cursor") or None
