"""Artifacts of a thread: a description and bytes under a handle."""

from __future__ import annotations

from datetime import UTC, datetime

from bot.store.connection import Connection, Retention
from bot.store.threads.threads import earlier_threads_key
from bot.store.values import Names


class ArtifactStore:
    """The store of artifacts. Reading one renews its expiry. The toolkit defines the descriptions."""

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._redis = redis
        self._seconds = retention.artifact

    async def put(self, thread_key: str, handle: str, description: str, data: bytes) -> None:
        """Store an artifact under a handle that is new to the thread."""
        await self._redis.together(
            ("SET", self._key("data", thread_key, handle), data, "EX", self._seconds),
            ("SET", self._key("about", thread_key, handle), description, "EX", self._seconds),
            *self._handles(thread_key).adding(handle),
        )

    async def count(self, team: str, user: str, size: int) -> int:
        """Add `size` bytes to what a person stored today (UTC). Return the new total in bytes."""
        day = datetime.now(UTC).strftime("%Y-%m-%d")
        key = self._redis.key("artifact-bytes", team, user, day)
        total, _ = await self._redis.together(("INCRBY", key, size), ("EXPIRE", key, 2 * 86_400))
        return int(total)

    async def description(self, thread_key: str, handle: str) -> bytes | None:
        """Return the description of an artifact, None when it has expired."""
        raw, _ = await self._redis.together(
            ("GETEX", self._key("about", thread_key, handle), "EX", self._seconds),
            ("EXPIRE", self._key("data", thread_key, handle), self._seconds),
        )
        return _bytes_or_none(raw)

    async def data(self, thread_key: str, handle: str) -> bytes | None:
        """Return the bytes of an artifact, None when it has expired."""
        raw, _ = await self._redis.together(
            ("GETEX", self._key("data", thread_key, handle), "EX", self._seconds),
            ("EXPIRE", self._key("about", thread_key, handle), self._seconds),
        )
        return _bytes_or_none(raw)

    async def handles(self, thread_key: str) -> list[str]:
        """Return the handles of the thread's artifacts that have not expired, sorted."""
        handles = await self._handles(thread_key).all()
        if not handles:
            return []
        found = await self._redis.together(
            *(("EXISTS", self._key("about", thread_key, handle)) for handle in handles)
        )
        return [handle for handle, exists in zip(handles, found, strict=True) if exists]

    async def places(self, thread_key: str) -> list[str]:
        """Return the threads whose artifacts a thread may use: its own, and those whose exchanges it was
        given (see `DirectMessages`)."""
        earlier = await self._redis.call("SMEMBERS", earlier_threads_key(self._redis, thread_key))
        return [thread_key, *sorted(each.decode() for each in earlier)]

    def _handles(self, thread_key: str) -> Names:
        return Names(self._redis, self._redis.key("artifacts", thread_key), self._seconds)

    def _key(self, part: str, thread_key: str, handle: str) -> str:
        return self._redis.key("artifact", thread_key, handle, part)


def _bytes_or_none(raw: object) -> bytes | None:
    return raw if isinstance(raw, bytes) else None
