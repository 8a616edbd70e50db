"""Untrusted PNGs, which are checked before anything decodes them: a small file may unpack to
gigabytes."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

from bot.library.documents.results import Unwritable

MAX_PIXELS = 40_000_000
"""Limit of all images of a report; a decoded pixel may take 8 bytes."""

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_KEPT_CHUNKS = frozenset((b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"))
"""Chunks that are kept; profiles and texts, which may unpack to any size, are dropped."""


def plain_png(data: bytes, handle: str) -> tuple[bytes, int]:
    """Return the PNG with only its pixels, and their number. Raises Unwritable for a damaged image and
    for one with more than MAX_PIXELS."""
    chunks = list(_chunks(data, handle))
    kinds = [kind for kind, _ in chunks]
    if kinds[:1] != [b"IHDR"] or kinds[-1:] != [b"IEND"] or kinds.count(b"IHDR") > 1:
        raise _damaged(handle)
    width, height = struct.unpack_from(">II", chunks[0][1])
    if not width or not height:
        raise _damaged(handle)
    if width * height > MAX_PIXELS:
        raise Unwritable(
            f"{handle} is an image of {width:,} x {height:,} pixels; a report shows {MAX_PIXELS:,} at "
            "most. Ask for a smaller one."
        )
    encoded = (_encode_chunk(kind, body) for kind, body in chunks if kind in _KEPT_CHUNKS)
    return _SIGNATURE + b"".join(encoded), width * height


def _chunks(data: bytes, handle: str) -> Iterator[tuple[bytes, bytes]]:
    """Yield the chunks of a PNG up to its end. Raises Unwritable for a cut or altered chunk."""
    start, kind = len(_SIGNATURE), b""
    if not data.startswith(_SIGNATURE):
        raise _damaged(handle)
    while kind != b"IEND":
        if len(data) < start + 12:
            raise _damaged(handle)
        length, kind = struct.unpack_from(">I4s", data, start)
        chunk = data[start : start + length + 12]
        body = chunk[8:-4]
        if chunk != _encode_chunk(kind, body) or (kind == b"IHDR" and length != 13):
            raise _damaged(handle)
        yield kind, body
        start += len(chunk)


def _encode_chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I4s", len(body), kind) + body + struct.pack(">I", zlib.crc32(kind + body))


def _damaged(handle: str) -> Unwritable:
    return Unwritable(f"{handle} is no image that can be read: it is damaged, or no PNG.")
