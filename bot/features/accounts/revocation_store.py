"""Tokens of removed accounts that still have to be revoked at their server.

They are encrypted, and gone when nobody may try any longer. Their names stay until somebody has put
on record how it ended.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from bot.core.errors import CorruptValue
from bot.features.accounts.account import AccountOwner
from bot.features.accounts.records import Revocation
from bot.store.connection import Connection
from bot.store.leases import locked
from bot.store.sealed import SealedValues

log = logging.getLogger(__name__)

_TRY_SECONDS = 120  # for one attempt: two tokens, each in up to two requests of ten seconds


class RevocationStore:
    """The store of revocations, by name (see `Revocation.name`)."""

    def __init__(self, redis: Connection, values: SealedValues, index_seconds: int) -> None:
        self._redis = redis
        self._values = values
        self._index = redis.key("account-revocations")
        self._index_seconds = index_seconds

    async def save(self, revocation: Revocation) -> None:
        """Store a revocation until nobody may try it any longer."""
        await self._redis.together(*self.saving(revocation))

    def saving(self, revocation: Revocation) -> Sequence[tuple[Any, ...]]:
        """Return the commands that store a revocation, for a transaction."""
        return (
            self._setting(revocation),
            ("SADD", self._index, revocation.name),
            ("EXPIRE", self._index, self._index_seconds),
        )

    def forgetting(self, name: str) -> Sequence[tuple[Any, ...]]:
        """Return the commands that delete a revocation, for a transaction."""
        return ("DEL", self._key(name)), ("SREM", self._index, name)

    async def names(self) -> list[str]:
        """Return the names of the revocations that have not ended."""
        return sorted(each.decode() for each in await self._redis.call("SMEMBERS", self._index))

    async def load(self, name: str) -> Revocation | None:
        """Return a revocation; None when its time is over. Raises CorruptValue."""
        stored = await self._redis.call("GET", self._key(name))
        found = self._values.open(stored, Revocation) if stored else None
        if found and found.name != name:
            raise CorruptValue(f"The revocation kept as {name} is another one.")
        return found

    async def change(self, revocation: Revocation) -> None:
        """Store a changed revocation, unless it was deleted meanwhile."""
        await self._redis.call(*self._setting(revocation), "XX")

    async def forget(self, name: str) -> None:
        """Delete a revocation that has ended."""
        await self._redis.together(*self.forgetting(name))

    async def making_nameless(self, owner: AccountOwner) -> Sequence[tuple[Any, ...]]:
        """Return the commands after which the revocations of a person do not name them."""
        commands: list[tuple[Any, ...]] = []
        for name in await self.names():
            if name.startswith(f"{owner.team}:{owner.user}:"):
                commands += self.forgetting(name)
                if found := await self._load_readable(name):
                    commands += self.saving(found.model_copy(update={"team": "", "user": ""}))
        return commands

    @asynccontextmanager
    async def trying(self, name: str) -> AsyncGenerator[bool]:
        """Lock a revocation while the body tries it. Yield whether this process may."""
        async with locked(
            self._redis, "lock", "account-revocation", name, seconds=_TRY_SECONDS
        ) as lock:
            yield lock is not None

    async def on_old_keys(self) -> list[str]:
        """Return the names of the revocations that are not encrypted with the first key."""
        return await self._values.on_old_keys("account-revocation")

    async def reseal(self) -> None:
        """Encrypt all revocations with the first key."""
        for name in await self.on_old_keys():
            if found := await self._load_readable(name):
                await self.change(found)

    async def _load_readable(self, name: str) -> Revocation | None:
        try:
            return await self.load(name)
        except CorruptValue as error:
            log.warning("Tokens that are to be revoked cannot be opened: %s", error)
            return None

    def _setting(self, revocation: Revocation) -> tuple[Any, ...]:
        left = max(1, int(revocation.until - time.time()))
        sealed = self._values.seal(revocation)
        return "SET", self._key(revocation.name), sealed, "EX", left

    def _key(self, name: str) -> str:
        return self._redis.key("account-revocation", name)
