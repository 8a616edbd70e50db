"""Values of Redis as JSON, independent of the server's version, and back."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from bot.store.connection import Connection

Item = dict[str, Any]
"""A key with its type, its value and `until`: the time in seconds at which it expires, None for
never."""

_READ: dict[str, tuple[str, tuple[object, ...]]] = {
    "string": ("GET", ()),
    "hash": ("HGETALL", ()),
    "list": ("LRANGE", (0, -1)),
    "set": ("SMEMBERS", ()),
    "zset": ("ZRANGE", (0, -1, "WITHSCORES")),
    "stream": ("XRANGE", ("-", "+")),
}
_AT_ONCE = 5_000  # parts of a value in one command


async def read_items(redis: Connection, keys: Sequence[str], now: float) -> list[Item]:
    """Read `keys` in one transaction, so that they fit together. Skip missing ones."""
    types = await redis.together(*(("TYPE", key) for key in keys)) if keys else []
    kinds = dict(zip(keys, (each.decode() for each in types), strict=True))
    wanted = [key for key, kind in kinds.items() if kind in _READ]
    if not wanted:
        return []
    reads = [(_READ[kinds[key]][0], key, *_READ[kinds[key]][1]) for key in wanted]
    replies = await redis.together(*reads, *(("PTTL", key) for key in wanted))
    values, lives = replies[: len(wanted)], replies[len(wanted) :]
    return [
        {
            "key": key,
            "type": kinds[key],
            "value": _as_json(kinds[key], value),
            "until": now + left / 1_000 if left > 0 else None,
        }
        for key, value, left in zip(wanted, values, lives, strict=True)
        if value or value == b""
    ]


def _as_json(kind: str, value: Any) -> Any:
    match kind:
        case "string":
            return _text(value)
        case "hash":
            return {name.decode(): _text(each) for name, each in value.items()}
        case "list":
            return [_text(each) for each in value]
        case "set":
            return sorted(each.decode() for each in value)
        case "zset":
            pairs = value if not value or isinstance(value[0], list | tuple) else _pairs(value)
            return {member.decode(): float(score) for member, score in pairs}
        case _:
            return [
                [entry_id.decode(), {name.decode(): _text(each) for name, each in fields.items()}]
                for entry_id, fields in value
            ]


def _pairs(flat: list[Any]) -> list[tuple[Any, Any]]:
    return list(zip(flat[::2], flat[1::2], strict=True))


async def write_item(redis: Connection, item: Item, now: float) -> bool:
    """Write one key. Return False for one that has expired meanwhile, which is not written."""
    key, until = item["key"], item["until"]
    if until is not None and until <= now:
        return False
    parts = list(_commands(item["type"], key, item["value"]))
    expiry = [("PEXPIREAT", key, int(until * 1_000))] if until is not None else []
    await redis.together(("DEL", key), *parts, *expiry)
    return True


def _commands(kind: str, key: str, value: Any) -> list[tuple[object, ...]]:
    match kind:
        case "string":
            return [("SET", key, _bytes(value))]
        case "hash":
            flat = [part for name, each in value.items() for part in (name, _bytes(each))]
            return [("HSET", key, *some) for some in _some(flat)]
        case "list":
            return [("RPUSH", key, *some) for some in _some([_bytes(each) for each in value])]
        case "set":
            return [("SADD", key, *some) for some in _some(value)]
        case "zset":
            flat = [part for member, score in value.items() for part in (score, member)]
            return [("ZADD", key, *some) for some in _some(flat)]
        case _:
            return [
                (
                    "XADD",
                    key,
                    entry_id,
                    *(p for n, each in fields.items() for p in (n, _bytes(each))),
                )
                for entry_id, fields in value
            ]


def _some(parts: Sequence[object]) -> list[Sequence[object]]:
    return [parts[start : start + _AT_ONCE * 2] for start in range(0, len(parts), _AT_ONCE * 2)]


def _text(raw: bytes) -> Any:
    """Return bytes as JSON holds them: text where they are text."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(raw).decode()}


def _bytes(kept: Any) -> bytes:
    return kept.encode() if isinstance(kept, str) else base64.b64decode(kept["base64"])
