"""Values of Redis as JSON, independent of the server's version, and back."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from bot.store.connection import Connection

Item = dict[str, Any]
"""A key with its type, its value and `until`: the time in seconds at which it expires, None for
never. With `more`, the value goes on with what the items before it have of the same key."""

_AT_ONCE = 5_000  # parts of a value in one command
_KEYS_AT_ONCE = 500  # written in one transaction


async def read_keys(redis: Connection, keys: Sequence[str], now: float) -> list[Item]:
    """Read `keys` at one moment, so that they fit together. Skip missing ones."""
    return list(as_items(await redis.script("read_keys", keys), now))


def as_items(found: Iterable[list[Any]], now: float) -> Iterator[Item]:
    """Yield what the scripts of backups found, at the time `now`."""
    for key, kind, ttl, value in filter(None, found):
        yield item_of(key, kind, _as_json(kind.decode(), value), now, ttl)


def item_of(key: bytes, kind: bytes, value: Any, now: float, left: int) -> Item:
    """Return a key that expires in `left` milliseconds; never if that is negative."""
    until = now + left / 1_000 if left >= 0 else None
    return {"key": key.decode(), "type": kind.decode(), "value": value, "until": until}


def entry_as_json(entry_id: bytes, fields: Iterable[tuple[bytes, bytes]]) -> Any:
    """Return an entry of a stream."""
    return [entry_id.decode(), {name.decode(): _text(field) for name, field in fields}]


def _as_json(kind: str, value: Any) -> Any:
    match kind:
        case "string":
            return _text(value)
        case "hash":
            return {name.decode(): _text(field) for name, field in _pairs(value)}
        case "list":
            return [_text(item) for item in value]
        case "set":
            return sorted(member.decode() for member in value)
        case "zset":
            return {member.decode(): float(score) for member, score in _pairs(value)}
        case _:
            return [entry_as_json(entry_id, _pairs(fields)) for entry_id, fields in value]


def _pairs(flat: list[bytes]) -> list[tuple[bytes, bytes]]:
    return list(zip(flat[::2], flat[1::2], strict=True))


async def write_items(redis: Connection, items: Sequence[Item]) -> None:
    """Write keys, replacing those that are there."""
    for start in range(0, len(items), _KEYS_AT_ONCE):
        some = items[start : start + _KEYS_AT_ONCE]
        await redis.together(*(command for item in some for command in _writing(item)))


def _writing(item: Item) -> list[tuple[object, ...]]:
    key, until = item["key"], item["until"]
    start = [] if item.get("more") else [("DEL", key)]
    expiry = [] if until is None else [("PEXPIREAT", key, int(until * 1_000))]
    return [*start, *_commands(item["type"], key, item["value"]), *expiry]


def _commands(kind: str, key: str, value: Any) -> list[tuple[object, ...]]:
    match kind:
        case "string":
            return [("SET", key, _bytes(value))]
        case "hash":
            flat = [part for name, field in value.items() for part in (name, _bytes(field))]
            return [("HSET", key, *some) for some in _some(flat)]
        case "list":
            return [("RPUSH", key, *some) for some in _some([_bytes(item) for item in value])]
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
                    *(p for n, field in fields.items() for p in (n, _bytes(field))),
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
