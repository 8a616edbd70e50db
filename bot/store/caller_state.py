"""What a thread needs to go on (B7)."""

from __future__ import annotations

from bot.core.chain import CallerState
from bot.store.connection import Connection, Retention
from bot.store.leases import Lease
from bot.store.values import load


def caller_state_key(redis: Connection, thread_key: str) -> str:
    """Where the thread's state is."""
    return redis.key("caller-state", thread_key)


class CallerStates:
    """One CallerState per thread."""

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._redis = redis
        self._seconds = retention.thread

    async def load(self, thread_key: str) -> CallerState:
        """The thread's state, a fresh one when it has none.

        Raises CorruptValue once for a state that cannot be read; after that it is a fresh one.
        """
        key = caller_state_key(self._redis, thread_key)
        return await load(self._redis, key, CallerState) or CallerState()

    async def save(self, thread_key: str, state: CallerState, lease: Lease) -> None:
        """Replace the state outside the end of a run (`Runs.finish` saves it there)."""
        key = caller_state_key(self._redis, thread_key)
        await lease.write(("SET", key, state.model_dump_json(), "EX", self._seconds))
