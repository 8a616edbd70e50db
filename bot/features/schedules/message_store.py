"""Scheduled messages by the person who asked for them; Slack only knows which app did."""

from __future__ import annotations

import time
from dataclasses import dataclass

from bot.features.schedules.message import ScheduledMessage
from bot.store import Connection, Stores
from bot.store.values import Hash


@dataclass(frozen=True, slots=True)
class ScheduledMessageStore:
    """The store of scheduled messages: one hash for each person in a workspace."""

    redis: Connection
    seconds: int

    @classmethod
    def of(cls, stores: Stores) -> ScheduledMessageStore:
        """Return the store in the Redis of `stores`."""
        return cls(stores.redis, stores.retention.settings)

    async def save(self, message: ScheduledMessage) -> None:
        """Store a message, replacing the one with the same id."""
        key = self._messages(message.team, message.user).key
        # Never sooner than before: another message of this person may be posted later than this one.
        seconds = self.seconds + max(0, int(message.post_at - time.time()))
        await self.redis.together(
            ("HSET", key, message.id, message.model_dump_json()),
            ("EXPIRE", key, seconds, "NX"),
            ("EXPIRE", key, seconds, "GT"),
        )

    async def of_person(self, team: str, user: str) -> list[ScheduledMessage]:
        """Return the scheduled messages of a person; skip damaged ones."""
        return list((await self._messages(team, user).all()).values())

    async def remove(self, message: ScheduledMessage) -> None:
        """Delete a message from the store."""
        await self._messages(message.team, message.user).remove(message.id)

    def _messages(self, team: str, user: str) -> Hash[ScheduledMessage]:
        key = self.redis.key("scheduled-messages", team, user)
        return Hash(self.redis, key, ScheduledMessage, self.seconds)
