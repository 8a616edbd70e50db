"""Leases decide which worker may write for a thread; locks, which process may do some other work."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from bot.core.errors import LeaseLost
from bot.core.ids import new_id
from bot.store.connection import Connection, Retention

MARK_SECONDS = 300  # longer than a write is retried


def lease_key(redis: Connection, thread_key: str) -> str:
    """Return the key of the newest lease on a thread."""
    return redis.key("lease", thread_key)


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease on a thread: the right to write and post for it until a newer lease is taken."""

    thread_key: str
    token: str
    key: str
    redis: Connection

    async def check(self) -> None:
        """Raise LeaseLost if a newer lease was taken."""
        current = await self.redis.call("GET", self.key)
        if current != self.token.encode():
            raise LeaseLost("Another run holds this thread.")

    async def write(
        self,
        *commands: Sequence[Any],
        may_fail: Sequence[Sequence[Any]] = (),
        reads: Sequence[Sequence[Any]] = (),
    ) -> list[Any]:
        """Run `commands` atomically, each a tuple (name, argument, ...), then those that `may_fail`.

        Return for each that may fail why it did (b"" if it did not), then the replies to `reads`,
        which run last. Raises LeaseLost, and runs no command, if a newer lease was taken.
        """
        keys = [self.key, self.redis.key("written", new_id("write"))]
        every = (*commands, *may_fail, *reads)
        flat = [part for command in every for part in (len(command), *command)]
        counts = len(commands), len(may_fail)
        replies: list[Any] = await self.redis.script(
            "fenced", keys, self.token, MARK_SECONDS, *counts, *flat
        )
        return replies


class Leases:
    """The source of leases.

    The engine already gives a thread to one worker at a time. Leases protect against a worker that
    was believed dead and wakes up.
    """

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._redis = redis
        self._retention = retention

    async def take(self, thread_key: str) -> Lease:
        """Take a lease with a token greater than all tokens before it."""
        key = lease_key(self._redis, thread_key)
        token = await self._redis.script("take_lease", [key], self._retention.thread)
        return Lease(thread_key, token.decode(), key, self._redis)


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock that expires when its holder has not renewed it for `seconds`."""

    lease: Lease
    seconds: int

    async def hold(self) -> None:
        """Renew the lock for another `seconds`. Raises LeaseLost when another process has it."""
        await self.lease.write(("EXPIRE", self.lease.key, self.seconds))


@asynccontextmanager
async def locked(redis: Connection, *name: str, seconds: int) -> AsyncGenerator[Lock | None]:
    """Hold the lock `name` while the body runs. Yield None when another process has it."""
    key, token = redis.key(*name), new_id("lock")
    # After a lost reply the command is sent again and fails, although this process has the lock.
    taken = await redis.call("SET", key, token, "NX", "EX", seconds)
    taken = taken or await redis.call("GET", key) == token.encode()
    try:
        yield Lock(Lease(key, token, key, redis), seconds) if taken else None
    finally:
        if taken:
            await redis.script("unlock", [key], token)
