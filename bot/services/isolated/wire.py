"""Message format between the bot and an isolated process: JSON, preceded by its length.

Pickle would let a process that a hostile file has taken over run code in the bot.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, BinaryIO
from uuid import UUID

HEADER = struct.Struct(">Q")
"""The length of the message that follows, in bytes."""

_TAG, _VALUE = "$type", "$value"
_READERS: dict[str, Callable[[str], object]] = {
    "bytes": bytes.fromhex,
    "Decimal": Decimal,
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "UUID": UUID,
}


def pack(message: object) -> bytes:
    """Return `message` as one frame. Dates, Decimal, UUID and bytes keep their type; others become text."""
    text = json.dumps(message, default=_encode, ensure_ascii=False)
    body = text.encode("utf-8", "surrogatepass")
    return HEADER.pack(len(body)) + body


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
