"""Scheduled messages by the person who asked for them; Slack only knows which app did."""

from __future__ import annotations

import logging
import time

from bot.core.errors import CorruptValue
from bot.features.schedules.message import ScheduledMessage
from bot.store.connection import Connection, Retention
from bot.store.values import decode

log = logging.getLogger(__name__)


class ScheduledMessageStore:
    """The store of scheduled messages: one hash for each person in a workspace."""

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._redis = redis
        self._seconds = retention.settings

    async def save(self, message: ScheduledMessage) -> None:
        """Store a message, replacing the one with the same id."""
        key = self._key(message.team, message.user)
        # Never sooner than before: another message of this person may be posted later than this one.
        seconds = self._seconds + max(0, int(message.post_at - time.time()))
        await self._redis.together(
            ("HSET", key, message.id, message.model_dump_json()),
            ("EXPIRE", key, seconds, "NX"),
            ("EXPIRE", key, seconds, "GT"),
        )

    async def of(self, team: str, user: str) -> list[ScheduledMessage]:
        """Return the scheduled messages of a person; skip damaged ones."""
        found = []
        for name, raw in (await self._redis.call("HGETALL", self._key(team, user))).items():
            try:
                found.append(decode(ScheduledMessage, raw))
            except CorruptValue:
                log.exception("A scheduled message cannot be read: %s", name.decode())
        return found

    async def remove(self, message: ScheduledMessage) -> None:
        """Delete a message from the store."""
        await self._redis.call("HDEL", self._key(message.team, message.user), message.id)

    def _key(self, team: str, user: str) -> str:
        return self._redis.key("scheduled-messages", team, user)
