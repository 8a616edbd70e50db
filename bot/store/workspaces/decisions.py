"""What people set, those who run the bot or each for themself: one value each, kept as long as it is
looked at."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import TypeVar, cast

from pydantic import BaseModel
from typing_extensions import override

from bot.store.connection import Connection, Retention
from bot.store.values import decode, load

M = TypeVar("M", bound=BaseModel)


@lru_cache(maxsize=64)
def _read(kind: type[M], raw: bytes) -> M:
    """The same frozen value for the same bytes: they seldom change and are looked at in each run,
    and the tools of a large MCP server take 10 ms to read."""
    return decode(kind, raw)


class Decisions:
    """Values of one family, by name.

    What is looked at many times in a run is read again after `fresh` seconds: so long may a change
    take to reach other processes, and this one sees it at once.
    """

    def __init__(
        self, redis: Connection, retention: Retention, family: str, *, fresh: float = 0.0
    ) -> None:
        self._redis = redis
        self._family = family
        self._seconds = retention.settings
        self._fresh = fresh
        self._loaded: dict[str, tuple[float, BaseModel | None]] = {}

    async def load(self, name: str, kind: type[M]) -> M | None:
        """The value, read as `kind`; None when there is none. Raises CorruptValue once for one that
        cannot be read."""
        now = time.monotonic()
        at, known = self._loaded.get(name, (float("-inf"), None))
        if now - at < self._fresh:
            return cast("M | None", known)
        value = await load(self._redis, self._key(name), kind, renew=self._seconds, read=_read)
        if self._fresh:
            self._loaded = {n: e for n, e in self._loaded.items() if now - e[0] < self._fresh}
            self._loaded[name] = (now, value)
        return value

    async def save(self, name: str, value: BaseModel) -> None:
        """Keep what is set of `value` in the place of what was there."""
        kept = value.model_dump_json(exclude_unset=True)
        await self._redis.call("SET", self._key(name), kept, "EX", self._seconds)
        self._loaded.pop(name, None)

    async def forget(self, name: str) -> None:
        """Back to what is configured."""
        await self._redis.call("DEL", self._key(name))
        self._loaded.pop(name, None)

    def _key(self, name: str) -> str:
        return self._redis.key(self._family, name)


class ListedDecisions(Decisions):
    """Values of one family whose names begin with a workspace, `team:…`, and that can be listed."""

    @override
    async def save(self, name: str, value: BaseModel) -> None:
        await super().save(name, value)
        index = self._key(_team(name))
        await self._redis.together(("SADD", index, name), ("EXPIRE", index, self._seconds))

    @override
    async def forget(self, name: str) -> None:
        await super().forget(name)
        await self._redis.call("SREM", self._key(_team(name)), name)

    async def names(self, team: str) -> list[str]:
        """Of all values of a workspace, in alphabetical order; some may have expired."""
        index = self._key(team)
        found, _ = await self._redis.together(("SMEMBERS", index), ("EXPIRE", index, self._seconds))
        return sorted(name.decode() for name in found)


def _team(name: str) -> str:
    return name.partition(":")[0]
