"""Who may write for a thread: fencing tokens (reliability 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot.core.errors import LeaseLost
from bot.core.ids import new_id
from bot.store.connection import Connection, Retention

MARK_SECONDS = 300  # longer than a write is tried again


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to write and post for a thread, until somebody takes a newer one."""

    thread_key: str
    token: str
    key: str
    redis: Connection

    async def check(self) -> None:
        """Raises LeaseLost when a newer lease was taken."""
        current = await self.redis.call("GET", self.key)
        if current != self.token.encode():
            raise LeaseLost("Another run holds this thread.")

    async def write(self, *commands: Sequence[Any]) -> None:
        """Run all of `commands` as one, each as (name, argument, ...).

        Raises LeaseLost, and runs none, when a newer lease was taken.
        """
        mark = self.redis.key("written", new_id("write"))
        flat = [part for command in commands for part in (len(command), *command)]
        await self.redis.script("fenced", [self.key, mark], self.token, MARK_SECONDS, *flat)


class Leases:
    """Takes leases. The engine sees to it that one worker at a time does; this is for when a
    worker that was believed dead wakes up."""

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._redis = redis
        self._retention = retention

    async def take(self, thread_key: str) -> Lease:
        """A lease with a token greater than every one before it."""
        key = self._redis.key("lease", thread_key)
        token = await self._redis.script("take_lease", [key], self._retention.thread)
        return Lease(thread_key, token.decode(), key, self._redis)
