"""Our own list of the items of a thread's conversation (B3, B4, B6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bot.core.chain import LedgerEntry
from bot.core.errors import CorruptValue
from bot.store.connection import Connection
from bot.store.values import decode, set_aside

MAX_ENTRIES = 2_000
"""Entries kept per thread; the oldest go first, so that a view may have to skip up to a user's
message before it is whole again."""


def appending(
    redis: Connection, thread_key: str, entries: Sequence[LedgerEntry]
) -> list[tuple[Any, ...]]:
    """Return the commands that append `entries`, for `Lease.write`."""
    key = _key(redis, thread_key)
    return [("RPUSH", key, *(entry.model_dump_json() for entry in entries))] if entries else []


def renewing(redis: Connection, thread_key: str, seconds: int) -> list[tuple[Any, ...]]:
    """Return the commands that keep the newest entries for another `seconds`, for `Lease.write`:
    where a run begins and where it ends."""
    key = _key(redis, thread_key)
    return [("LTRIM", key, -MAX_ENTRIES, -1), ("EXPIRE", key, seconds)]


class Ledger:
    """One list per thread, oldest first; `Runs.save_point` adds to it."""

    def __init__(self, redis: Connection) -> None:
        self._redis = redis

    async def entries(self, thread_key: str) -> list[LedgerEntry]:
        """All that is kept. Raises CorruptValue when part of it cannot be read: half a
        conversation is worse than none, so the whole is set aside."""
        key = _key(self._redis, thread_key)
        try:
            return [
                decode(LedgerEntry, raw) for raw in await self._redis.call("LRANGE", key, 0, -1)
            ]
        except CorruptValue:
            await set_aside(self._redis, key)
            raise


def _key(redis: Connection, thread_key: str) -> str:
    return redis.key("ledger", thread_key)
