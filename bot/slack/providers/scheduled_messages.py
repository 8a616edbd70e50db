"""Messages that Slack posts later, each for who asked for it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from slack_sdk.errors import SlackApiError

from bot.core.context import current_request
from bot.core.errors import NotPermitted, StoreError, ToolError
from bot.core.failpoints import failpoint
from bot.core.scheduled_message import ScheduledMessage
from bot.core.text.invisible_text import exact
from bot.slack.providers import outbound_text
from bot.slack.providers.channel_access import ReachableChannels
from bot.slack.providers.message_reading import MessageReader
from bot.slack.providers.slack_errors import for_the_model, only_once
from bot.slack.providers.waiting_messages import Waiting, WaitingMessages
from bot.slack.transport.client import is_ambiguous
from bot.toolkit.scheduled_messages import WaitingMessage

_ENOUGH = 40
_GONE = "It waits no more: it was posted or cancelled, or is posted within this minute."


@dataclass(frozen=True, slots=True)
class SlackScheduledMessages:
    """See `bot.toolkit.scheduled_messages.ScheduledMessages`."""

    waiting: WaitingMessages
    channels: ReachableChannels
    reading: MessageReader

    async def add(self, text: str, *, channel: str, at: datetime, thread: str | None = None) -> str:
        """It is kept before Slack is asked: were the reply lost, its owner could not cancel it."""
        request, message, store = current_request(), outbound_text.message(text), self.waiting.store
        async with for_the_model(), only_once():
            place = await self.channels.writable(channel)
            ours = ScheduledMessage(
                team=request.team,
                user=request.user,
                channel=place.id,
                text=message["text"],
                post_at=int(at.timestamp()),
            )
            await store.save(ours)
            failpoint("elsewhere-posting")
            try:
                kept = await self.waiting.clients.writes.chat_scheduleMessage(
                    channel=place.id, thread_ts=thread, post_at=ours.post_at, **message
                )
            except SlackApiError as error:
                if not is_ambiguous(error):
                    with suppress(StoreError):
                        await store.remove(ours)
                raise
        failpoint("elsewhere-posted")
        known = ours.model_copy(update={"slack_id": str(kept["scheduled_message_id"])})
        with suppress(StoreError):  # what was kept before finds it as well
            await store.save(known)
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
            ours, _ = await self._told(message_id, text)
            if not await self.waiting.cancel(ours):
                raise ToolError(_GONE)

    async def _told(self, message_id: str, text: str) -> tuple[ScheduledMessage, Waiting]:
        """The one that begins so."""
        found = await self._named(message_id)
        _check_is(exact(await self._text(found[1])), exact(text.strip()))
        return found

    async def _named(self, message_id: str) -> tuple[ScheduledMessage, Waiting]:
        for ours, waiting in await self._own():
            if str(waiting["id"]) == message_id:
                return ours, waiting
        raise ToolError(f"The person has no message {message_id} waiting. {_GONE}")

    async def _own(self) -> list[tuple[ScheduledMessage, Waiting]]:
        return await self.waiting.matched(current_request().user)

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
