"""Threads whose status line and session may show a run that is over, until somebody cleared them."""

from __future__ import annotations

import time

from bot.store.connection import Connection

KEPT_SECONDS = 3_600.0
"""How long clearing is tried: what Slack refuses for an hour it will refuse tomorrow."""

_AT_ONCE = 20


class StaleStatuses:
    """A sorted set of thread keys by the time from which on they are due."""

    def __init__(self, redis: Connection) -> None:
        self._redis = redis
        self._key = redis.key("stale-statuses")

    async def add(self, thread_key: str, *, after: float = 0.0) -> None:
        """Have the thread's status cleared, `after` seconds from now at the earliest."""
        await self._redis.together(
            ("ZADD", self._key, time.time() + after, thread_key),
            ("EXPIRE", self._key, int(2 * KEPT_SECONDS)),
        )

    async def due(self) -> list[str]:
        """Return the threads that are due, the oldest first, at most 20 of them."""
        now = time.time()
        oldest = f"({now - KEPT_SECONDS}"
        found = await self._redis.call(
            "ZRANGEBYSCORE", self._key, oldest, now, "LIMIT", 0, _AT_ONCE
        )
        return [each.decode() for each in found]

    async def remove(self, thread_key: str) -> None:
        """Forget a thread whose status was cleared, and all that were tried for too long."""
        await self._redis.together(
            ("ZREM", self._key, thread_key),
            ("ZREMRANGEBYSCORE", self._key, "-inf", time.time() - KEPT_SECONDS),
        )

    async def take_turn(self, seconds: float) -> bool:
        """Return whether this process is to renew the statuses of those in line now: one of all does,
        once in so many seconds."""
        key = self._redis.key("line-renewed")
        return bool(await self._redis.call("SET", key, "1", "NX", "PX", int(seconds * 1_000)))
