"""The format of everything in Redis, as one number: which versions of the bot can work with it.

A version of the bot reads what every earlier one wrote, and converts each value when it reads it
(`tests/stored` holds that). So an upgrade converts nothing in advance, and going back works as well
while the format is the same: an earlier version ignores fields that it does not know.

`FORMAT` grows when earlier versions would misread what this one writes: a kind of request that they
do not know, a field that they must not ignore. From then on they refuse to start, and those that
run stop, before they set aside or delete what they cannot read.
"""

from __future__ import annotations

import asyncio
import math
from contextlib import suppress

from bot.core.errors import ConfigurationError, StoreUnavailable
from bot.store.connection import Connection

FORMAT = 1
"""Data without a number is from before there were numbers, and older than 1."""

FAMILY = "format"
WATCH_SECONDS = 5.0  # how often a process looks whether a newer version has come
HANDOVER_SECONDS = 15.0  # for the processes of an earlier version to notice, and to requeue runs
_SECONDS = 10 * 365 * 86_400  # longer than anything is kept; renewed by running processes
_RESTORING = b"restoring"


async def take_over(redis: Connection) -> None:
    """Note that this version works with the data, and let an earlier one stop first.

    Raises ConfigurationError for the data of a newer version, and during a restore.
    """
    before = await redis.script("raise_format", [_key(redis)], FORMAT, _SECONDS)
    _refuse(before)
    if before and int(before) < FORMAT:
        await asyncio.sleep(HANDOVER_SECONDS)


async def check(redis: Connection) -> None:
    """Raise ConfigurationError for the data of a newer version, and during a restore."""
    _refuse(await redis.call("GET", _key(redis)))


async def watch(redis: Connection) -> None:
    """Wait until a newer version takes over the data, and raise ConfigurationError then."""
    while True:
        await asyncio.sleep(WATCH_SECONDS)
        with suppress(StoreUnavailable):
            _refuse(await redis.call("GETEX", _key(redis), "EX", _SECONDS))


async def begin_restore(redis: Connection) -> None:
    """Keep every process from starting until `end_restore`, also if the restore breaks off."""
    await redis.call("SET", _key(redis), _RESTORING, "EX", _SECONDS)


async def end_restore(redis: Connection, number: str | None) -> None:
    """Note the format of the data that was restored, None from before there were numbers."""
    if number is None:
        await redis.call("DEL", _key(redis))
    else:
        await redis.call("SET", _key(redis), number, "EX", _SECONDS)


def is_newer(stored: str) -> bool:
    """Return whether this is the format of a newer version."""
    return _number(stored) > FORMAT


def _refuse(stored: bytes | None) -> None:
    if stored == _RESTORING:
        raise ConfigurationError(
            "A backup is being restored to this Redis, or that broke off. If no restore runs, start "
            "it again: `bot restore FILE --replace`."
        )
    if stored and is_newer(stored.decode(errors="replace")):
        raise ConfigurationError(
            "A newer version of the bot has worked with this Redis, and this version cannot read "
            "what it wrote. Start that version, or restore a backup from before the upgrade."
        )


def _number(stored: str) -> float:
    return int(stored) if stored.isdecimal() else math.inf


def _key(redis: Connection) -> str:
    return redis.key("format")
