"""Messages that Slack posts later, by who asked for them: Slack tells only which app did."""

from __future__ import annotations

import logging

from bot.core.errors import CorruptValue
from bot.core.scheduled_message import ScheduledMessage
from bot.store.connection import Connection, Retention
from bot.store.values import decode

log = logging.getLogger(__name__)


class ScheduledMessageStore:
    """One hash for each person in a workspace."""

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._redis = redis
        self._seconds = retention.settings

    async def save(self, message: ScheduledMessage) -> None:
        """Keep it, as it stands now."""
        key = self._key(message.team, message.user)
        await self._redis.together(
            ("HSET", key, message.id, message.model_dump_json()), ("EXPIRE", key, self._seconds)
        )

    async def of(self, team: str, user: str) -> list[ScheduledMessage]:
        """A person's; what cannot be read is passed over."""
        found = []
        for name, raw in (await self._redis.call("HGETALL", self._key(team, user))).items():
            try:
                found.append(decode(ScheduledMessage, raw))
            except CorruptValue:
                log.exception("A scheduled message cannot be read: %s", name.decode())
        return found

    async def remove(self, message: ScheduledMessage) -> None:
        """Forget it."""
        await self._redis.call("HDEL", self._key(message.team, message.user), message.id)

    def _key(self, team: str, user: str) -> str:
        return self._redis.key("scheduled-messages", team, user)
