"""Bytes to clean text."""

from __future__ import annotations

import codecs
import re

from charset_normalizer import from_bytes

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SAMPLE = 200_000
# What Western European languages write beside ASCII, without what stands for a letter of Central
# Europe or of another script in the code pages that are like Windows-1252.
_WESTERN = frozenset("ÄÖÜäöüßÀÂÇÈÉÊËÎÏÑÓÔÙÚÛàâçèéêëîïñóôùûáíúÁÍ€£§°²…“”„‘’‚–—«»·\xa0")


def clean(text: str) -> str:
    """`text` without control characters, and with lone surrogates replaced by U+FFFD."""
    if not text.isascii():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _CONTROL.sub("", text)


def decode(data: bytes) -> tuple[str, str]:
    """The clean text of `data` and the name of its encoding.

    A byte order mark decides, then UTF-8 if it fits, then Windows-1252 if only Western European
    letters come of it, then a guess from the first 200 kB, which short texts lead astray, then
    Windows-1252 with what does not fit replaced.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _normal(data.decode(encoding, "replace")), encoding.removesuffix("-sig")
    try:
        return _normal(data.decode("utf-8")), "utf-8"
    except UnicodeDecodeError:
        if _is_western(data[:_SAMPLE].decode("cp1252", "replace")):
            return _normal(data.decode("cp1252", "replace")), "cp1252"
        guess = from_bytes(data[:_SAMPLE]).best()
    encoding = guess.encoding if guess else "cp1252"
    return _normal(data.decode(encoding, "replace")), encoding


def _is_western(text: str) -> bool:
    special = [letter for letter in text if not letter.isascii()]
    return len(special) * 2 < len(text) and _WESTERN.issuperset(special)


def _normal(text: str) -> str:
    return clean(text).replace("\r\n", "\n").replace("\r", "\n")
