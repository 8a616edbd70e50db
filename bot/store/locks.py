"""Locks: work that only one process at a time may do."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from bot.core.ids import new_id
from bot.store.connection import Connection
from bot.store.threads.leases import Lease


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
