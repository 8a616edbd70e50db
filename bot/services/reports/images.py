"""Untrusted PNGs, which are checked before anything decodes them: a small file may unpack to
gigabytes."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

from bot.core.errors import ToolError

MOST_PIXELS = 40_000_000
"""Limit of all images of a report; a decoded pixel may take 8 bytes."""

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_NEEDED = frozenset((b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"))
"""Chunks that are kept; profiles and texts, which may unpack to any size, are dropped."""


def plain_png(data: bytes, handle: str) -> tuple[bytes, int]:
    """Return the PNG with only its pixels, and their number. Raises ToolError for a damaged image and
    for one with more than MOST_PIXELS."""
    chunks = list(_chunks(data, handle))
    kinds = [kind for kind, _ in chunks]
    if kinds[:1] != [b"IHDR"] or kinds[-1:] != [b"IEND"] or kinds.count(b"IHDR") > 1:
        raise _damaged(handle)
    width, height = struct.unpack_from(">II", chunks[0][1])
    if not width or not height:
        raise _damaged(handle)
    if width * height > MOST_PIXELS:
        raise ToolError(
            f"{handle} is an image of {width:,} x {height:,} pixels; a report shows {MOST_PIXELS:,} at "
            "most. Ask for a smaller one."
        )
    kept = (_packed(kind, body) for kind, body in chunks if kind in _NEEDED)
    return _SIGNATURE + b"".join(kept), width * height


def _chunks(data: bytes, handle: str) -> Iterator[tuple[bytes, bytes]]:
    """Yield the chunks of a PNG up to its end. Raises ToolError for a cut or altered chunk."""
    at, kind = len(_SIGNATURE), b""
    if not data.startswith(_SIGNATURE):
        raise _damaged(handle)
    while kind != b"IEND":
        if len(data) < at + 12:
            raise _damaged(handle)
        length, kind = struct.unpack_from(">I4s", data, at)
        whole = data[at : at + length + 12]
        body = whole[8:-4]
        if whole != _packed(kind, body) or (kind == b"IHDR" and length != 13):
            raise _damaged(handle)
        yield kind, body
        at += len(whole)


def _packed(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I4s", len(body), kind) + body + struct.pack(">I", zlib.crc32(kind + body))


def _damaged(handle: str) -> ToolError:
    return ToolError(f"{handle} is no image that can be read: it is damaged, or no PNG.")
