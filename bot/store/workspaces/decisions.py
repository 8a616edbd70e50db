"""Settings that admins and users make at run time: one value per name. Reading renews the expiry."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar, cast

from pydantic import BaseModel
from typing_extensions import override

from bot.store.connection import Connection, Retention
from bot.store.values import Names, Value, decode

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
        value = await self._value(name, kind).get(renew=True)
        if self._fresh:
            self._loaded = {n: e for n, e in self._loaded.items() if now - e[0] < self._fresh}
            self._loaded[name] = (now, value)
        return value

    async def save(self, name: str, value: BaseModel) -> None:
        """Store the fields of `value` that are set, replacing the value before."""
        await self._value(name, type(value)).set(value)
        self._loaded.pop(name, None)

    async def change(
        self, name: str, kind: type[M], change: Callable[[M | None], M | None]
    ) -> None:
        """Store what `change` makes of the value as it is now; None leaves it.

        Another process may change it meanwhile: `change` is then called again. Raises CorruptValue
        for a damaged value.
        """
        await self._value(name, kind).change(change)
        self._loaded.pop(name, None)

    async def forget(self, name: str) -> None:
        """Delete the value, so that bot.toml applies again."""
        await self._redis.call("DEL", self._key(name))
        self._loaded.pop(name, None)

    def _value(self, name: str, kind: type[M]) -> Value[M]:
        key = self._key(name)
        return Value(self._redis, key, kind, self._seconds, exclude_unset=True, read=_read)

    def _key(self, name: str) -> str:
        return self._redis.key(self._family, name)


class ListedDecisions(Decisions):
    """The store of one family of settings named `team:…`, which can be listed by workspace."""

    @override
    async def save(self, name: str, value: BaseModel) -> None:
        await super().save(name, value)
        await self._listed(name).add([name])

    @override
    async def forget(self, name: str) -> None:
        await super().forget(name)
        await self._listed(name).remove([name])

    async def names(self, team: str) -> list[str]:
        """Return the names of a workspace's values, sorted; some values may have expired."""
        return await self._listed(team).all()

    def _listed(self, name: str) -> Names:
        team = name.partition(":")[0]
        return Names(self._redis, self._key(team), self._seconds)
