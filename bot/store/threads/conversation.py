"""What the next run of a thread continues from: caller states, and the ledger of items."""

from __future__ import annotations

from collections.abc import Sequence

from bot.core.chain import CallerState, LedgerEntry
from bot.core.errors import CorruptValue
from bot.store.connection import Connection, Retention
from bot.store.values import Command, Value, decode, set_aside

MAX_ENTRIES = 2_000
"""Entries kept per thread. The oldest go first, so the ledger may begin in the middle of an exchange,
and readers skip to the first message of a user."""


class CallerStates:
    """The store of caller states: one per thread, and one per person who asked there in private."""

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._redis = redis
        self._seconds = retention.thread

    async def load(self, thread_key: str, bound_to: str | None = None) -> CallerState:
        """Return the state of the thread, or the private state of `bound_to`, else an empty state.

        Raises CorruptValue once for a state that cannot be read; the next call returns an empty one.
        """
        return await self._value(thread_key, bound_to).get() or CallerState()

    def saving(self, thread_key: str, state: CallerState) -> Command:
        """Return the command that stores the state of a thread, for `Lease.write`."""
        return self._value(thread_key, state.bound_to).setting(state)

    def _value(self, thread_key: str, bound_to: str | None) -> Value[CallerState]:
        key = self._redis.key("caller-state", thread_key, *([bound_to] if bound_to else []))
        return Value(self._redis, key, CallerState, self._seconds)


class Ledger:
    """The bot's own record of the items of a thread's conversation: one list, oldest first."""

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._redis = redis
        self._seconds = retention.thread

    async def entries(self, thread_key: str) -> list[LedgerEntry]:
        """Return all entries of a thread. Raises CorruptValue when an entry cannot be read.

        The whole ledger is then set aside: half a conversation is worse than none.
        """
        key = self._key(thread_key)
        try:
            return [
                decode(LedgerEntry, raw) for raw in await self._redis.call("LRANGE", key, 0, -1)
            ]
        except CorruptValue:
            await set_aside(self._redis, key)
            raise

    def appending(self, thread_key: str, entries: Sequence[LedgerEntry]) -> list[Command]:
        """Return the commands that append `entries`, for `Lease.write`."""
        texts = [entry.model_dump_json() for entry in entries]
        return [("RPUSH", self._key(thread_key), *texts)] if texts else []

    def renewing(self, thread_key: str) -> list[Command]:
        """Return the commands that keep the newest entries for longer, for `Lease.write`."""
        key = self._key(thread_key)
        return [("LTRIM", key, -MAX_ENTRIES, -1), ("EXPIRE", key, self._seconds)]

    def _key(self, thread_key: str) -> str:
        return self._redis.key("ledger", thread_key)
