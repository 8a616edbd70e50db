"""Encrypted values: somebody who can read Redis or a backup learns nothing from them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from pydantic import BaseModel

from bot.core.errors import ConfigurationError, CorruptValue
from bot.store.connection import Connection
from bot.store.processes import Keyring
from bot.store.values import decode

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Stored(Generic[M]):
    """A value together with its stored bytes, by which a later change of it is noticed."""

    value: M
    stored: bytes


class SealedBox:
    """Encrypts with the key in use, by default the first, and opens with any."""

    def __init__(self, keys: Sequence[str], keyring: Keyring | None = None) -> None:
        """Use `keys`; `keyring` says which of them is in use. Raises ValueError for an invalid key."""
        from cryptography.fernet import Fernet, MultiFernet  # 7 MB, for a bot that has keys

        self._fernets = [Fernet(key) for key in keys]
        self._all = MultiFernet(self._fernets)
        self._keyring = keyring

    def encrypt(self, data: bytes) -> bytes:
        """Encrypt `data` with the key in use."""
        return self._in_use.encrypt(data)

    def decrypt(self, sealed: bytes, ttl: int | None = None) -> bytes | None:
        """Decrypt `sealed`; None when no key opens it, or it is older than `ttl` seconds."""
        from cryptography.fernet import InvalidToken

        try:
            return self._all.decrypt(sealed, ttl)
        except InvalidToken:
            return None

    def is_on_key_in_use(self, sealed: bytes) -> bool:
        """Return whether the key in use opens `sealed`."""
        from cryptography.fernet import InvalidToken

        try:
            self._in_use.decrypt(sealed)
        except InvalidToken:
            return False
        return True

    @property
    def _in_use(self) -> Fernet:
        return self._fernets[self._keyring.in_use if self._keyring else 0]


def box_of(keys: Sequence[str], keyring: Keyring | None = None) -> SealedBox:
    """Return a box with these keys. Raises ConfigurationError."""
    try:
        return SealedBox(keys, keyring)
    except ValueError:
        raise ConfigurationError(
            "BOT_ENCRYPTION_KEYS: each must be 32 bytes in URL-safe base64, with commas between "
            "several. `bot encryption-key` prints a new one."
        ) from None


class SealedValues:
    """Encrypted models in Redis. Reading a value keeps it for another `seconds`.

    A value that no key opens stays, because the configured keys may be the wrong ones.
    """

    def __init__(self, redis: Connection, box: SealedBox, seconds: int) -> None:
        self._redis = redis
        self._box = box
        self._seconds = seconds

    def seal(self, value: BaseModel) -> bytes:
        """Return `value` encrypted."""
        return self._box.encrypt(value.model_dump_json().encode())

    def open(self, stored: bytes, kind: type[M]) -> M:
        """Return the value of `stored`.

        Raises CorruptValue when it is damaged or no key opens it.
        """
        opened = self._box.decrypt(stored)
        with suppress(CorruptValue):
            if opened is not None:
                return decode(kind, opened)
        raise CorruptValue(
            "it is damaged or from a newer version of the bot, or BOT_ENCRYPTION_KEYS lacks the key "
            "it was kept with"
        )

    async def load(self, key: str, kind: type[M]) -> Stored[M] | None:
        """Return the value at `key`, None without one. Raises CorruptValue.

        A value on another key is encrypted again with the one in use.
        """
        stored = await self._redis.call("GETEX", key, "EX", self._seconds)
        if stored is None:
            return None
        value = self.open(stored, kind)
        if not self._box.is_on_key_in_use(stored):
            again = self.seal(value)
            if await self._swap(key, stored, again):
                stored = again
        return Stored(value, stored)

    async def replace(self, key: str, before: Stored[M], after: M) -> bool:
        """Store `after` if `before` is still there. Return whether it was."""
        return await self._swap(key, before.stored, self.seal(after))

    async def remove(self, key: str, before: Stored[M]) -> bool:
        """Delete `before` if it is still there. Return whether it was."""
        return bool(await self._redis.script("delete_if_equal", [key], before.stored))

    async def on_old_keys(self, family: str) -> list[str]:
        """Return the rest of the name of each key of `family` that is not on the key in use."""
        found = []
        async for name in self.names(family):
            stored = await self._redis.call("GET", self._redis.key(family, name))
            if stored and not self._box.is_on_key_in_use(stored):
                found.append(name)
        return sorted(found)

    async def names(self, family: str, start: str = "") -> AsyncGenerator[str]:
        """Yield the rest of the name of each key of `family` that begins with `start`."""
        prefix, cursor = self._redis.key(family, ""), -1
        while cursor:
            scan = ("SCAN", max(cursor, 0), "MATCH", f"{prefix}{start}*")
            cursor, keys = await self._redis.call(*scan)
            for key in keys:
                yield key.decode().removeprefix(prefix)

    async def _swap(self, key: str, before: bytes, after: bytes) -> bool:
        keys, values = [key], (before, after, self._seconds)
        return bool(await self._redis.script("compare_and_set", keys, *values))
