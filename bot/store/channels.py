"""What admins changed about a channel, in Slack."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel

from bot.store.connection import Connection, Retention
from bot.store.values import load

M = TypeVar("M", bound=BaseModel)


class ChannelEdits:
    """One value a channel. It stays as long as the channel is used."""

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._redis = redis
        self._seconds = retention.settings

    async def load(self, channel: str, kind: type[M]) -> M | None:
        """The changes, read as `kind`; None when there are none. Raises CorruptValue once for a
        value that cannot be read."""
        return await load(self._redis, self._key(channel), kind, renew=self._seconds)

    async def save(self, channel: str, edits: BaseModel) -> None:
        """Keep the changes in the place of those before."""
        value = edits.model_dump_json(exclude_unset=True)
        await self._redis.call("SET", self._key(channel), value, "EX", self._seconds)

    async def forget(self, channel: str) -> None:
        """Back to what is configured."""
        await self._redis.call("DEL", self._key(channel))

    def _key(self, channel: str) -> str:
        return self._redis.key("channel-edits", channel)
