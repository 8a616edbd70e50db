"""The content of a Redis as JSON, independent of the server's version, and back.

Times to live are kept as they were left, so that nothing expires while a recording lies in the
repository. Stored times that decide something (JSON numbers in seconds, scores of sorted sets) are moved
by `shift` when a copy is loaded, as if the bot had been killed just now. Texts with a date in words and
Slack's message ids stay what they are; so does the audit log, whose hashes cover every character.
"""

from __future__ import annotations

import base64
import re
from typing import Any

Json = Any
Redis = Any
"""A `redis.asyncio.Redis`, whose declared replies are those of all its modes."""

_YEAR = 366 * 86_400
_HOUR_MS = 3_600_000
_SECONDS = re.compile(r"(?<=:)\d{10}(?:\.\d+)?(?=[,}\]])")
_FIXED = ("bot:v1:audit",)


async def copy_redis(redis: Redis) -> dict[str, Json]:
    """Return every key with its type, its milliseconds to live (None: for ever) and its value."""
    copied = {}
    for key in sorted([key async for key in redis.scan_iter("*", count=1_000)]):
        kind = (await redis.type(key)).decode()
        if kind == "none":  # expired meanwhile
            continue
        ttl = await redis.pttl(key)
        value = await _read(redis, kind, key)
        copied[key.decode()] = {"type": kind, "ttl": ttl if ttl > 0 else None, "value": value}
    return copied


async def load_redis(redis: Redis, copied: dict[str, Json], *, at: float, shift: float) -> None:
    """Write a copy that was made at the time `at` to an empty Redis, with its times moved by `shift`
    seconds."""
    for key, kept in copied.items():
        by = 0.0 if key.startswith(_FIXED) else shift
        await _write(redis, kept["type"], key, kept["value"], _Shift(at, by))
        if kept["ttl"]:
            await redis.pexpire(key, kept["ttl"])


def text(raw: bytes) -> Json:
    """Return bytes as JSON holds them: text where they are text."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(raw).decode()}


def raw_of(kept: Json) -> bytes:
    """Return the bytes that `text` was made of."""
    return kept.encode() if isinstance(kept, str) else base64.b64decode(kept["base64"])


async def _read(redis: Redis, kind: str, key: bytes) -> Json:
    match kind:
        case "string":
            return text(await redis.get(key) or b"")
        case "hash":
            return {k.decode(): text(v) for k, v in (await redis.hgetall(key)).items()}
        case "list":
            return [text(each) for each in await redis.lrange(key, 0, -1)]
        case "set":
            return sorted(each.decode() for each in await redis.smembers(key))
        case "zset":
            return {m.decode(): s for m, s in await redis.zrange(key, 0, -1, withscores=True)}
        case "stream":
            return await _read_stream(redis, key)
        case _:
            raise AssertionError(f"{key!r} is a {kind}")


async def _read_stream(redis: Redis, key: bytes) -> Json:
    groups = {}
    for group in await redis.xinfo_groups(key):
        pending = await redis.xpending_range(key, group["name"], "-", "+", 10_000)
        groups[group["name"].decode()] = {
            "last": group["last-delivered-id"].decode(),
            "pending": [
                [each["message_id"].decode(), each["consumer"].decode(), each["times_delivered"]]
                for each in pending
            ],
        }
    entries = [
        [entry_id.decode(), {k.decode(): text(v) for k, v in fields.items()}]
        for entry_id, fields in await redis.xrange(key)
    ]
    return {"entries": entries, "groups": groups}


class _Shift:
    def __init__(self, at: float, by: float) -> None:
        self._range = (at - _YEAR, at + _YEAR)
        self._by = by

    def raw(self, kept: Json) -> bytes:
        raw = raw_of(kept)
        if not self._by or not raw.startswith((b"{", b"[")):
            return raw
        return _SECONDS.sub(self._moved, raw.decode()).encode()

    def score(self, score: float) -> float:
        return score + self._by if self._range[0] < score < self._range[1] else score

    def _moved(self, found: re.Match[str]) -> str:
        given = found[0]
        moved = self.score(float(given))
        return f"{moved:.6f}" if "." in given else str(int(moved))


async def _write(redis: Redis, kind: str, key: str, value: Json, shift: _Shift) -> None:
    match kind:
        case "string":
            await redis.set(key, shift.raw(value))
        case "hash":
            await redis.hset(key, mapping={k: shift.raw(v) for k, v in value.items()})
        case "list":
            await redis.rpush(key, *(shift.raw(each) for each in value))
        case "set":
            await redis.sadd(key, *value)
        case "zset":
            await redis.zadd(key, {m: shift.score(s) for m, s in value.items()})
        case "stream":
            await _write_stream(redis, key, value)
        case _:
            raise AssertionError(f"{key} is a {kind}")


async def _write_stream(redis: Redis, key: str, value: Json) -> None:
    for entry_id, fields in value["entries"]:
        await redis.xadd(key, {k: raw_of(v) for k, v in fields.items()}, id=entry_id)
    for name, group in value["groups"].items():
        await redis.xgroup_create(key, name, group["last"], mkstream=True)
        for entry_id, consumer, times in group["pending"]:
            await redis.xclaim(
                key,
                name,
                consumer,
                0,
                [entry_id],
                idle=_HOUR_MS,
                retrycount=times,
                force=True,
                justid=True,
            )
