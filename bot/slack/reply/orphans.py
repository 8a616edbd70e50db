"""Messages that show a run under way of which nothing is left: Redis lost it, or it was dropped."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from slack_sdk.errors import SlackApiError

from bot.slack.incoming.history import History, Message
from bot.slack.render import words
from bot.slack.reply import message_metadata
from bot.slack.reply.status import ThreadStatus
from bot.slack.reply.streams import end_stream
from bot.slack.transport.client import Clients, Identity, error_code

log = logging.getLogger(__name__)

_LEAST_AGE = 60.0  # seconds: younger ones may belong to a run that ends just now

IsIdle = Callable[[str], Awaitable[bool]]
"""Whether a thread, by its key, has nothing that runs or waits. Raises StoreUnavailable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Orphans:
    """Ends them in one workspace."""

    clients: Clients
    identity: Identity
    status: ThreadStatus
    is_idle: IsIdle

    def among(self, messages: Iterable[Message]) -> list[Message]:
        """Return the messages that may be orphans."""
        return [
            each
            for each in messages
            if each.get("user") == self.identity.user
            and message_metadata.is_under_way(each)
            and time.time() - float(each["ts"]) > _LEAST_AGE
        ]

    async def end(self, channel: str, thread: str, history: History) -> None:
        """Say in each orphan of a thread that its question got lost, and clear the thread's status.

        The thread is read between two looks at what it has to do: a run that ends meanwhile has
        changed its message, and one that begins has its request in the thread.
        """
        key = f"{self.identity.team}:{channel}:{thread}"
        if not await self.is_idle(key):
            return
        found = self.among(await history.replies(channel, thread, 0.0))
        if not found or not await self.is_idle(key):
            return
        for message in found:
            await self._end(channel, message)
        await self.status.end(channel, thread)

    async def _end(self, channel: str, message: Message) -> None:
        ts, run_id = str(message["ts"]), message_metadata.run_of(message) or ""
        log.warning("Message %s shows a run that is lost: %s", ts, run_id)
        metadata = message_metadata.metadata(run_id, 0)
        await end_stream(self.clients, channel, ts, metadata)
        try:
            await self.clients.updates.chat_update(
                channel=channel, ts=ts, text=words.LOST, blocks=[], metadata=metadata
            )
        except SlackApiError as error:
            log.info("It cannot be changed (%s), and is deleted", error_code(error))
            await self.clients.updates.chat_delete(channel=channel, ts=ts)
