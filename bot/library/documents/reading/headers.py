"""Header detection: does the first row of a table name its columns?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, time
from decimal import Decimal
from itertools import pairwise

from bot.library.documents.reading.numerals import is_missing_value, is_written_number
from bot.library.documents.results import Cell

_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?(?:[ T].*)?|\d{1,2}([-/.])\d{1,2}\1(?:\d{2}|\d{4})(?: .*)?"
    r"|\d{4}-?Q[1-4]|\d{1,2}:\d\d(?::\d\d.*)?"
)
_YEARS = range(1500, 2201)
_EXCEPTIONS = 0.1
"""Share of rows that may be exceptions to a rule."""
_MAX_ROWS = 200


@dataclass(frozen=True, slots=True)
class HeaderVerdict:
    """Whether the first row is a header. Without `is_sure`, the opposite is plausible as well."""

    is_header: bool
    is_sure: bool


def judge_header(
    first: Sequence[Cell], rows: Sequence[Sequence[Cell]], width: int
) -> HeaderVerdict:
    """Judge the first row by the rows below it. A header differs from its own columns: words above
    numbers, or years, dates or consecutive numbers above other values."""
    body = rows[:_MAX_ROWS]
    filled = {index: cell for index, cell in enumerate(first) if _kind(cell)}
    if len(filled) < max(1, width // 2):
        return HeaderVerdict(is_header=False, is_sure=False)
    words = [index for index, cell in filled.items() if _kind(cell) == "text"]
    numbers_or_dates = [index for index in filled if index not in words]
    differs = any(_differs_from(first[index], _column(body, index)) for index in words)
    if not numbers_or_dates:
        if differs or not body:
            return HeaderVerdict(is_header=True, is_sure=True)
        recurs = [index for index in words if first[index] in _column(body, index)]
        repeats = any(list(row[: len(first)]) == list(first) for row in body)
        return HeaderVerdict(
            is_header=repeats or not recurs, is_sure=repeats or _looks_like_names(first, body)
        )
    if _is_progression(first, body, numbers_or_dates):
        return HeaderVerdict(is_header=True, is_sure=bool(words))
    return HeaderVerdict(is_header=differs, is_sure=False)


def _kind(cell: Cell) -> str:
    """Return "text", "number" or "date"; "" for a blank cell."""
    if isinstance(cell, date | time):
        return "date"
    if isinstance(cell, int | float | Decimal) and not isinstance(cell, bool):
        return "number"
    text = str(cell if cell is not None else "").strip()
    if not text or is_missing_value(text):
        return ""
    if _DATE.fullmatch(text):
        return "date"
    return "number" if is_written_number(text) else "text"


def _column(rows: Sequence[Sequence[Cell]], index: int) -> list[Cell]:
    return [row[index] for row in rows if index < len(row) and _kind(row[index])]


def _differs_from(name: Cell, column: Sequence[Cell]) -> bool:
    """Return whether `name`, a word, is above numbers, dates, or codes that all have one form."""
    kinds = Counter(map(_kind, column))
    if kinds["text"] <= _EXCEPTIONS * len(column):
        return bool(column)
    forms = {
        re.sub(r"[a-z]", "a", re.sub(r"[A-Z]", "A", re.sub(r"\d", "0", str(c)))) for c in column
    }
    return len(forms) == 1 and len(set(map(str, column))) > 2 and not _has_form(name, forms)


def _has_form(name: Cell, forms: set[str]) -> bool:
    return re.sub(r"[a-z]", "a", re.sub(r"[A-Z]", "A", re.sub(r"\d", "0", str(name)))) in forms


def _looks_like_names(first: Sequence[Cell], body: Sequence[Sequence[Cell]]) -> bool:
    """Return whether a cell looks `like_this` and none below it does."""
    return any("_" in str(cell) for cell in first) and not any(
        "_" in str(cell) for row in body for cell in row
    )


def _is_progression(
    first: Sequence[Cell], body: Sequence[Sequence[Cell]], numbers_or_dates: Sequence[int]
) -> bool:
    """Return whether the numbers or dates of the first row are a progression, unlike those below."""
    steps = _steps(first, numbers_or_dates)
    below = sum(_steps(row, numbers_or_dates) == steps for row in body)
    return bool(steps) and below <= _EXCEPTIONS * len(body)


def _steps(row: Sequence[Cell], indexes: Sequence[int]) -> str:
    """Return "dates", "years" or "numbers" when these cells are a progression of such, else ""."""
    cells = [row[n] if n < len(row) else None for n in indexes]
    if all(_kind(cell) == "date" for cell in cells):
        texts = list(map(str, cells))
        return "dates" if len(set(texts)) == len(texts) else ""
    numbers = [_whole(cell) for cell in cells]
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers):
        return ""
    steps = {after - before for before, after in pairwise(known)}
    if all(year in _YEARS for year in known):
        is_ordered = all(step > 0 for step in steps) or all(step < 0 for step in steps)
        return "years" if is_ordered else ""
    return "numbers" if len(known) > 2 and len(steps) == 1 and steps.pop() > 0 else ""


def _whole(cell: Cell) -> int | None:
    """Return the cell as a whole number, if it is one or is text of digits only; else None."""
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    text = str(cell).strip()
    return int(text) if text.isascii() and text.isdecimal() else None
