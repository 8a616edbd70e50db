"""Numbers as people write them: 1.234,56 or 1,234.56 or 1 234,56, with a currency or per cent sign."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from bot.library.documents.results import Cell, Sheet

_WRITTEN = re.compile(
    r"(?P<sign>[-+−]?)(?P<before>[^\w\s.,+−-]?)\s?"
    r"(?P<digits>[.,]?\d[\d.,’' \u00a0\u202f]*?)\s?(?P<after>[^\w\s.,+−-]?)"
)
_SPACED = r"[1-9]\d{0,2}(?: \d{3})+"
_PHONE_DIGITS = 9
"""Digits of a phone number in groups of three: a column where all cells have that many is text."""
_IN_PARENTHESES = re.compile(r"([^\w\s.,()+-]?)\s?\(([^()+-]+)\)")
"""A negative number as accountants write it: €(300.00)."""
MISSING_VALUES = frozenset(
    [
        "n/a",
        "#n/a",
        "n.a.",
        "na",
        "nan",
        "-nan",
        "<na>",
        "null",
        "#null!",
        "none",
        "nil",
        "-",
        "--",
        "–",
        "—",
        ".",
        "..",
        "...",
        "…",
        "?",
        "\\n",
        "(null)",
        "(blank)",
        "missing",
    ]
)
"""Words for a missing value, in lower case."""
_NUMBER = re.compile(
    r"[-+−]?[^\w\s]?\s?[\d.,’' \u00a0\u202f]*\d[\d.,]*(?:[eE][-+]?\d+)?\s?[^\w\s]?"
)
MAX_NAMED = 8


class Style(Enum):
    """The decimal mark of a notation; the value is a pattern for numbers in it."""

    POINT = re.compile(
        rf"(?:0|[1-9]\d*|[1-9]\d{{0,2}}(?:[,’'\u00a0\u202f]\d{{3}})+|{_SPACED})(?:\.\d+)?|\.\d+"
    )
    COMMA = re.compile(
        rf"(?:0|[1-9]\d*|[1-9]\d{{0,2}}(?:[.’'\u00a0\u202f]\d{{3}})+|{_SPACED})(?:,\d+)?|,\d+"
    )

    @property
    def mark(self) -> str:
        return "." if self is Style.POINT else ","

    def number(self, text: str) -> str:
        """Return a number in this style as Python and SQL write it."""
        sign = "-" if re.match(r"[^\d]*[-−(]", text) else ""
        digits = "".join(c for c in text if c.isdigit() or c == self.mark)
        return sign + digits.replace(",", ".")

    def sql(self, text: str) -> str:
        """Return SQL that does the same as `number` to the SQL expression `text`."""
        digits = f"replace(regexp_replace({text}, '[^0-9{self.mark}]', '', 'g'), ',', '.')"
        return (
            f"(CASE WHEN regexp_matches({text}, '^[^0-9]*[-−(]') THEN '-' ELSE '' END || {digits})"
        )


@dataclass(frozen=True, slots=True)
class Numerals:
    """Texts that are all numbers, and the `styles` that fit all of them."""

    texts: Sequence[str]
    styles: Sequence[Style]

    @property
    def is_clear(self) -> bool:
        return len(self.styles) == 1

    @property
    def has_marks(self) -> bool:
        """Whether a text has a point or comma, whose meaning depends on the style."""
        return any({".", ","} & {*text} for text in self.texts)

    @property
    def style(self) -> Style | None:
        """The style of the numbers; None where only other columns can tell."""
        return self.styles[0] if self.is_clear or not self.has_marks else None


def blank_missing_values(sheet: Sheet) -> Sheet:
    """Return the sheet with empty cells in place of "n/a" and the like in columns that are no text,
    and a note on them."""
    columns: list[Sequence[Cell]] = list(zip(*sheet.rows, strict=True))
    columns_named = []
    for at, cells in enumerate(columns):
        missing = [
            cell.strip() for cell in cells if isinstance(cell, str) and is_missing_value(cell)
        ]
        rest = [
            None if isinstance(cell, str) and is_missing_value(cell) else cell for cell in cells
        ]
        if missing and _is_typed(rest):
            columns[at] = rest
            columns_named.append(f"{sheet.columns[at]} ({', '.join(dict.fromkeys(missing))})")
    if not columns_named:
        return sheet
    note = f"Read as empty: {join_some(columns_named)}."
    return replace(sheet, rows=list(zip(*columns, strict=True)), notes=[*sheet.notes, note])


def is_missing_value(text: str) -> bool:
    """Return whether a text is a word for a missing value."""
    return text.strip().casefold() in MISSING_VALUES


def _is_typed(cells: Sequence[Cell]) -> bool:
    filled = [cell for cell in cells if cell not in (None, "")]
    return bool(filled) and not any(isinstance(cell, str) for cell in filled)


def is_sum(cells: Sequence[Cell]) -> bool:
    """Return whether the last cell is the sum of the cells above it, within 0.1 %, in any notation;
    False for zero, which proves nothing."""
    return any(
        last and math.isclose(sum(above), last, rel_tol=0.001) for *above, last in _readings(cells)
    )


def is_outlier(cells: Sequence[Cell]) -> bool:
    """Return whether the last cell is a number that neither sums up nor averages those above it: it
    is not their sum, and it is below the least or above the greatest."""
    readings = _readings(cells)
    within = any(min(above) <= last <= max(above) for *above, last in readings)
    return bool(readings) and not within and not is_sum(cells)


def _readings(cells: Sequence[Cell]) -> list[list[float]]:
    """Return the cells as numbers once for each style that fits all, blank cells as 0; an empty list
    where a cell is no number."""
    reading = numerals([str(cell or 0).strip() or "0" for cell in cells], units=False)
    return (
        [[float(style.number(text)) for text in reading.texts] for style in reading.styles]
        if reading
        else []
    )


def numerals(texts: Sequence[str], *, units: bool = True) -> Numerals | None:
    """Return the texts as `Numerals`; None when one of them is no number. They may all have the same
    currency or per cent sign; without `units`, any signs."""
    matches = [_WRITTEN.fullmatch(_with_minus(text)) for text in texts]
    written = [match for match in matches if match]
    if len(written) < len(matches):
        return None
    styles = [
        style for style in Style if all(style.value.fullmatch(match["digits"]) for match in written)
    ]
    signs = {match["before"] + match["after"] for match in written}
    if not styles or (units and (len(signs) > 1 or not all(map(_is_unit, signs)))):
        return None
    return None if units and _are_phones(written) else Numerals(texts, styles)


def is_written_number(text: str) -> bool:
    """Return whether a text is a number in some notation, with or without a currency."""
    return (text.isascii() and text.isdecimal()) or bool(_NUMBER.fullmatch(_with_minus(text)))


def _are_phones(found: Sequence[re.Match[str]]) -> bool:
    digits = [cell["digits"] for cell in found]
    spaced = any(" " in text for text in digits)
    return spaced and all(sum(map(str.isdigit, text)) == _PHONE_DIGITS for text in digits)


def _with_minus(text: str) -> str:
    """Return the text with a minus sign in place of accountants' parentheses."""
    return _IN_PARENTHESES.sub(r"-\1\2", text) if "(" in text else text


def _is_unit(sign: str) -> bool:
    return sign in {"", "%"} or (len(sign) == 1 and unicodedata.category(sign) == "Sc")


def missing_value_note(found: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Return a note on text columns that hold "NA" or the like: counts and groups will include it.

    `found` has, for each column name, these words and how often each occurs.
    """
    columns_named = [
        f"{name} ({', '.join(counts)} in {sum(counts.values()):,} rows)"
        for name, counts in found.items()
        if counts
    ]
    return [
        f"Kept as words that may mean that there is no value: {join_some(columns_named)}."
    ] * bool(columns_named)


def join_some(items: Sequence[str]) -> str:
    """Join the first 8 items of a note, and say how many more there are."""
    more = f" and {len(items) - MAX_NAMED} more" if len(items) > MAX_NAMED else ""
    return f"{', '.join(items[:MAX_NAMED])}{more}"
