"""What a thread needs to go on (B7)."""

from __future__ import annotations

from bot.core.chain import CallerState
from bot.store.connection import Connection
from bot.store.values import load


def caller_state_key(redis: Connection, thread_key: str, bound_to: str | None) -> str:
    """Where the thread's state is: the one that all share, or what one person does there alone."""
    return redis.key("caller-state", thread_key, *([bound_to] if bound_to else []))


class CallerStates:
    """A CallerState per thread, and one for each person who asked something there in private;
    `Runs.finish` replaces them."""

    def __init__(self, redis: Connection) -> None:
        self._redis = redis

    async def load(self, thread_key: str, bound_to: str | None = None) -> CallerState:
        """The thread's state, or one person's own; a fresh one when there is none.

        Raises CorruptValue once for a state that cannot be read; after that it is a fresh one.
        """
        key = caller_state_key(self._redis, thread_key, bound_to)
        return await load(self._redis, key, CallerState) or CallerState()
