"""Catch-up: the turn to search Slack's history for missed messages, and the progress per channel."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime

from pydantic import BaseModel, ConfigDict

from bot.core.errors import LeaseLost
from bot.core.ids import new_id
from bot.store.connection import Connection, Retention
from bot.store.leases import Lease
from bot.store.values import Value

LOCK_SECONDS = 60
"""How long the lock of a killed process blocks others; each call to Slack renews the lock."""


_RESTORE_SECONDS = 2 * 86_400  # longer than Slack's history is searched


class Restore(BaseModel):
    """A restore of a backup `made_at` one time, at a later time, in seconds since the epoch.

    What happened between them is not known: a question of that time may have been worked on.
    """

    model_config = ConfigDict(frozen=True)

    version: int = 1
    made_at: datetime
    at: float


@dataclass(frozen=True, slots=True)
class CatchUpTurn:
    """A turn: the right to search a workspace's history.

    `hold` and `mark` raise LeaseLost once another process has the turn. `restored` is the last
    restore of a backup, if there was one lately.
    """

    lease: Lease
    marks_key: str
    seconds: int
    restored: Restore | None = None

    def restored_from(self, ts: float) -> datetime | None:
        """Return when the backup was made that a restore after the time `ts` went back to."""
        return self.restored.made_at if self.restored and ts < self.restored.at else None

    async def hold(self) -> None:
        """Keep the turn for another minute."""
        await self.lease.write(("EXPIRE", self.lease.key, LOCK_SECONDS))

    async def marks(self) -> dict[str, float]:
        """Return by channel the time up to which it was searched, in seconds since the epoch."""
        found = await self.lease.redis.call("HGETALL", self.marks_key)
        return {channel.decode(): float(mark) for channel, mark in found.items()}

    async def mark(self, channel: str, until: float) -> None:
        """Record that all messages of the channel up to `until` were processed."""
        await self.lease.write(
            ("HSET", self.marks_key, channel, f"{until:.6f}"),
            ("EXPIRE", self.marks_key, self.seconds),
            ("EXPIRE", self.lease.key, LOCK_SECONDS),
        )


class CatchUpStore:
    """The store of turns and progress. One process at a time searches a workspace's history."""

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self.remembered = float(retention.claims)
        """How many seconds the store remembers which messages were processed."""

        self._redis = redis
        self._restored = Value(redis, redis.key("restored"), Restore, _RESTORE_SECONDS)

    async def note_restore(self, made_at: datetime) -> None:
        """Record that a backup made at this time has been restored now."""
        await self._restored.set(Restore(made_at=made_at, at=await self._redis.now()))

    @asynccontextmanager
    async def turn(self, team: str, *, least_age: float) -> AsyncGenerator[CatchUpTurn | None]:
        """Hold the turn while the body runs.

        Yield None when another process has it, or the last turn began less than `least_age` seconds
        ago.
        """
        lock = self._redis.key("catch-up", team, "lock")
        keys = [lock, self._redis.key("catch-up", team, "begun")]
        lease = Lease(team, new_id("turn"), lock, self._redis)
        args = (lease.token, LOCK_SECONDS, least_age)
        if not await self._redis.script("catch_up_begin", keys, *args):
            yield None
            return
        try:
            marks = self._redis.key("catch-up", team, "marks")
            restored = await self._restored.get()
            yield CatchUpTurn(lease, marks, int(self.remembered), restored)
        finally:
            with suppress(LeaseLost):
                await lease.write(("DEL", lock))
