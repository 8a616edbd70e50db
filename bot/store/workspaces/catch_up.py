"""Who looks through Slack's history, and up to where each channel was looked through."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from bot.core.errors import LeaseLost
from bot.core.ids import new_id
from bot.store.connection import Connection, Retention
from bot.store.threads.leases import Lease

LOCK_SECONDS = 60
"""How long a killed process keeps others from going on; each call to Slack renews it."""


@dataclass(frozen=True, slots=True)
class CatchUpTurn:
    """The right to look through the history. Everything raises LeaseLost once it has passed on."""

    lease: Lease
    marks_key: str
    seconds: int

    async def hold(self) -> None:
        """Keep it for another minute."""
        await self.lease.write(("EXPIRE", self.lease.key, LOCK_SECONDS))

    async def marks(self) -> dict[str, float]:
        """Up to when each channel was looked through, in seconds since the epoch by Slack's clock."""
        found = await self.lease.redis.call("HGETALL", self.marks_key)
        return {channel.decode(): float(mark) for channel, mark in found.items()}

    async def mark(self, channel: str, until: float) -> None:
        """The channel was looked through, all of it was taken in."""
        await self.lease.write(
            ("HSET", self.marks_key, channel, f"{until:.6f}"),
            ("EXPIRE", self.marks_key, self.seconds),
            ("EXPIRE", self.lease.key, LOCK_SECONDS),
        )


class CatchUpStore:
    """One process at a time looks through the history of one workspace."""

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self.remembered = float(retention.claims)
        """For how many seconds it is known which messages were taken in."""

        self._redis = redis

    @asynccontextmanager
    async def turn(self, team: str, *, least_age: float) -> AsyncGenerator[CatchUpTurn | None]:
        """A turn for the length of the body; None when somebody has it, or the last one began less
        than `least_age` seconds ago."""
        lock = self._redis.key("catch-up", team, "lock")
        keys = [lock, self._redis.key("catch-up", team, "begun")]
        lease = Lease(team, new_id("turn"), lock, self._redis)
        args = (lease.token, LOCK_SECONDS, least_age)
        if not await self._redis.script("catch_up_begin", keys, *args):
            yield None
            return
        try:
            marks = self._redis.key("catch-up", team, "marks")
            yield CatchUpTurn(lease, marks, int(self.remembered))
        finally:
            with suppress(LeaseLost):
                await lease.write(("DEL", lock))
