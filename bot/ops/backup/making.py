"""Making a backup while the bot runs."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

from bot.core.errors import ConfigurationError
from bot.ops.backup.archive import Header, Sealing, write_archive
from bot.ops.backup.values import Item, read_items
from bot.runs.queue.docket import NAME as QUEUE
from bot.settings import Settings
from bot.store.connection import PREFIX, Connection

_LEFT_OUT = {
    "probe",  # written to see whether Redis takes writes
    "install-lock",  # held for seconds
    "lock",
    "oauth-states-used",
    "account-flow",  # a connection under way in a browser, as the next two
    "account-proof",
    "account-ticket",
    "account-revocation",  # tokens that are gone within a day
    "account-revocations",
    "line-renewed",
}
_FILES = {"artifact", "artifact-bytes", "artifacts"}
"""What tools saved for a week: as large as the files people share, and left out unless asked
for."""
_GROWING = {"ledger", "audit", "memories", "lesson", "feedback", *_FILES}
"""Families that only grow. They are read after the others, so that whatever those name is there."""
_AT_ONCE = 200


def family(key: str) -> str:
    """Return the kind of a key: the part after the prefix."""
    return key.removeprefix(f"{PREFIX}:").partition(":")[0]


async def make_backup(
    redis: Connection, path: Path, sealing: Sealing, *, with_files: bool
) -> tuple[Header, int]:
    """Write a backup to the new file `path`. Return its header and the number of keys.

    The queues, runs, approvals and everything else that moves are read in one transaction, as they
    were at one moment. Redis serves nobody else meanwhile: about a second for each 100 MB of them.
    """
    pieces = [piece async for piece in _pieces(redis, with_files=with_files)]
    header = write_archive(path, sealing, pieces)
    return header, sum(map(len, pieces))


async def _pieces(redis: Connection, *, with_files: bool) -> AsyncGenerator[list[Item]]:
    seconds, micros = await redis.call("TIME")
    now = seconds + micros / 1_000_000
    keys = [key for key in await _keys(redis) if family(key) not in _LEFT_OUT]
    if not with_files:
        keys = [key for key in keys if family(key) not in _FILES]
    moving = [key for key in keys if family(key) not in _GROWING]
    yield await read_items(redis, moving, now)
    growing = [key for key in keys if family(key) in _GROWING]
    for start in range(0, len(growing), _AT_ONCE):
        yield await read_items(redis, growing[start : start + _AT_ONCE], now)


async def _keys(redis: Connection, prefix: str = PREFIX) -> list[str]:
    found, cursor = set[str](), -1
    while cursor:
        cursor, keys = await redis.call(
            "SCAN", max(cursor, 0), "MATCH", f"{prefix}:*", "COUNT", 1_000
        )
        found |= {key.decode() for key in keys}
    return sorted(found)


async def has_data(redis: Connection) -> bool:
    """Return whether a bot has stored something in this Redis."""
    return any(family(key) not in _LEFT_OUT for key in await _keys(redis))


async def delete_all(redis: Connection) -> None:
    """Delete everything that a bot has stored in this Redis, with its queue of tickets."""
    keys = [*await _keys(redis), *await _keys(redis, QUEUE)]
    for start in range(0, len(keys), _AT_ONCE):
        await redis.call("UNLINK", *keys[start : start + _AT_ONCE])


def sealing_of(settings: Settings) -> Sealing:
    """Return what seals backups. Raises ConfigurationError for keys that are none."""
    keys = settings.bot_encryption_keys
    try:
        return Sealing(keys.get_secret_value() if keys else "")
    except ValueError:
        raise ConfigurationError("BOT_ENCRYPTION_KEYS: not made by `bot encryption-key`.") from None
