"""Memories: one hash for each person, channel and workspace. Reading renews the expiry."""

from __future__ import annotations

import logging

from bot.core.errors import CorruptValue
from bot.core.memory import Memory, MemoryScope
from bot.store.connection import Connection, Retention
from bot.store.threads.threads import forgetting
from bot.store.values import decode

log = logging.getLogger(__name__)


class Memories:
    """The store of memories. `holder` is "team:user", "team:channel" or the team id."""

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._redis = redis
        self._seconds = retention.settings
        self._recent = retention.request

    async def add(self, holder: str, memory: Memory, *, most: int) -> bool:
        """Add a memory. Return False if the holder already has `most`; the check is atomic."""
        keys = [self._key(memory.scope, holder)]
        args = (memory.id, memory.model_dump_json(), self._seconds, most)
        return bool(await self._redis.script("hash_add", keys, *args))

    async def all(self, scope: MemoryScope, holder: str) -> list[Memory]:
        """Return the memories of a holder, oldest first; skip damaged ones."""
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
        """Delete a memory. Return False if it does not exist.

        Answers may repeat what is remembered about a person, so none given before is handed on to
        their next direct message.
        """
        is_personal = scope is MemoryScope.USER
        deleted, *_ = await self._redis.together(
            ("HDEL", self._key(scope, holder), memory_id),
            *(forgetting(self._redis, holder, self._recent) if is_personal else ()),
        )
        return bool(deleted)

    def _key(self, scope: MemoryScope, holder: str) -> str:
        return self._redis.key("memories", scope, holder)
