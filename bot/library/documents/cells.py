"""Cells of tables as text, for models, for files and for the readers of files; names and values as SQL."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime, time, timedelta

import regex

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_CONTROL_BYTES = bytes(n for n in range(128) if _CONTROL.match(chr(n)))

_FORMULA_SIGNS = frozenset("=+-@")
_FIRST_VISIBLE = regex.compile(r"[\s\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]*+(.)")
_NUMBER = re.compile(r"[-+]?[\d.,]+([eE][-+]?\d+)?%?")


def clean(text: str) -> str:
    """Return `text` without control characters and with lone surrogates replaced by U+FFFD."""
    try:
        data = text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        data = text.encode()
    # Searching the bytes is ten times faster than the pattern, and few texts have control characters.
    has_any = len(data.translate(None, _CONTROL_BYTES)) < len(data)
    return _CONTROL.sub("", text) if has_any else text


def is_like_formula(text: str) -> bool:
    """Return whether a spreadsheet program could run `text` as a formula.

    Such programs skip blanks and characters that nobody sees, and read a full-width sign as the
    plain one.
    """
    if text.startswith(("\t", "\r", "\n")):
        return True
    first = _FIRST_VISIBLE.match(text)
    return first is not None and unicodedata.normalize("NFKC", first[1])[0] in _FORMULA_SIGNS


def without_formula(text: str) -> str:
    """Return `text` with an apostrophe before what a spreadsheet would run; numbers stay numbers."""
    return f"'{text}" if is_like_formula(text) and not _NUMBER.fullmatch(text) else text


def cell_text(cell: object) -> str:
    """Return a cell as text: ISO dates, hours of durations, floats without binary noise, bytes in hex, None as ""."""
    match cell:
        case None:
            text = ""
        case bool():
            text = "true" if cell else "false"
        case float():
            text = repr(float(f"{cell:.15g}"))
        case datetime():
            midnight = cell.time() == time() and cell.tzinfo is None
            text = str(cell.date()) if midnight else cell.isoformat(sep=" ")
        case timedelta():
            text = _duration_text(cell)
        case bytes():
            text = cell.hex()
        case _:
            text = clean(str(cell))
    return text


def _duration_text(duration: timedelta) -> str:
    """Return a duration in hours, minutes and seconds: 30:05:00, and not "1 day, 6:05:00"."""
    seconds, micros = divmod(abs(duration) // timedelta(microseconds=1), 1_000_000)
    minutes, seconds = divmod(seconds, 60)
    sign = "-" if duration < timedelta() else ""
    fraction = f".{micros:06}".rstrip("0") if micros else ""
    return f"{sign}{minutes // 60}:{minutes % 60:02}:{seconds:02}{fraction}"


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return CSV with a header (RFC 4180, but lines end in \\n), without a final line feed."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([cell_text(column) for column in columns])
    writer.writerows([cell_text(cell) for cell in row] for row in rows)
    return out.getvalue().rstrip("\n")


def quoted_name(name: str) -> str:
    """Return `name` as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: object) -> str:
    """Return the text of `value` as an SQL literal."""
    return "'" + str(value).replace("'", "''") + "'"
