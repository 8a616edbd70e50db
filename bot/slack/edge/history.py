"""Rate-limited reads of the bot's conversations, their messages and threads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.slack.edge.client import server_time

Message = Mapping[str, Any]

PACE = 1.5
"""Seconds between calls: 40 a minute, where Slack's Tier 3 allows 50 for each method."""

_PAGE = 100
_PAGES = 5  # of a channel or a thread; more in a few minutes is not a conversation of people
_KINDS = "public_channel,private_channel,mpim,im"


@dataclass(frozen=True, slots=True)
class History:
    """A reader of Slack's history for one catch-up turn.

    `hold` renews the turn after each call to Slack, and raises when the turn is lost. `pace` is in
    seconds. Methods raise SlackApiError and TRANSPORT_ERRORS.
    """

    client: AsyncWebClient
    hold: Callable[[], Awaitable[None]]
    pace: float = PACE

    async def conversations(self) -> AsyncGenerator[Message]:
        """Yield the conversations that the bot is in."""
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
        """Return the channel's messages, newest first, and Slack's current time.

        `since` takes that time and returns how far back to read, both in seconds since the epoch.
        At least one page is read, because it also has the latest reply of older threads.
        """
        messages: list[Message] = []
        cursor: str | None = None
        now: float | None = None
        for _ in range(_PAGES):
            page = await self._paced(
                self.client.conversations_history(
                    channel=channel, limit=_PAGE, cursor=cursor, include_all_metadata=True
                )
            )
            now = now or server_time(page)
            messages += page["messages"]
            cursor = _next(page)
            if not cursor or float(messages[-1]["ts"]) <= since(now):
                break
        assert now is not None  # noqa: S101 - there is a first page
        return messages, now

    async def replies(self, channel: str, root: str, since: float) -> list[Message]:
        """Return a thread's replies after `since` (seconds since the epoch), oldest first."""
        messages: list[Message] = []
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
            messages += page["messages"]
            cursor = _next(page)
            if not cursor:
                break
        return [message for message in messages if float(message["ts"]) > since]

    async def _paced(self, call: Awaitable[AsyncSlackResponse]) -> AsyncSlackResponse:
        response = await call
        await self.hold()
        await asyncio.sleep(self.pace)
        return response


def _next(page: AsyncSlackResponse) -> str | None:
    return (page.get("response_metadata") or {}).get("next_cursor") or None
