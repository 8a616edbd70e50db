"""The processes that receive Slack's events, as long as they are ready to."""

from __future__ import annotations

from bot.store.connection import Connection

READY_SECONDS = 60.0
"""A process that was not ready for so long is not listed any more."""


class Receivers:
    """The store of processes that receive events, by name and by when they were last ready."""

    def __init__(self, redis: Connection) -> None:
        self._redis = redis
        self._key = redis.key("receivers")

    async def note(self, name: str) -> None:
        """Record that the process of this name is ready now."""
        now = await self._now()
        await self._redis.together(
            ("ZADD", self._key, now, name),
            ("ZREMRANGEBYSCORE", self._key, "-inf", now - READY_SECONDS),
            ("EXPIRE", self._key, int(READY_SECONDS)),
        )

    async def forget(self, name: str) -> None:
        """Record that a process has stopped."""
        await self._redis.call("ZREM", self._key, name)

    async def ready(self) -> list[str]:
        """Return the names of the processes that were ready in the last minute, sorted."""
        since = await self._now() - READY_SECONDS
        found = await self._redis.call("ZRANGEBYSCORE", self._key, since, "+inf")
        return sorted(name.decode() for name in found)

    async def _now(self) -> float:
        seconds, micros = await self._redis.call("TIME")
        return float(seconds + micros / 1_000_000)
