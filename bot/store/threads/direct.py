"""Direct messages: the runs that a person's direct message had lately, and what its threads build on.

Each top-level direct message opens a thread of its own; this index leads to the exchanges before it. It
holds ids only: the texts stay with the requests and runs, and are deleted with them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from bot.core.request import Request
from bot.store.connection import Connection, Retention

_MOST_RUNS = 50
_FORGOTTEN = "forgotten"
"""The member of the index that stands for the last time at which the person had a memory forgotten."""


class DirectMessages:
    """The store of recent runs, one sorted set per person by the time of the question."""

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._redis = redis
        self._retention = retention

    def remembering(self, request: Request, run_id: str) -> list[tuple[Any, ...]]:
        """Return the commands that add the run of a request to the index, for `Lease.write`."""
        key = _recent_key(self._redis, f"{request.team}:{request.user}")
        earlier = earlier_threads_key(self._redis, request.thread_key)
        return [
            ("ZADD", key, request.received_at.timestamp(), run_id),
            ("ZREMRANGEBYRANK", key, 0, -_MOST_RUNS - 1),
            ("EXPIRE", key, self._retention.request),
            ("EXPIRE", earlier, self._retention.thread),
        ]

    async def recent(self, request: Request, seconds: float) -> list[str]:
        """Return the runs of the person's questions since `seconds` before `request`, newest first.

        Questions from before the person had a memory forgotten are left out.
        """
        key = _recent_key(self._redis, f"{request.team}:{request.user}")
        since = request.received_at.timestamp() - seconds
        found = await self._redis.call("ZREVRANGEBYSCORE", key, "+inf", since)
        runs = [each.decode() for each in found]
        return runs[: runs.index(_FORGOTTEN)] if _FORGOTTEN in runs else runs

    def building_on(self, thread_key: str, threads: Iterable[str]) -> list[tuple[Any, ...]]:
        """Return the commands that record whose exchanges a thread was given, for `Lease.write`."""
        key, members = earlier_threads_key(self._redis, thread_key), sorted(threads)
        if not members:
            return []
        return [("SADD", key, *members), ("EXPIRE", key, self._retention.thread)]


def earlier_threads_key(redis: Connection, thread_key: str) -> str:
    """Return the key of the set of threads whose exchanges a thread was given."""
    return redis.key("earlier-threads", thread_key)


def forgetting(redis: Connection, person: str, seconds: int) -> list[tuple[Any, ...]]:
    """Return the commands after which no exchange of `person` ("team:user") up to now is recent."""
    key = _recent_key(redis, person)
    return [("DEL", key), ("ZADD", key, time.time(), _FORGOTTEN), ("EXPIRE", key, seconds)]


def _recent_key(redis: Connection, person: str) -> str:
    return redis.key("recent-runs", person)
