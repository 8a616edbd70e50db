"""Stale statuses: threads whose status line or session may still show a run that has ended."""

from __future__ import annotations

import time

from bot.store.connection import Connection

KEPT_SECONDS = 3_600.0
"""How long clearing is retried: what Slack refuses for an hour it will keep refusing."""

_AT_ONCE = 20


class StaleStatuses:
    """The store of stale statuses: a sorted set of thread keys by the time they are due."""

    def __init__(self, redis: Connection) -> None:
        self._redis = redis
        self._key = redis.key("stale-statuses")

    async def add(self, thread_key: str, *, after: float = 0.0) -> None:
        """Add a thread whose status must be cleared, in `after` seconds at the earliest."""
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
        """Remove a thread whose status was cleared, and all threads that were tried for too long."""
        await self._redis.together(
            ("ZREM", self._key, thread_key),
            ("ZREMRANGEBYSCORE", self._key, "-inf", time.time() - KEPT_SECONDS),
        )

    async def take_turn(self, seconds: float) -> bool:
        """Return whether this process renews the statuses of waiting threads now.

        One process of the deployment does so every `seconds`.
        """
        key = self._redis.key("line-renewed")
        return bool(await self._redis.call("SET", key, "1", "NX", "PX", int(seconds * 1_000)))
