"""Numbers as people write them: 1.234,56 or 1,234.56 or 1 234,56, with a currency or a per cent sign."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from bot.parsing.results import Cell, Sheet

_WRITTEN = re.compile(
    r"(?P<sign>[-+]?)(?P<before>[^\w\s.,+-]?)\s?"
    r"(?P<digits>\d[\d.,’' \u00a0\u202f]*?)\s?(?P<after>[^\w\s.,+-]?)"
)
_SPACED = r"[1-9]\d{0,2}(?: \d{3})+"
_OF_A_PHONE = 9
"""Digits in groups of three that may be no number: where all cells have so many, none is one."""
_BELOW_ZERO = re.compile(r"([^\w\s.,()+-]?)\s?\(([^()+-]+)\)")
"""As accountants write it: €(300.00)."""
_NO_VALUE = frozenset(("n/a", "#n/a", "na", "nan", "null"))
_MOST_TOLD = 8


class _Style(Enum):
    """Which sign stands before the decimals; the value is a number written so."""

    POINT = re.compile(rf"(?:\d+|\d{{1,3}}(?:[,’'\u00a0\u202f]\d{{3}})+|{_SPACED})(?:\.\d+)?")
    COMMA = re.compile(rf"(?:\d+|\d{{1,3}}(?:[.’'\u00a0\u202f]\d{{3}})+|{_SPACED})(?:,\d+)?")

    def plain(self, digits: str) -> str:
        """`digits` as every program reads them."""
        whole, _, decimals = digits.partition("." if self is _Style.POINT else ",")
        return "".join(filter(str.isdigit, whole)) + (f".{decimals}" if decimals else "")


@dataclass(frozen=True, slots=True)
class _Numerals:
    """A column of numbers and empty cells (None); `styles` are those that fit all of them."""

    cells: Sequence[re.Match[str] | None]
    styles: Sequence[_Style]

    @property
    def is_clear(self) -> bool:
        return len(self.styles) == 1

    @property
    def style(self) -> _Style | None:
        """The style they are in; any, where no sign is among them that one of both means otherwise."""
        signs = any({".", ","} & {*cell["digits"]} for cell in self.cells if cell)
        return self.styles[0] if self.is_clear or not signs else None

    def plain(self, style: _Style) -> list[str]:
        return [
            cell["sign"].replace("+", "") + style.plain(cell["digits"]) if cell else ""
            for cell in self.cells
        ]

    def first(self) -> tuple[int, str]:
        """Where the first number is, and how it is written."""
        return next((at, cell[0]) for at, cell in enumerate(self.cells) if cell)


def with_blanks(sheet: Sheet) -> Sheet:
    """`sheet` with empty cells where a column of numbers, or of what is no text in a workbook, says
    n/a or the like. Its notes tell where."""
    columns: list[Sequence[Cell]] = list(zip(*sheet.rows, strict=True))
    told = []
    for at, cells in enumerate(columns):
        said = [str(cell).strip() for cell in cells if _is_none(cell)]
        rest = ["" if _is_none(cell) else cell for cell in cells]
        if said and (_is_typed(rest) if sheet.typed else _is_whole(rest) or _numerals(rest)):
            columns[at] = rest
            told.append(f"{sheet.columns[at]} ({', '.join(dict.fromkeys(said))})")
    if not told:
        return sheet
    note = f"Read as empty: {some_of(told)}."
    return replace(sheet, rows=list(zip(*columns, strict=True)), notes=[*sheet.notes, note])


def _is_none(cell: Cell) -> bool:
    return str(cell).strip().casefold() in _NO_VALUE


def _is_typed(cells: Sequence[Cell]) -> bool:
    filled = [cell for cell in cells if cell not in (None, "")]
    return bool(filled) and not any(isinstance(cell, str) for cell in filled)


def with_numbers(sheet: Sheet, *, commas_delimit: bool) -> Sheet:
    """`sheet` with plain numbers in the columns that hold nothing else, in one style and with one
    currency or per cent sign, or none. Its notes tell how they were read.

    What "1,234" is only the rest of the file can say; if nothing does, it is a thousand where commas
    also delimit, and stays text otherwise.
    """
    columns: list[Sequence[Cell]] = list(zip(*sheet.rows, strict=True))
    found = {at: each for at, cells in enumerate(columns) if (each := _numerals(cells))}
    said = {each.styles[0] for each in found.values() if each.is_clear}
    usual = said.pop() if len(said) == 1 else _Style.POINT if commas_delimit and not said else None
    told = []
    for at, each in found.items():
        style = each.style or usual
        if style is None:
            continue
        numbers = each.plain(style)
        row, written = each.first()
        if any(
            cell and cell[0] != number for cell, number in zip(each.cells, numbers, strict=True)
        ):
            columns[at] = numbers
            told.append(f"{sheet.columns[at]} ({written} as {numbers[row]})")
    if not told:
        return sheet
    note = f"Read as numbers: {some_of(told)}."
    return replace(sheet, rows=list(zip(*columns, strict=True)), notes=[*sheet.notes, note])


def adds_up(cells: Sequence[Cell]) -> bool:
    """Whether the last cell is the sum of those above it, but for rounding, however they are
    written; zero tells nothing."""
    return any(
        last and math.isclose(sum(above), last, rel_tol=0.001) for *above, last in _readings(cells)
    )


def stands_out(cells: Sequence[Cell]) -> bool:
    """Whether the last cell is a number that tells more than those above it: it is no sum of them,
    and beyond the least or the greatest, so that it is no average either."""
    readings = _readings(cells)
    within = any(min(above) <= last <= max(above) for *above, last in readings)
    return bool(readings) and not within and not adds_up(cells)


def _readings(cells: Sequence[Cell]) -> list[list[float]]:
    """The cells as numbers in each style that fits all, a blank one as 0; none where something else
    is among them."""
    found = [_WRITTEN.fullmatch(_signed(str(cell or 0).strip() or "0")) for cell in cells]
    written = [each for each in found if each]
    if len(written) < len(cells):
        return []
    return [
        [float(each["sign"] + style.plain(each["digits"])) for each in written]
        for style in _Style
        if all(style.value.fullmatch(each["digits"]) for each in written)
    ]


def _numerals(cells: Sequence[Cell]) -> _Numerals | None:
    """The cells as numbers, None when something else is among them, or nothing but digits."""
    texts = [str(cell or "").strip() for cell in cells]
    if _is_whole(cells):
        return None
    found: list[re.Match[str] | None] = []
    units: set[str] = set()
    styles = list(_Style)
    for text in texts:
        written = _WRITTEN.fullmatch(_signed(text))
        found.append(written)
        if written is not None:
            styles = [style for style in styles if style.value.fullmatch(written["digits"])]
            units.add(written["before"] + written["after"])
        if (text and not written) or not styles or len(units) > 1:
            return None
    if not units or not all(map(_is_unit, units)) or _are_phones(found):
        return None
    return _Numerals(found, styles)


def _are_phones(found: Sequence[re.Match[str] | None]) -> bool:
    digits = [cell["digits"] for cell in found if cell]
    spaced = any(" " in each for each in digits)
    return spaced and all(sum(map(str.isdigit, each)) == _OF_A_PHONE for each in digits)


def _is_whole(cells: Sequence[Cell]) -> bool:
    return "".join(str(cell or "").strip() for cell in cells).isdecimal()


def _signed(text: str) -> str:
    """With a sign where brackets stand for it."""
    return _BELOW_ZERO.sub(r"-\1\2", text) if "(" in text else text


def _is_unit(sign: str) -> bool:
    return sign in {"", "%"} or (len(sign) == 1 and unicodedata.category(sign) == "Sc")


def some_of(told: Sequence[str]) -> str:
    """The first of what a note tells of, and how many more there are."""
    more = f" and {len(told) - _MOST_TOLD} more" if len(told) > _MOST_TOLD else ""
    return f"{', '.join(told[:_MOST_TOLD])}{more}"
