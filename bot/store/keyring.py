"""Which of its encryption keys a process may use, so that every running process can read the result.

Processes get new BOT_ENCRYPTION_KEYS one after the other. Until all have the first key, the others
could not open what it encrypts; each process therefore announces fingerprints of its keys.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from bot.core.ids import new_id
from bot.store.connection import Connection

ANNOUNCED_SECONDS = 60.0
"""A process that did not announce its keys for so long is not listed any more."""


class Keyring:
    """The fingerprints of a process's keys, in order, and those of the other running processes.

    `in_use` is the index of the key to encrypt and seal with: the first, unless `refresh` found
    running processes without it that have another of the keys.
    """

    def __init__(self, redis: Connection, keys: Sequence[bytes]) -> None:
        self._redis = redis
        self._key = redis.key("keyrings")
        self._own = [hashlib.sha256(b"fingerprint\n" + key).hexdigest()[:16] for key in keys]
        self._name = new_id("proc")
        self.in_use = 0

    async def announce(self) -> bool:
        """Announce this process's keys and refresh. Return whether `in_use` changed."""
        now = await self._now()
        await self._redis.together(
            ("ZADD", self._key, now, self._member),
            ("ZREMRANGEBYSCORE", self._key, "-inf", now - ANNOUNCED_SECONDS),
            ("EXPIRE", self._key, int(ANNOUNCED_SECONDS)),
        )
        return await self.refresh()

    async def withdraw(self) -> None:
        """Record that this process has stopped."""
        await self._redis.call("ZREM", self._key, self._member)

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
        since = await self._now() - ANNOUNCED_SECONDS
        members = await self._redis.call("ZRANGEBYSCORE", self._key, since, "+inf")
        found = [each.decode("utf-8", "replace").partition(" ")[::2] for each in members]
        rings = [set(keys.split(",")) for name, keys in found if name != self._name]
        return [keys for keys in rings if keys.intersection(self._own)]

    async def _now(self) -> float:
        seconds, micros = await self._redis.call("TIME")
        return float(seconds + micros / 1_000_000)
