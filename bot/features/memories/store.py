"""Memories as they are stored: one hash for each person, channel and workspace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.store import Connection, Retention, Stores
from bot.store.threads.threads import forgetting
from bot.store.values import Hash
from bot.toolkit import Memory, MemoryScope


@dataclass(frozen=True, slots=True)
class MemoryStore:
    """The store of memories. `holder` is "team:user", "team:channel" or the team id."""

    redis: Connection
    retention: Retention

    @classmethod
    def of(cls, stores: Stores) -> MemoryStore:
        """Return the store in the Redis of `stores`."""
        return cls(stores.redis, stores.retention)

    async def add(self, holder: str, memory: Memory, *, most: int) -> bool:
        """Add a memory. Return False if the holder already has `most`; the check is atomic."""
        return await self._of(memory.scope, holder).add(memory.id, memory, most=most)

    async def all(self, scope: MemoryScope, holder: str) -> list[Memory]:
        """Return the memories of a holder, oldest first; skip damaged ones. They are kept longer."""
        return await self.all_of([(scope, holder)])

    async def all_of(self, holders: Sequence[tuple[MemoryScope, str]]) -> list[Memory]:
        """Return the memories of several holders, one holder after the other, as `all` does."""
        hashes = [self._of(scope, holder) for scope, holder in holders]
        reading = [command for of_one in hashes for command in of_one.reading(renew=True)]
        replies = await self.redis.together(*reading)
        memories = list[Memory]()
        for of_one, fields in zip(hashes, replies[::2], strict=True):
            memories += sorted(of_one.decoded(fields).values(), key=lambda memory: memory.at)
        return memories

    async def forget(self, scope: MemoryScope, holder: str, memory_id: str) -> bool:
        """Delete a memory. Return False if it does not exist.

        Answers may repeat what is remembered about a person, so none given before is handed on to
        their next direct message.
        """
        deleting = ("HDEL", self._of(scope, holder).key, memory_id)
        is_personal = scope is MemoryScope.USER
        recent = forgetting(self.redis, holder, self.retention.request) if is_personal else ()
        deleted, *_ = await self.redis.together(deleting, *recent)
        return bool(deleted)

    def _of(self, scope: MemoryScope, holder: str) -> Hash[Memory]:
        key = self.redis.key("memories", scope, holder)
        return Hash(self.redis, key, Memory, self.retention.settings)
