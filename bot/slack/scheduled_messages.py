"""Messages that Slack posts later, each for who asked for it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from slack_sdk.errors import SlackApiError

from bot.core.context import current_request
from bot.core.errors import NotPermitted, StoreError, ToolError
from bot.core.failpoints import failpoint
from bot.core.scheduled_message import ScheduledMessage
from bot.slack import composed
from bot.slack.client import Clients, error_code
from bot.slack.reachable import ReachableChannels
from bot.slack.reading import Reading
from bot.slack.refusals import for_the_model, only_once
from bot.store import ScheduledMessageStore
from bot.toolkit.scheduled_messages import WaitingMessage

_PAGE = 100
_MOST_PAGES = 20
_ENOUGH = 40
_GONE = "It waits no more: it was posted or cancelled, or is posted within this minute."

Waiting = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SlackScheduledMessages:
    """See `bot.toolkit.scheduled_messages.ScheduledMessages`. Whose they are is kept by us, as Slack
    only knows that they are the app's; whether they still wait, Slack says."""

    clients: Clients
    channels: ReachableChannels
    reading: Reading
    store: ScheduledMessageStore

    async def add(self, text: str, *, channel: str, at: datetime, thread: str | None = None) -> str:
        """It is kept before Slack is asked: were the reply lost, its owner could not cancel it."""
        request, message = current_request(), composed.message(text)
        async with for_the_model(), only_once():
            place = await self.channels.writable(channel)
            ours = ScheduledMessage(
                team=request.team,
                user=request.user,
                channel=place.id,
                text=message["text"],
                post_at=int(at.timestamp()),
            )
            await self.store.save(ours)
            failpoint("elsewhere-posting")
            kept = await self.clients.writes.chat_scheduleMessage(
                channel=place.id, thread_ts=thread, post_at=ours.post_at, **message
            )
        failpoint("elsewhere-posted")
        known = ours.model_copy(update={"slack_id": str(kept["scheduled_message_id"])})
        with suppress(StoreError):  # what was kept before finds it as well
            await self.store.save(known)
        return known.slack_id

    async def all(self) -> tuple[list[WaitingMessage], int]:
        """In front of others, only those that go where they may look as well."""
        async with for_the_model():
            found = [await self._shown(each) for _, each in await self._own()]
        shown = sorted((each for each in found if each), key=lambda each: each.at)
        return shown, len(found) - len(shown)

    async def check_waits(self, message_id: str, *, text: str) -> None:
        async with for_the_model():
            await self._told(message_id, text)

    async def cancel(self, message_id: str, *, text: str) -> None:
        async with for_the_model(), only_once():
            ours, waiting = await self._told(message_id, text)
            failpoint("elsewhere-posting")
            try:
                await self.clients.writes.chat_deleteScheduledMessage(
                    channel=str(waiting["channel_id"]), scheduled_message_id=str(waiting["id"])
                )
            except SlackApiError as error:
                if error_code(error) == "invalid_scheduled_message_id":
                    raise ToolError(_GONE) from None
                raise
        failpoint("elsewhere-posted")
        await self.store.remove(ours)

    async def _told(self, message_id: str, text: str) -> tuple[ScheduledMessage, Waiting]:
        """The one that begins so."""
        found = await self._named(message_id)
        _check_is(await self._text(found[1]), text.strip())
        return found

    async def _named(self, message_id: str) -> tuple[ScheduledMessage, Waiting]:
        for ours, waiting in await self._own():
            if str(waiting["id"]) == message_id:
                return ours, waiting
        raise ToolError(f"The person has no message {message_id} waiting. {_GONE}")

    async def _own(self) -> list[tuple[ScheduledMessage, Waiting]]:
        """The person's that wait, as we know them and as Slack does; what waits no more is
        forgotten."""
        request = current_request()
        ours = await self.store.of(request.team, request.user)
        waiting = await self._waiting() if ours else []
        found = []
        for each in ours:
            match = next((one for one in waiting if _is_same(each, one)), None)
            if match is not None:
                found.append((each, match))
            elif each.post_at < time.time():
                await self.store.remove(each)
        return found

    async def _waiting(self) -> list[Waiting]:
        """All of the app's."""
        found: list[Waiting] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await self.clients.reads.chat_scheduledMessages_list(limit=_PAGE, cursor=cursor)
            found += page["scheduled_messages"]
            cursor = (page.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                break
        return found

    async def _shown(self, waiting: Waiting) -> WaitingMessage | None:
        request, channel = current_request(), str(waiting["channel_id"])
        if not request.request.is_for_one:
            try:
                await self.channels.readable(channel)
            except (NotPermitted, ToolError):
                return None
        return WaitingMessage(
            id=str(waiting["id"]),
            place=await self.channels.slack.access.place(channel),
            at=datetime.fromtimestamp(int(waiting["post_at"]), UTC),
            text=await self._text(waiting),
        )

    async def _text(self, waiting: Waiting) -> str:
        message = {"ts": f"{waiting['post_at']}.0", "text": waiting.get("text")}
        return (await self.reading.message(message, str(waiting["channel_id"]))).text


def _check_is(whole: str, told: str) -> None:
    """Raises ToolError unless who approves it is told enough of the message to know it."""
    if not whole.startswith(told) or len(told) < min(len(whole), _ENOUGH):
        raise ToolError(
            f"text is not how it begins. Copy at least {_ENOUGH} characters, or all of it, from "
            "list_scheduled_messages."
        )


def _is_same(ours: ScheduledMessage, waiting: Waiting) -> bool:
    if ours.slack_id:
        return ours.slack_id == str(waiting["id"])
    what = (waiting["channel_id"], int(waiting["post_at"]), waiting.get("text"))
    return what == (ours.channel, ours.post_at, ours.text)
