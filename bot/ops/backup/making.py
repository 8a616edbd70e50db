"""Making a backup while the bot runs."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bot.core.errors import ConfigurationError
from bot.ops.backup.archive import Header, Sealing, new_archive
from bot.ops.backup.values import Item, as_items, entry_as_json, item_of, read_keys
from bot.runs.queue.workers import NAME as QUEUE
from bot.settings import Settings
from bot.store import data_format
from bot.store.connection import PREFIX, QUARANTINE, Connection, script
from bot.store.families import Families, family_of

_FILES = {"artifact", "artifact-bytes", "artifacts"}
"""What tools saved for a week: as large as the files people share, and left out unless asked
for."""
_AUDIT = {"audit", "audit-head", "audit-beside"}
_AT_ONCE = 20  # keys that grow, in one reply
_MOVING_AT_ONCE = 2_000
_DELETED_AT_ONCE = 500
_PAGE = 5_000  # entries of an audit log
_PATIENCE = 600.0  # seconds for a reply with everything that does not only grow


async def make_backup(
    redis: Connection, path: Path, sealing: Sealing, families: Families, *, with_files: bool
) -> tuple[Header, int]:
    """Write a backup to the new file `path`. Return its header and the number of keys.

    The queues, runs, approvals and everything else that moves are read as they were at one moment.
    Redis serves nobody else meanwhile: a few seconds for each 100,000 of them.
    """
    left_out = families.brief if with_files else families.brief | _FILES

    def readable(items: Iterable[Item]) -> Iterator[Item]:
        return (item for item in items if families.is_readable(item["key"], item["type"]))

    with new_archive(path, sealing) as archive:
        seconds, micros = await redis.call("TIME")
        now = seconds + micros / 1_000_000
        keys = [key for key in await _keys(redis, PREFIX) if family_of(key) not in left_out]
        moving = [key for key in keys if family_of(key) not in families.growing]
        *parts, waiting = await redis.together(*_reading(redis, moving), seconds=_PATIENCE)
        for part in parts:
            archive.add(readable(as_items(part, now)))
        known = set(moving)
        part = readable(as_items(waiting, now))
        archive.add(item for item in part if item["key"] not in known)
        growing = [key for key in keys if family_of(key) in families.growing]
        logs = {key.rpartition(":")[2] for key in growing if family_of(key) in _AUDIT}
        growing = [key for key in growing if family_of(key) not in _AUDIT]
        for start in range(0, len(growing), _AT_ONCE):
            part = await read_keys(redis, growing[start : start + _AT_ONCE], now)
            archive.add(readable(part))
        for team in sorted(logs):
            async for items in _audit_log(redis, team, now):
                archive.add(readable(items))
    return archive.header, archive.keys


def _reading(redis: Connection, keys: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Yield commands that read `keys`, and last what waits for an answer, whatever came since.

    Each is short: Redis refuses other commands while one takes longer than five seconds.
    """
    for start in range(0, len(keys), _MOVING_AT_ONCE):
        some = keys[start : start + _MOVING_AT_ONCE]
        yield "EVAL", script("read_keys"), len(some), *some
    yield "EVAL", script("read_waiting"), 1, redis.key("threads"), f"{PREFIX}:"


async def _audit_log(redis: Connection, team: str, now: float) -> AsyncGenerator[list[Item]]:
    """Yield a workspace's audit log as its head describes it, in pages."""
    stream, *beside = (redis.key(kind, team) for kind in ("audit", "audit-head", "audit-beside"))
    while True:
        first, last, ttl, items = await redis.together(
            ("XRANGE", stream, "-", "+", "COUNT", 1),
            ("XREVRANGE", stream, "+", "-", "COUNT", 1),
            ("PTTL", stream),
            ("EVAL", script("read_keys"), len(beside), *beside),
        )
        yield [*as_items(items, now)]
        if not first:
            return
        after, has_more = "-", False
        while page := await redis.call("XRANGE", stream, after, last[0][0], "COUNT", _PAGE):
            entries = [entry_as_json(entry_id, fields.items()) for entry_id, fields in page]
            item = item_of(stream.encode(), b"stream", entries, now, ttl)
            yield [{**item, "more": True} if has_more else item]
            after, has_more = f"({entries[-1][0]}", True
        if first == await redis.call("XRANGE", stream, "-", "+", "COUNT", 1):
            return
        # Its oldest entries have expired meanwhile, which the head says: read it again.


async def _keys(redis: Connection, prefix: str) -> list[str]:
    names, cursor = set[str](), -1
    while cursor:
        cursor, keys = await redis.call(
            "SCAN", max(cursor, 0), "MATCH", f"{prefix}:*", "COUNT", 1_000
        )
        names |= {key.decode() for key in keys}
    return sorted(names)


async def has_data(redis: Connection, families: Families) -> bool:
    """Return whether a bot has stored something in this Redis that a backup holds."""
    keys = await _keys(redis, PREFIX)
    return any(family_of(key) not in {*families.brief, data_format.FAMILY} for key in keys)


async def delete_all(redis: Connection) -> None:
    """Delete everything that a bot has stored in this Redis but the format of its data."""
    prefixes = (PREFIX, QUARANTINE, QUEUE)
    listed = [key for prefix in prefixes for key in await _keys(redis, prefix)]
    keys = [key for key in listed if family_of(key) != data_format.FAMILY]
    for start in range(0, len(keys), _DELETED_AT_ONCE):
        await redis.call("UNLINK", *keys[start : start + _DELETED_AT_ONCE])


def sealing_of(settings: Settings) -> Sealing:
    """Return what seals backups. Raises ConfigurationError for keys that are none."""
    keys = settings.bot_encryption_keys
    try:
        return Sealing(keys.get_secret_value() if keys else "")
    except ValueError:
        raise ConfigurationError("BOT_ENCRYPTION_KEYS: not made by `bot encryption-key`.") from None
