"""Messages that Slack posts later, each owned by the person who asked for it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from slack_sdk.errors import SlackApiError

from bot.core.context import current_request
from bot.core.errors import NotPermitted, StoreError, ToolError
from bot.core.failpoints import failpoint
from bot.features.schedules.message import ScheduledMessage
from bot.features.schedules.waiting import Waiting, WaitingMessages
from bot.slack.edge.client import is_ambiguous
from bot.slack.providers import outbound_text
from bot.slack.providers.channel_access import ReachableChannels, for_the_model, only_once
from bot.slack.providers.messages import MessageReader
from bot.text.invisible_text import exact
from bot.toolkit.provided.scheduled_messages import WaitingMessage

_MIN_QUOTE = 40  # characters
_GONE = "It is no longer scheduled: it was already posted or cancelled, or is about to be posted."


@dataclass(frozen=True, slots=True)
class SlackScheduledMessages:
    """The scheduled messages of the asker. See `bot.toolkit.provided.scheduled_messages.ScheduledMessages`."""

    waiting: WaitingMessages
    channels: ReachableChannels
    reader: MessageReader

    async def add(self, text: str, *, channel: str, at: datetime, thread: str | None = None) -> str:
        """Schedule a message and return Slack's id for it.

        The message is saved before the call: if Slack's reply is lost, its owner can still cancel
        it.
        """
        request, message, store = current_request(), outbound_text.message(text), self.waiting.store
        async with for_the_model(), only_once():
            place = await self.channels.writable(channel)
            record = ScheduledMessage(
                team=request.team,
                user=request.user,
                channel=place.id,
                text=message["text"],
                post_at=int(at.timestamp()),
            )
            await store.save(record)
            failpoint("elsewhere-posting")
            try:
                reply = await self.waiting.clients.writes.chat_scheduleMessage(
                    channel=place.id, thread_ts=thread, post_at=record.post_at, **message
                )
            except SlackApiError as error:
                if not is_ambiguous(error):
                    with suppress(StoreError):
                        await store.remove(record)
                raise
        failpoint("elsewhere-posted")
        scheduled = record.model_copy(update={"slack_id": str(reply["scheduled_message_id"])})
        with suppress(StoreError):  # the record saved before matches the message, too
            await store.save(scheduled)
        return scheduled.slack_id

    async def all(self) -> tuple[list[WaitingMessage], int]:
        """Return the asker's messages by time, and how many are left out.

        If others read the answer, messages to channels that they may not know about are left out.
        """
        async with for_the_model():
            found = [await self._shown(each) for _, each in await self._own()]
        shown = sorted((each for each in found if each), key=lambda each: each.at)
        return shown, len(found) - len(shown)

    async def check_waits(self, message_id: str, *, text: str) -> None:
        async with for_the_model():
            await self._confirmed(message_id, text)

    async def cancel(self, message_id: str, *, text: str) -> None:
        async with for_the_model(), only_once():
            record, _ = await self._confirmed(message_id, text)
            if not await self.waiting.cancel(record):
                raise ToolError(_GONE)

    async def _confirmed(self, message_id: str, text: str) -> tuple[ScheduledMessage, Waiting]:
        """Return the message with this id. Raises ToolError unless it begins with `text`."""
        found = await self._by_id(message_id)
        _check_quote(exact(await self._text(found[1])), exact(text.strip()))
        return found

    async def _by_id(self, message_id: str) -> tuple[ScheduledMessage, Waiting]:
        for record, waiting in await self._own():
            if str(waiting["id"]) == message_id:
                return record, waiting
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
        return (await self.reader.message(message, str(waiting["channel_id"]))).text


def _check_quote(whole: str, quote: str) -> None:
    """Check that `quote` is the beginning of the message, and long enough to identify it.

    The person who approves the call sees only the quote. Raises ToolError.
    """
    if not whole.startswith(quote) or len(quote) < min(len(whole), _MIN_QUOTE):
        raise ToolError(
            f"text is not how it begins. Copy at least {_MIN_QUOTE} characters, or all of it, from "
            "list_scheduled_messages."
        )
