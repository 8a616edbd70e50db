"""Replies of Redis in its protocol, RESP3, from bytes that may hold a part of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

NEWS = b">"
"""What begins with this is no reply to a command."""

_MAP = b"%"
_LISTS = b"*", b"~", NEWS, _MAP  # a line with their length, and that many replies
_TEXTS = b"$", b"=", b"!"  # a line with their length, and that many bytes
_ERRORS = b"-", b"!"
_VALUES: dict[bytes, Callable[[bytes], Any]] = {
    b"$": bytes,
    b"=": lambda text: text[4:],  # after its format: "txt:"
    b"+": bytes,
    b":": int,
    b"(": int,
    b",": float,
    b"#": b"t".__eq__,
    b"_": lambda _nothing: None,
}


class Incomplete(Exception):
    """The bytes end within a reply, which ends no sooner than after `needed` bytes."""

    def __init__(self, needed: int) -> None:
        super().__init__(needed)
        self.needed = needed


def reply_at(data: bytes, at: int, error: Callable[[str], Exception]) -> tuple[Any, int]:
    """Return the reply at index `at`, and the index behind it.

    Texts are bytes, maps are dicts, sets are lists; what Redis refused is what `error` makes of its
    text. Raises Incomplete, and ValueError for what is no reply.
    """
    end = data.find(b"\r\n", at)
    if end < 0:
        raise Incomplete(len(data) + 1)
    kind, value, at = data[at : at + 1], data[at + 1 : end], end + 2
    if kind in _TEXTS or kind in _LISTS:
        size = int(value)
        if size < 0:
            return None, at
        if kind in _LISTS:
            return _list_at(data, at, size, is_map=kind == _MAP, error=error)
        if len(data) < at + size + 2:
            raise Incomplete(at + size + 2)
        value, at = data[at : at + size], at + size + 2
    if kind in _ERRORS:
        return error(value.decode(errors="replace")), at
    if kind not in _VALUES:
        raise ValueError(f"no reply of Redis: {kind!r}")
    return _VALUES[kind](value), at


def _list_at(
    data: bytes, at: int, size: int, *, is_map: bool, error: Callable[[str], Exception]
) -> tuple[Any, int]:
    parts = list[Any]()
    for _ in range(2 * size if is_map else size):
        part, at = reply_at(data, at, error)
        parts.append(part)
    return (dict(zip(parts[::2], parts[1::2], strict=True)) if is_map else parts), at
