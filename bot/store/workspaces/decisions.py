"""Settings that admins and users make at run time: one value per name. Reading renews the expiry."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar, cast

from pydantic import BaseModel
from typing_extensions import override

from bot.store.connection import Connection, Retention
from bot.store.values import decode, load

M = TypeVar("M", bound=BaseModel)


@lru_cache(maxsize=64)
def _read(kind: type[M], raw: bytes) -> M:
    """Decode a value, with a cache: values rarely change, and a large one takes 10 ms to decode."""
    return decode(kind, raw)


class Decisions:
    """The store of one family of settings, by name.

    Values are cached for `fresh` seconds. Other processes see a change after at most that time, this
    process at once.
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
        """Return the value as a `kind`, None without one. Raises CorruptValue, once, if damaged."""
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
        """Store the fields of `value` that are set, replacing the value before."""
        kept = value.model_dump_json(exclude_unset=True)
        await self._redis.call("SET", self._key(name), kept, "EX", self._seconds)
        self._loaded.pop(name, None)

    async def change(
        self, name: str, kind: type[M], change: Callable[[M | None], M | None]
    ) -> None:
        """Store what `change` makes of the value as it is now; None leaves it.

        Another process may change it meanwhile: `change` is then called again. Raises CorruptValue
        for a damaged value.
        """
        key, is_stored = self._key(name), False
        while not is_stored:
            raw = await self._redis.call("GET", key)
            changed = change(decode(kind, raw) if raw else None)
            if changed is None:
                return
            new = changed.model_dump_json(exclude_unset=True)
            args = (raw or b"", new, self._seconds)
            is_stored = bool(await self._redis.script("compare_and_set", [key], *args))
            self._loaded.pop(name, None)

    async def forget(self, name: str) -> None:
        """Delete the value, so that bot.toml applies again."""
        await self._redis.call("DEL", self._key(name))
        self._loaded.pop(name, None)

    def _key(self, name: str) -> str:
        return self._redis.key(self._family, name)


class ListedDecisions(Decisions):
    """The store of one family of settings named `team:…`, which can be listed by workspace."""

    @override
    async def save(self, name: str, value: BaseModel) -> None:
        await super().save(name, value)
        await self._list(name)

    @override
    async def change(
        self, name: str, kind: type[M], change: Callable[[M | None], M | None]
    ) -> None:
        await super().change(name, kind, change)
        await self._list(name)

    @override
    async def forget(self, name: str) -> None:
        await super().forget(name)
        await self._redis.call("SREM", self._key(_team(name)), name)

    async def names(self, team: str) -> list[str]:
        """Return the names of a workspace's values, sorted; some values may have expired."""
        index = self._key(team)
        found, _ = await self._redis.together(("SMEMBERS", index), ("EXPIRE", index, self._seconds))
        return sorted(name.decode() for name in found)

    async def _list(self, name: str) -> None:
        index = self._key(_team(name))
        await self._redis.together(("SADD", index, name), ("EXPIRE", index, self._seconds))


def _team(name: str) -> str:
    return name.partition(":")[0]
