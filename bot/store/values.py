"""What is stored in Redis: versioned pydantic models as JSON, and the shapes that hold them.

A store is made of a few of these, each with its key, its model and how long it is kept: `Value` (a
model), `Hash` (models by name), `TimedSet` (names by time) and `Names` (a set of names). The methods
named `…ing` return commands for a transaction or for `Lease.write`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from bot.core.errors import CorruptValue
from bot.store.connection import PREFIX, QUARANTINE, Connection

log = logging.getLogger(__name__)

M = TypeVar("M", bound=BaseModel)

Command = tuple[Any, ...]
"""A command of Redis with its arguments."""


def sendable(command: Command) -> Command:
    """Return the command. Raises ValueError for one that cannot be sent to Redis."""
    for part in command:
        if isinstance(part, str):
            part.encode()
        elif type(part) not in (bytes, int, float):  # such as an enum, which is written otherwise
            raise ValueError(f"a command of Redis with a {type(part).__name__}")
    if not command:
        raise ValueError("a command of Redis without a name")
    return command


QUARANTINE_SECONDS = 30 * 86_400


def decode(model: type[M], raw: bytes) -> M:
    """Decode `raw`. Raises CorruptValue when it is damaged or from a newer version of the bot.

    Fields that only a newer version knows are ignored, also where bot.toml may have no others: an
    operator can go back to this version (`bot.store.data_format`).
    """
    try:
        value = model.model_validate_json(raw, extra="ignore")
    except ValidationError as error:
        raise CorruptValue(f"A kept {model.__name__} cannot be read.") from error
    if getattr(value, "version", 1) > model.model_fields["version"].default:
        raise CorruptValue(f"A kept {model.__name__} is from a newer version.")
    return value


async def set_aside(redis: Connection, key: str) -> None:
    """Move the value at `key` to the quarantine, where an operator can look at it."""
    aside = QUARANTINE + key.removeprefix(PREFIX)
    await redis.script("set_aside", [key, aside], QUARANTINE_SECONDS)
    log.error("A kept value cannot be read and was moved to %s", aside)


@dataclass(frozen=True, slots=True)
class Value(Generic[M]):
    """A model at a key, for `seconds` after it was last written."""

    redis: Connection
    key: str
    model: type[M]
    seconds: int
    exclude_unset: bool = False
    """Whether only the fields that are set are stored."""
    read: Callable[[type[M], bytes], M] = decode

    async def get(self, *, renew: bool = False) -> M | None:
        """Return the value, None without one. With `renew`, keep it for another `seconds`.

        A value that cannot be read is set aside, and CorruptValue raised.
        """
        command = ("GETEX", self.key, "EX", self.seconds) if renew else ("GET", self.key)
        raw = await self.redis.call(*command)
        if raw is None:
            return None
        try:
            return self.read(self.model, raw)
        except CorruptValue:
            await set_aside(self.redis, self.key)
            raise

    async def get_readable(self) -> M | None:
        """Return the value, None without one and when it cannot be read."""
        return next(iter(await get_many(self.redis, self.model, [self.key])), None)

    def setting(self, value: M) -> Command:
        """Return the command that stores `value`."""
        return "SET", self.key, self._encoded(value), "EX", self.seconds

    async def set(self, value: M) -> None:
        """Store `value`, replacing the one before."""
        await self.redis.call(*self.setting(value))

    async def change(self, change: Callable[[M | None], M | None]) -> M | None:
        """Store what `change` makes of the value as it is now, and return it; None leaves it.

        Another process may change the value meanwhile: `change` is then called again. Raises
        CorruptValue for a damaged value.
        """
        while True:
            raw = await self.redis.call("GET", self.key)
            changed = change(self.read(self.model, raw) if raw else None)
            if changed is None:
                return None
            args = (raw or b"", self._encoded(changed), self.seconds)
            if await self.redis.script("compare_and_set", [self.key], *args):
                return changed

    async def delete(self) -> None:
        """Delete the value."""
        await self.redis.call("DEL", self.key)

    def _encoded(self, value: M) -> str:
        return value.model_dump_json(exclude_unset=self.exclude_unset)


async def get_many(redis: Connection, model: type[M], keys: Sequence[str]) -> list[M]:
    """Return the values at `keys` in their order; skip those that are gone or damaged."""
    values = []
    for key, raw in zip(keys, await redis.call("MGET", *keys) if keys else (), strict=True):
        try:
            values += [decode(model, raw)] if raw else []
        except CorruptValue as error:
            log.warning("%s It is skipped: %s", error, key)
    return values


@dataclass(frozen=True, slots=True)
class Hash(Generic[M]):
    """Models by name, all in one hash, for `seconds` after the last of them was written."""

    redis: Connection
    key: str
    model: type[M]
    seconds: int

    def putting(self, name: str, value: M) -> list[Command]:
        """Return the commands that store `value` under its name."""
        return [
            ("HSET", self.key, name, value.model_dump_json()),
            ("EXPIRE", self.key, self.seconds),
        ]

    async def put(self, name: str, value: M) -> None:
        """Store `value` under its name, replacing the one before."""
        await self.redis.together(*self.putting(name, value))

    async def add(self, name: str, value: M, *, most: int) -> bool:
        """Store `value`. Return False if there are already `most` others; the check is atomic."""
        args = (name, value.model_dump_json(), self.seconds, most)
        return bool(await self.redis.script("hash_add", [self.key], *args))

    async def change(self, name: str, change: Callable[[M | None], M | None]) -> M | None:
        """Store what `change` makes of the value of this name as it is now, and return it; None leaves it.
        `change` is given None where there is no value that can be read.

        Another process may change the value meanwhile: `change` is then called again.
        """
        while True:
            raw = await self.redis.call("HGET", self.key, name)
            changed = change(self._readable(name, raw))
            if changed is None:
                return None
            args = (name, raw or b"", changed.model_dump_json(), self.seconds)
            if await self.redis.script("hash_change", [self.key], *args):
                return changed

    async def get(self, name: str) -> M | None:
        """Return the value of this name; None without one and when it cannot be read."""
        return self._readable(name, await self.redis.call("HGET", self.key, name))

    async def all(self, *, renew: bool = False) -> dict[str, M]:
        """Return the values by name; skip damaged ones. With `renew`, keep them for longer."""
        fields, *_ = await self.redis.together(*self.reading(renew=renew))
        return self.decoded(fields)

    def reading(self, *, renew: bool = False) -> list[Command]:
        """Return the commands that do what `all` does; `decoded` takes the reply to the first."""
        renewing = [("EXPIRE", self.key, self.seconds)] if renew else []
        return [("HGETALL", self.key), *renewing]

    def decoded(self, fields: dict[bytes, bytes]) -> dict[str, M]:
        """Return the values of the fields by name; skip damaged ones."""
        values = {each.decode(): self._readable(each.decode(), raw) for each, raw in fields.items()}
        return {name: value for name, value in values.items() if value is not None}

    async def remove(self, *names: str) -> bool:
        """Delete the values of these names. Return whether there were any."""
        return bool(names and await self.redis.call("HDEL", self.key, *names))

    def _readable(self, name: str, raw: bytes | None) -> M | None:
        try:
            return decode(self.model, raw) if raw else None
        except CorruptValue as error:
            log.warning("%s It is skipped: %s in %s", error, name, self.key)
            return None


@dataclass(frozen=True, slots=True)
class TimedSet:
    """Names by time, in seconds since the epoch, each for `seconds` after its time."""

    redis: Connection
    key: str
    seconds: int

    def adding(self, name: str, at: float, *, keep_first: bool = False) -> list[Command]:
        """Return the commands that add a name; with `keep_first`, one that is there keeps its time."""
        return [
            ("ZADD", self.key, *(["NX"] if keep_first else []), at, name),
            ("ZREMRANGEBYSCORE", self.key, "-inf", at - self.seconds),
            ("EXPIRE", self.key, self.seconds),
        ]

    async def add(self, name: str, at: float) -> None:
        """Add a name, and drop those of more than `seconds` before it."""
        await self.redis.together(*self.adding(name, at))

    async def between(
        self, start: float, end: float = float("inf"), *, most: int = -1
    ) -> list[str]:
        """Return the names of this time, oldest first, `most` of them unless that is -1."""
        limit = ("LIMIT", 0, most)
        names = await self.redis.call("ZRANGEBYSCORE", self.key, start, end, *limit)
        return [name.decode() for name in names]

    async def newest(self, most: int) -> list[str]:
        """Return up to `most` names, newest first."""
        names = await self.redis.call("ZREVRANGE", self.key, 0, most - 1)
        return [name.decode() for name in names]

    async def remove(self, *names: str) -> None:
        """Remove names."""
        if names:
            await self.redis.call("ZREM", self.key, *names)


@dataclass(frozen=True, slots=True)
class Names:
    """A set of names, for `seconds` after it was last written or read."""

    redis: Connection
    key: str
    seconds: int

    def adding(self, *names: str) -> list[Command]:
        """Return the commands that add names."""
        renewing = ("EXPIRE", self.key, self.seconds)
        return [("SADD", self.key, *names), renewing] if names else []

    async def add(self, names: Iterable[str]) -> None:
        """Add names."""
        if commands := self.adding(*sorted(names)):
            await self.redis.together(*commands)

    async def all(self) -> list[str]:
        """Return all names, sorted."""
        renewing = ("EXPIRE", self.key, self.seconds)
        names, _ = await self.redis.together(("SMEMBERS", self.key), renewing)
        return sorted(name.decode() for name in names)

    def removing(self, *names: str) -> list[Command]:
        """Return the commands that remove names."""
        return [("SREM", self.key, *names)] if names else []

    async def remove(self, names: Iterable[str]) -> None:
        """Remove names."""
        if commands := self.removing(*sorted(names)):
            await self.redis.together(*commands)
