"""Decoding of bytes into clean text."""

from __future__ import annotations

import codecs
import re
from itertools import islice

import chardet

from bot.library.documents.cells import clean

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE = 200_000
# Letters of Western European languages beside ASCII, except those whose bytes are letters of Central
# Europe or of another script in code pages similar to Windows-1252.
_WESTERN = frozenset("ÄÖÜäöüßÀÂÇÈÉÊËÎÏÑÓÔÙÚÛàâçèéêëîïñóôùûáíúÁÍ€£©®™§°²µ…“”„‘’‚–—«»·\xa0")
_CODE_PAGES = (
    "cp1252",
    "cp1250",
    "cp1251",
    "cp1253",
    "cp1254",
    "cp1255",
    "cp1256",
    "cp1257",
    "cp1258",
    "iso8859-2",
    "iso8859-5",
    "iso8859-7",
    "iso8859-9",
    "koi8-r",
    "koi8-u",
    "cp866",
    "cp850",
    "cp852",
    "cp874",
    "mac-roman",
    "cp932",
    "euc_jis_2004",
    "gb18030",
    "big5",
    "cp949",
)
SUPERSCRIPTS = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
"""Superscripts, so that 10⁶ does not become 106."""


def shortened(text: str, most: int = 200) -> str:
    """Return the text on one line, cut to `most` characters with … at the end."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most]}…"


def decode(data: bytes) -> tuple[str, str]:
    """Return the clean text of `data` and a note on its encoding ("" for Unicode).

    A byte order mark decides, then UTF-8 if it fits, then Windows-1252 if the result has only
    Western European letters, then a guess by the frequency of letters. The note quotes a few words
    of the result and says when the encoding may be wrong: È in Windows-1252 is Č in Windows-1250.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _clean_lines(data.decode(encoding, "replace")), ""
    try:
        return _clean_lines(data.decode("utf-8")), ""
    except UnicodeDecodeError:
        sample = data[:_SAMPLE]
    if sample.isascii():
        sample = b"\n".join(line for line in data.splitlines() if not line.isascii())[:_SAMPLE]
    if _is_western(sample.decode("cp1252", "replace")):
        text = _clean_lines(data.decode("cp1252", "replace"))
        is_sure = sample.decode("cp1252", "replace") == sample.decode("cp1250", "replace")
        how = ", for example in" if is_sure else " by its letters, which may be wrong"
        return text, f"Encoding: cp1252{how}: {_example_words(text)}."
    detected = chardet.detect(
        sample,
        compat_names=False,
        include_encodings=_CODE_PAGES,
        no_match_encoding="cp1252",
        empty_input_encoding="cp1252",
    )
    encoding = detected["encoding"] or "cp1252"
    text = _clean_lines(data.decode(encoding, "replace"))
    return text, f"Encoding: {encoding} by its letters, which may be wrong: {_example_words(text)}."


def _example_words(text: str) -> str:
    """Return the first words that are not ASCII, which show a reader whether the encoding is right."""
    foreign_words = (word for word in re.finditer(r"\S+", text) if not word[0].isascii())
    return " ".join(word[0] for word in islice(foreign_words, 3))[:100]


def _is_western(text: str) -> bool:
    special = [letter for letter in text if not letter.isascii()]
    return len(special) * 2 < len(text) and _WESTERN.issuperset(special)


def _clean_lines(text: str) -> str:
    return clean(text).replace("\r\n", "\n").replace("\r", "\n")
