"""Caller states: the state that the next run of a thread continues from."""

from __future__ import annotations

from bot.core.chain import CallerState
from bot.store.connection import Connection
from bot.store.values import load


def caller_state_key(redis: Connection, thread_key: str, bound_to: str | None) -> str:
    """Return the key of the thread's shared state, or of the private state of `bound_to`."""
    return redis.key("caller-state", thread_key, *([bound_to] if bound_to else []))


class CallerStates:
    """The store of caller states: one per thread, and one per person who asked there in private.

    `Runs.finish` replaces them.
    """

    def __init__(self, redis: Connection) -> None:
        self._redis = redis

    async def load(self, thread_key: str, bound_to: str | None = None) -> CallerState:
        """Return the state of the thread, or the private state of `bound_to`, else an empty state.

        Raises CorruptValue once for a state that cannot be read; the next call returns an empty one.
        """
        key = caller_state_key(self._redis, thread_key, bound_to)
        return await load(self._redis, key, CallerState) or CallerState()
