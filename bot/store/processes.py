"""What running processes announce: that they receive events, their encryption keys, bad requests.

Processes get new BOT_ENCRYPTION_KEYS one after the other. Until all have the first key, the others
could not open what it encrypts; each process therefore announces fingerprints of its keys.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from bot.core.ids import new_id
from bot.store.connection import Connection
from bot.store.values import TimedSet, Value, get_many

ANNOUNCED_SECONDS = 60
"""A process that announced nothing for so long is not listed any more."""

_REFUSED_SECONDS = 86_400
_SHORT = 8  # characters of a fingerprint that tell a few keys apart

Reason = Literal["signature", "age", "missing headers"]


class Receivers:
    """The processes that receive Slack's events, by name and by when they were last ready."""

    def __init__(self, redis: Connection) -> None:
        self._redis = redis
        self._names = TimedSet(redis, redis.key("receivers"), ANNOUNCED_SECONDS)

    async def note(self, name: str) -> None:
        """Record that the process of this name is ready now."""
        await self._names.add(name, await self._redis.now())

    async def forget(self, name: str) -> None:
        """Record that a process has stopped."""
        await self._names.remove(name)

    async def ready(self) -> list[str]:
        """Return the names of the processes that were ready in the last minute, sorted."""
        return sorted(await self._names.between(await self._redis.now() - ANNOUNCED_SECONDS))


class Keyring:
    """The fingerprints of a process's keys, in order, and those of the other running processes.

    `in_use` is the index of the key to encrypt and seal with: the first, unless `refresh` found
    running processes without it that have another of the keys.
    """

    def __init__(self, redis: Connection, keys: Sequence[bytes]) -> None:
        self._redis = redis
        self._rings = TimedSet(redis, redis.key("keyrings"), ANNOUNCED_SECONDS)
        self._own = [hashlib.sha256(b"fingerprint\n" + key).hexdigest()[:16] for key in keys]
        self._name = new_id("proc")
        self.in_use = 0

    @property
    def fingerprints(self) -> list[str]:
        """Short fingerprints of this process's keys, in order, for operators."""
        return [own[:_SHORT] for own in self._own]

    async def announce(self) -> bool:
        """Announce this process's keys and refresh. Return whether `in_use` changed."""
        await self._rings.add(self._member, await self._redis.now())
        return await self.refresh()

    async def withdraw(self) -> None:
        """Record that this process has stopped."""
        await self._rings.remove(self._member)

    async def refresh(self) -> bool:
        """Choose the key to use. Return whether `in_use` changed."""
        before, others = self.in_use, await self._others()
        common = (i for i, own in enumerate(self._own) if all(own in keys for keys in others))
        self.in_use = next(common, 0)
        return self.in_use != before

    async def lacking_first(self) -> int:
        """Return how many other running processes do not have this process's first key."""
        return sum(self._own[0] not in keys for keys in await self._others())

    @property
    def _member(self) -> str:
        return f"{self._name} {','.join(self._own)}"

    async def _others(self) -> list[set[str]]:
        """Return the fingerprints that each other running process announced.

        A process that has none of this one's keys is left out: nothing can be read by both.
        """
        members = await self._rings.between(await self._redis.now() - ANNOUNCED_SECONDS)
        announced = [member.partition(" ")[::2] for member in members]
        rings = [set(keys.split(",")) for name, keys in announced if name != self._name]
        return [keys for keys in rings if keys.intersection(self._own)]


class Refused(BaseModel):
    """How many HTTP requests were refused for one reason since the last report, up to `at`.

    `skew` is how many seconds this machine's clock was ahead of the last request's timestamp.
    """

    model_config = ConfigDict(frozen=True)

    version: int = 1
    reason: Reason
    count: int
    skew: int
    at: datetime = Field(default_factory=lambda: datetime.now(UTC))


class RefusedStore:
    """The last report of refused HTTP requests for each reason, which `bot doctor` shows for a day."""

    def __init__(self, redis: Connection) -> None:
        self._redis = redis

    async def save(self, reason: Reason, count: int, skew: int) -> None:
        """Store a report, replacing the one before with the same reason."""
        report = Refused(reason=reason, count=count, skew=skew)
        key = self._redis.key("refused", reason)
        await Value(self._redis, key, Refused, _REFUSED_SECONDS).set(report)

    async def recent(self) -> list[Refused]:
        """Return the last report for each reason within a day."""
        keys = [self._redis.key("refused", reason) for reason in get_args(Reason)]
        return await get_many(self._redis, Refused, keys)
