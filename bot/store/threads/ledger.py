"""The ledger: the bot's own record of the items of a thread's conversation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bot.core.chain import LedgerEntry
from bot.core.errors import CorruptValue
from bot.store.connection import Connection
from bot.store.values import decode, set_aside

MAX_ENTRIES = 2_000
"""Entries kept per thread. The oldest go first, so the ledger may begin in the middle of an exchange,
and readers skip to the first message of a user."""


def appending(
    redis: Connection, thread_key: str, entries: Sequence[LedgerEntry]
) -> list[tuple[Any, ...]]:
    """Return the commands that append `entries`, for `Lease.write`."""
    key = _key(redis, thread_key)
    return [("RPUSH", key, *(entry.model_dump_json() for entry in entries))] if entries else []


def renewing(redis: Connection, thread_key: str, seconds: int) -> list[tuple[Any, ...]]:
    """Return the commands that keep the newest entries for another `seconds`, for `Lease.write`."""
    key = _key(redis, thread_key)
    return [("LTRIM", key, -MAX_ENTRIES, -1), ("EXPIRE", key, seconds)]


class Ledger:
    """The store of ledgers: one list per thread, oldest first. `Runs.save_point` appends to it."""

    def __init__(self, redis: Connection) -> None:
        self._redis = redis

    async def entries(self, thread_key: str) -> list[LedgerEntry]:
        """Return all entries of a thread. Raises CorruptValue when an entry cannot be read.

        The whole ledger is then set aside: half a conversation is worse than none.
        """
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
