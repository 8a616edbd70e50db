"""Message format between the bot and an isolated process: JSON, preceded by its length.

Pickle would let a process that a hostile file has taken over run code in the bot. A long list in a
reply goes in parts, because decoding holds the interpreter.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, BinaryIO
from uuid import UUID

HEADER = struct.Struct(">Q")
"""The length of the message that follows, in bytes."""

MAX_FRAME = 4_000_000
"""Bytes of a reply's frame at most."""

_PART = 250_000
"""Bytes from which on a list goes in parts of about this size."""

_MOST_DIGITS = 150_000
"""Places before and after the point of a Decimal: PostgreSQL's have fewer. Arithmetic with 1E+999999999
would hold the interpreter for minutes."""

_TAG, _VALUE = "$type", "$value"


def _decimal(text: str) -> Decimal:
    value = Decimal(text)
    if value.is_finite() and value and abs(value.adjusted()) > _MOST_DIGITS:
        raise ValueError("it has too many digits")
    return value


_READERS: dict[str, Callable[[str], object]] = {
    "bytes": bytes.fromhex,
    "Decimal": _decimal,
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "UUID": UUID,
}


def pack(message: object) -> bytes:
    """Return `message` as one frame. Dates, Decimal, UUID and bytes keep their type; others become text."""
    body = _to_json(message).encode("utf-8", "surrogatepass")
    return HEADER.pack(len(body)) + body


def pack_reply(value: Any) -> Iterator[bytes]:
    """Yield a job's value as frames: {"part": [items]} for each part of a long list or text, which is
    the value or its "rows", and {"value": …, "parts_of": name}, or else {"value": …} alone. Raises
    ValueError for one that is too large."""
    name = "rows" if isinstance(value, dict) else None
    items = value.get("rows") if isinstance(value, dict) else value
    if isinstance(value, str) and len(value) > _PART:
        name = "text"
        items = [value[start : start + _PART] for start in range(0, len(value), _PART)]
    if isinstance(items, list | tuple) and len(items) > 1:
        parts, size = list[str](), 0
        for item in items:
            text = _to_json(item)
            if parts and size + len(text) > _PART:
                yield _frame(f'{{"part": [{",".join(parts)}]}}')
                parts, size = [], 0
            parts.append(text)
            size += len(text)
        yield _frame(f'{{"part": [{",".join(parts)}]}}')
        rest = None
        if isinstance(value, dict):
            rest = {key: each for key, each in value.items() if key != name}
        yield _frame(_to_json({"value": rest, "parts_of": name}))
    else:
        yield _frame(_to_json({"value": value}))


def unpack(body: bytes) -> Any:
    """Return the message in a frame's body. Raises ValueError for what `pack` never writes."""
    try:
        return json.loads(body, object_hook=_decode)
    except (LookupError, TypeError, ArithmeticError, RecursionError) as error:
        raise ValueError("it is no message") from error


def receive(stream: BinaryIO) -> Any:
    """Return the next message. Raises EOFError when the other side has closed the stream."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        raise EOFError
    [length] = HEADER.unpack(header)
    return unpack(stream.read(length))


def _to_json(message: object) -> str:
    return json.dumps(message, default=_encode, ensure_ascii=False)


def _frame(text: str) -> bytes:
    body = text.encode("utf-8", "surrogatepass")
    if len(body) > MAX_FRAME:
        raise ValueError
    return HEADER.pack(len(body)) + body


def _encode(value: object) -> object:
    kind = type(value).__name__
    match value:
        case bytes() | bytearray() | memoryview():
            return {_TAG: "bytes", _VALUE: bytes(value).hex()}
        case datetime() | date() | time():
            return {_TAG: kind, _VALUE: value.isoformat()}
        case Decimal() | UUID():
            return {_TAG: kind, _VALUE: str(value)}
        case _:
            return str(value)


def _decode(value: dict[str, Any]) -> Any:
    if value.keys() != {_TAG, _VALUE}:
        return value
    return _READERS[value[_TAG]](value[_VALUE])
