"""Days as people write them: 31.12.2026, 31/12/2026 or 12/31/2026, with a time or without; months:
12.2026 or 12/2026."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from bot.parsing.results import Cell, Sheet

_ISO = re.compile(r"\d{4}-\d\d-\d\d")
_WRITTEN = re.compile(
    r"(?P<first>\d{1,2})(?P<mark>[./-])(?P<second>\d{1,2})(?P=mark)(?P<year>\d{4})"
    r"(?P<time>[ T]\d{1,2}:\d\d(?::\d\d)?)?"
)
_MONTH = re.compile(r"(?P<month>0?[1-9]|1[0-2])(?P<mark>[./])(?P<year>(?:19|20)\d\d)")
_ORDERS = (("second", "first"), ("first", "second"))
"""Which part is the month and which the day: the day first, and the month first."""


def with_dates(sheet: Sheet) -> Sheet:
    """`sheet` with ISO dates in the columns that hold nothing but days, however mixed the forms, or
    nothing but months.

    Where all of a column may mean two days, as 01/02/2026 does, it stays as it is; between points
    the day is always first. Its notes tell how they were read.
    """
    columns: list[Sequence[Cell]] = list(zip(*sheet.rows, strict=True))
    told = []
    for at, cells in enumerate(columns):
        if days := _days(cells) or _months(cells):
            written, day = next((c, d) for c, d in zip(cells, days, strict=True) if c != d)
            told.append(f"{sheet.columns[at]} ({written} as {day})")
            columns[at] = days
    if not told:
        return sheet
    note = f"Read as dates: {', '.join(told)}."
    return replace(sheet, rows=list(zip(*columns, strict=True)), notes=[*sheet.notes, note])


def _days(cells: Sequence[Cell]) -> list[str] | None:
    """The cells as ISO dates; None when something else is among them, nothing had to be changed,
    or there is more than one way to read them."""
    texts = [str(cell or "").strip() for cell in cells]
    written = [_WRITTEN.fullmatch(text) for text in texts]
    if not any(written) or not all(
        found or not text or _ISO.fullmatch(text)
        for text, found in zip(texts, written, strict=True)
    ):
        return None
    readings = [_read(texts, written, *order) for order in _ORDERS]
    fitting = [days for days in readings if days is not None]
    return fitting[0] if len(fitting) == 1 else None


def _months(cells: Sequence[Cell]) -> list[str] | None:
    """The cells as ISO months; None when something else is among them, or they may be numbers: of
    12.2026 beside 10.2026 nothing tells, of 01.2026 the zero does."""
    texts = [str(cell or "").strip() for cell in cells]
    written = [_MONTH.fullmatch(text) for text in texts]
    if not all(found or not text for text, found in zip(texts, written, strict=True)):
        return None
    if not any(found and (found[0][0] == "0" or found["mark"] == "/") for found in written):
        return None
    return [f"{found['year']}-{found['month']:0>2}" if found else "" for found in written]


def _read(
    texts: Sequence[str], written: Sequence[re.Match[str] | None], month: str, day: str
) -> list[str] | None:
    """The days in one of the orders; None when one of them is none in it."""
    days = []
    for text, found in zip(texts, written, strict=True):
        iso = _iso(found, month, day) if found else text
        if iso is None:
            return None
        days.append(iso)
    return days


def _iso(written: re.Match[str], month: str, day: str) -> str | None:
    if written["mark"] == "." and month == "first":
        return None
    try:
        found = date(int(written["year"]), int(written[month]), int(written[day]))
    except ValueError:
        return None
    return f"{found}{(written['time'] or '').replace('T', ' ')}"
