"""Numbers as people write them: 1.234,56 or 1,234.56 or 1 234,56, with a currency or a per cent sign."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from bot.services.parsing.results import Cell, Sheet

_WRITTEN = re.compile(
    r"(?P<sign>[-+−]?)(?P<before>[^\w\s.,+−-]?)\s?"
    r"(?P<digits>[.,]?\d[\d.,’' \u00a0\u202f]*?)\s?(?P<after>[^\w\s.,+−-]?)"
)
_SPACED = r"[1-9]\d{0,2}(?: \d{3})+"
_OF_A_PHONE = 9
"""Digits in groups of three that may be no number: where all cells have so many, none is one."""
_BELOW_ZERO = re.compile(r"([^\w\s.,()+-]?)\s?\(([^()+-]+)\)")
"""As accountants write it: €(300.00)."""
NO_VALUE = frozenset(
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
"""Words that say that there is no value, in lower case."""
_NUMBER = re.compile(
    r"[-+−]?[^\w\s]?\s?[\d.,’' \u00a0\u202f]*\d[\d.,]*(?:[eE][-+]?\d+)?\s?[^\w\s]?"
)
MOST_TOLD = 8


class Style(Enum):
    """Which sign stands before the decimals; the value is a number written so."""

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
        """Return a number in this style as every program reads it."""
        sign = "-" if re.match(r"[^\d]*[-−(]", text) else ""
        digits = "".join(c for c in text if c.isdigit() or c == self.mark)
        return sign + digits.replace(",", ".")

    def sql(self, text: str) -> str:
        """Return SQL that does to the SQL `text` what `number` does."""
        digits = f"replace(regexp_replace({text}, '[^0-9{self.mark}]', '', 'g'), ',', '.')"
        return (
            f"(CASE WHEN regexp_matches({text}, '^[^0-9]*[-−(]') THEN '-' ELSE '' END || {digits})"
        )


@dataclass(frozen=True, slots=True)
class Numerals:
    """Numbers as they are written; `styles` are those that fit all of them."""

    texts: Sequence[str]
    styles: Sequence[Style]

    @property
    def is_clear(self) -> bool:
        return len(self.styles) == 1

    @property
    def has_marks(self) -> bool:
        """Whether a sign is among them that one of both styles means otherwise."""
        return any({".", ","} & {*text} for text in self.texts)

    @property
    def style(self) -> Style | None:
        """The style they are in, None where the rest of the file has to tell."""
        return self.styles[0] if self.is_clear or not self.has_marks else None


def with_blanks(sheet: Sheet) -> Sheet:
    """A sheet of a workbook with empty cells where a column that is no text says n/a or the like. Its
    notes tell where."""
    columns: list[Sequence[Cell]] = list(zip(*sheet.rows, strict=True))
    told = []
    for at, cells in enumerate(columns):
        said = [str(cell).strip() for cell in cells if says_nothing(str(cell))]
        rest = ["" if says_nothing(str(cell)) else cell for cell in cells]
        if said and _is_typed(rest):
            columns[at] = rest
            told.append(f"{sheet.columns[at]} ({', '.join(dict.fromkeys(said))})")
    if not told:
        return sheet
    note = f"Read as empty: {some_of(told)}."
    return replace(sheet, rows=list(zip(*columns, strict=True)), notes=[*sheet.notes, note])


def says_nothing(text: str) -> bool:
    """Whether a text says that there is no value."""
    return text.strip().casefold() in NO_VALUE


def _is_typed(cells: Sequence[Cell]) -> bool:
    filled = [cell for cell in cells if cell not in (None, "")]
    return bool(filled) and not any(isinstance(cell, str) for cell in filled)


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
    found = numerals([str(cell or 0).strip() or "0" for cell in cells], units=False)
    return (
        [[float(style.number(each)) for each in found.texts] for style in found.styles]
        if found
        else []
    )


def numerals(texts: Sequence[str], *, units: bool = True) -> Numerals | None:
    """The texts as numbers, with one currency or per cent sign or none; None when something else is
    among them. With `units` off any sign will do."""
    found = [_WRITTEN.fullmatch(_signed(text)) for text in texts]
    written = [each for each in found if each]
    if len(written) < len(found):
        return None
    styles = [
        style for style in Style if all(style.value.fullmatch(each["digits"]) for each in written)
    ]
    signs = {each["before"] + each["after"] for each in written}
    if not styles or (units and (len(signs) > 1 or not all(map(_is_unit, signs)))):
        return None
    return None if units and _are_phones(written) else Numerals(texts, styles)


def is_written_number(text: str) -> bool:
    """Whether a text is a number in some notation, with or without a currency."""
    return (text.isascii() and text.isdecimal()) or bool(_NUMBER.fullmatch(_signed(text)))


def _are_phones(found: Sequence[re.Match[str]]) -> bool:
    digits = [cell["digits"] for cell in found]
    spaced = any(" " in each for each in digits)
    return spaced and all(sum(map(str.isdigit, each)) == _OF_A_PHONE for each in digits)


def _signed(text: str) -> str:
    """With a sign where brackets stand for it."""
    return _BELOW_ZERO.sub(r"-\1\2", text) if "(" in text else text


def _is_unit(sign: str) -> bool:
    return sign in {"", "%"} or (len(sign) == 1 and unicodedata.category(sign) == "Sc")


def doubtful_words(found: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Tell of columns of words with "NA" or the like, `found` and counted in them: in a count, or a
    group, it is one of the words."""
    told = [
        f"{name} ({', '.join(counts)} in {sum(counts.values()):,} rows)"
        for name, counts in found.items()
        if counts
    ]
    return [f"Kept as words that may mean that there is no value: {some_of(told)}."] * bool(told)


def some_of(told: Sequence[str]) -> str:
    """The first of what a note tells of, and how many more there are."""
    more = f" and {len(told) - MOST_TOLD} more" if len(told) > MOST_TOLD else ""
    return f"{', '.join(told[:MOST_TOLD])}{more}"
