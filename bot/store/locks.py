"""What one process at a time may do."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from bot.core.ids import new_id
from bot.store.connection import Connection
from bot.store.threads.leases import Lease


@dataclass(frozen=True, slots=True)
class Lock:
    """Held until its holder gives it back, or has not renewed it for `seconds`."""

    lease: Lease
    seconds: int

    async def hold(self) -> None:
        """Keep it for as long again. Raises LeaseLost when another has it."""
        await self.lease.write(("EXPIRE", self.lease.key, self.seconds))


@asynccontextmanager
async def locked(redis: Connection, *name: str, seconds: int) -> AsyncGenerator[Lock | None]:
    """The lock of that name for the length of the body; None when another has it."""
    key, mine = redis.key(*name), new_id("lock")
    # A reply that was lost makes it ask again: it holds the lock then, by its own token.
    taken = await redis.call("SET", key, mine, "NX", "EX", seconds)
    taken = taken or await redis.call("GET", key) == mine.encode()
    try:
        yield Lock(Lease(key, mine, key, redis), seconds) if taken else None
    finally:
        if taken:
            await redis.script("unlock", [key], mine)
