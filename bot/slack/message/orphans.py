"""Orphans: messages that show progress of a run that Redis has lost or that was dropped."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from slack_sdk.errors import SlackApiError

from bot.slack.edge.client import Clients, Identity, error_code
from bot.slack.edge.history import History, Message
from bot.slack.edge.people import People
from bot.slack.edge.status import ThreadStatus
from bot.slack.message import message_metadata
from bot.slack.message.streams import end_stream
from bot.slack.ui import words
from bot.text.translation import reader

log = logging.getLogger(__name__)

_MIN_AGE = 60.0  # seconds: a younger message may belong to a run that is about to end

IsIdle = Callable[[str], Awaitable[bool]]
"""Return whether a thread, by its key, has no running or waiting request. Raises StoreUnavailable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Orphans:
    """The orphaned run messages of one workspace."""

    clients: Clients
    identity: Identity
    status: ThreadStatus
    people: People
    is_idle: IsIdle

    def among(self, messages: Iterable[Message]) -> list[Message]:
        """Return the messages that may be orphans."""
        return [
            each
            for each in messages
            if each.get("user") == self.identity.user
            and message_metadata.is_under_way(each)
            and time.time() - float(each["ts"]) > _MIN_AGE
        ]

    async def end(self, channel: str, thread: str, history: History) -> None:
        """Say in each orphan of a thread that its question was lost, and clear the thread's status.

        The thread is read between two checks that it is idle: a run that ends in between has
        changed its message, and a run that begins in between has its request in the thread.
        """
        key = f"{self.identity.team}:{channel}:{thread}"
        if not await self.is_idle(key):
            return
        replies = await history.replies(channel, thread, 0.0)
        found = self.among(replies)
        if not found or not await self.is_idle(key):
            return
        for message in found:
            with reader(await self.people.locale(self._asker_of(message, replies))):
                await self._end(channel, message)
        await self.status.end(channel, thread)

    def _asker_of(self, orphan: Message, replies: Iterable[Message]) -> str:
        """Return the user whose message the orphan most likely answers: the last one above it."""
        above = (each for each in replies if float(each["ts"]) < float(orphan["ts"]))
        users = [str(each.get("user")) for each in above if not each.get("bot_id")]
        return next((each for each in reversed(users) if each != self.identity.user), "")

    async def _end(self, channel: str, message: Message) -> None:
        ts, run_id = str(message["ts"]), message_metadata.run_of(message) or ""
        log.warning("Message %s shows a lost run: %s", ts, run_id)
        metadata = message_metadata.metadata(run_id, 0)
        await end_stream(self.clients, channel, ts, metadata)
        try:
            await self.clients.updates.chat_update(
                channel=channel, ts=ts, text=words.LOST(), blocks=[], metadata=metadata
            )
        except SlackApiError as error:
            log.info("Message %s cannot be changed (%s) and is deleted", ts, error_code(error))
            await self.clients.updates.chat_delete(channel=channel, ts=ts)
