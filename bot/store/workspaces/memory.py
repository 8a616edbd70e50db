"""Memories: one hash for each person, channel and workspace, kept as long as it is looked at."""

from __future__ import annotations

import logging

from bot.core.errors import CorruptValue
from bot.core.memory import Memory, MemoryScope
from bot.store.connection import Connection, Retention
from bot.store.values import decode

log = logging.getLogger(__name__)


class Memories:
    """`holder` is "team:user", "team:channel" or the team."""

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._redis = redis
        self._seconds = retention.settings

    async def add(self, holder: str, memory: Memory, *, most: int) -> bool:
        """Keep another one; False when there are as many already, however many are added at once."""
        keys = [self._key(memory.scope, holder)]
        args = (memory.id, memory.model_dump_json(), self._seconds, most)
        return bool(await self._redis.script("memory_add", keys, *args))

    async def all(self, scope: MemoryScope, holder: str) -> list[Memory]:
        """Everything that is remembered, oldest first; what cannot be read is passed over."""
        key = self._key(scope, holder)
        fields = await self._redis.call("HGETALL", key)
        if fields:
            await self._redis.call("EXPIRE", key, self._seconds)
        found = []
        for name, raw in fields.items():
            try:
                found.append(decode(Memory, raw))
            except CorruptValue:
                log.exception("A memory cannot be read: %s in %s", name.decode(), key)
        return sorted(found, key=lambda each: each.at)

    async def forget(self, scope: MemoryScope, holder: str, memory_id: str) -> bool:
        """Forget one; False when it is not there."""
        return bool(await self._redis.call("HDEL", self._key(scope, holder), memory_id))

    def _key(self, scope: MemoryScope, holder: str) -> str:
        return self._redis.key("memories", scope, holder)
