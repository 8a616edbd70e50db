"""Number formats of workbooks: per cent signs, currencies, units and leading zeros are in them and not
in the values."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import time, timedelta
from functools import cache
from itertools import islice
from xml.etree import ElementTree

from typing_extensions import override

from bot.library.documents.cells import cell_text
from bot.library.documents.reading.numerals import join_some
from bot.library.documents.results import Cell, Sheet

_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|\[\$(?P<currency>[^\]-]*)[^\]]*\]|\[(?P<option>[^\]]*)\]'
    r"|[_*].|(?P<general>General)|(?P<plain>.)",
    re.DOTALL,
)
_MAX_SIGN = 20


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """What a format shows beside the digits of a number: `sign`, "%" or a currency or unit, and whether
    it is before them. `template` has a 0 for each digit of a number that is shown with leading zeros,
    between other letters."""

    sign: str = ""
    is_before: bool = False
    template: tuple[str, ...] = ()

    @property
    def is_currency(self) -> bool:
        """Whether the sign is one of a currency, or its code."""
        has_sign = any(unicodedata.category(character) == "Sc" for character in self.sign)
        return has_sign or bool(re.fullmatch(r"[A-Z]{3}", self.sign))

    def shown(self, number: float) -> str:
        """Return a number as people see it; one with leading zeros in all its digits."""
        if self.template and number.is_integer():
            return self._with_zeros(int(number))
        text = cell_text(_plain(number))
        if self.sign == "%":
            return f"{_hundredfold(number)}%"
        if len(self.sign) == 1:
            return f"{self.sign}{text}"
        return f"{self.sign} {text}" if self.is_before else f"{text} {self.sign}"

    def _with_zeros(self, number: int) -> str:
        places = self.template.count("0")
        digits = f"{abs(number):0{places}}"
        rest = iter(digits[len(digits) - places + 1 :])
        first, digits_shown = digits[: len(digits) - places + 1], ""
        for part in self.template:
            digits_shown += (first or next(rest)) if part == "0" else part[1:]
            first = "" if part == "0" else first
        return f"{'-' * (number < 0)}{digits_shown}"


class FormattedNumber(float):
    """A number of a cell whose format shows more than its digits."""

    __slots__ = ("form",)
    form: NumberFormat

    @override
    def __str__(self) -> str:
        return self.form.shown(self)


def formatted(number: float, form: NumberFormat) -> FormattedNumber:
    """Return the number with its format."""
    cell = FormattedNumber(number)
    cell.form = form
    return cell


def read_formats(styles: bytes) -> dict[int, NumberFormat]:
    """Return the formats that show more than digits, by the number of the cell style that has them. A
    part that is no XML has none."""
    try:
        root = ElementTree.fromstring(styles)  # noqa: S314 - expat bounds entities, and loads none
    except ElementTree.ParseError:
        return {}
    custom = {
        number_format.get("numFmtId"): number_format.get("formatCode", "")
        for number_format in root.iterfind(".//{*}numFmt")
    }
    formats = {}
    for style, cell_format in enumerate(root.iterfind("{*}cellXfs/{*}xf")):
        number = cell_format.get("numFmtId", "0")
        code = custom.get(number) or _built_in(number)
        if form := parse(code):
            formats[style] = form
    return formats


def _built_in(number: str) -> str:
    """Return a built-in format, "" for those of currencies: Excel shows them in the currency of the
    person who looks."""
    return {"9": "0%", "10": "0.00%"}.get(number, "")


@cache
def parse(code: str) -> NumberFormat | None:
    """Return what a format such as `0.0%`, `#,##0 "€"` or `00000` shows beside digits."""
    digits, sign, template = "", "", list[str]()
    is_before = is_conditional = False
    for token in _first_section(code):
        kind, text = token.lastgroup, token[token.lastgroup] if token.lastgroup else ""
        if kind == "plain" and text in "0#?.,%/Ee":
            digits += text
            template.append(text)
        elif kind == "plain" and text.lower() in "ymdhsg":
            return None  # a date or time
        elif kind == "general":
            digits += "#"
        elif kind == "option":
            is_conditional = is_conditional or text[:1] in "<>="
        elif kind is not None:
            sign += text
            is_before = is_before or (not digits and bool(_sign(text)))
            template.append(f" {text}")
    if is_conditional or "@" in digits:
        return None
    is_code = digits.count("0") > 1 and not digits.strip("0")
    if "%" in digits:
        return NumberFormat("%")
    sign = _sign(sign)
    number_format = NumberFormat(sign, is_before, tuple(template) if is_code else ())
    is_scaled = digits.rstrip("?#0").endswith(",") and digits.endswith(",")
    if is_scaled and not number_format.is_currency:
        return None
    return number_format if sign or is_code else None


def _first_section(code: str) -> Iterator[re.Match[str]]:
    """Yield the tokens of a format up to its first semicolon: the others are for negative numbers, zero
    and text."""
    for token in _TOKEN.finditer(code):
        if token["plain"] == ";":
            return
        yield token


def _sign(text: str) -> str:
    """Return the currency or unit in the letters beside the digits, without brackets and marks."""
    sign = " ".join(text.split()).strip(" ()-+.,:/'#")[:_MAX_SIGN]
    has_letters = any(c.isalpha() or unicodedata.category(c) in {"Sc", "So"} for c in sign)
    return sign if has_letters else ""


def show_formats(sheet: Sheet) -> Sheet:
    """Return the sheet with plain values in place of formatted numbers: 10 where 0.1 is shown as 10%,
    and text where leading zeros are. Notes say what else was shown; a column of several currencies or
    units gets another that has them."""
    names, columns, changes, notes = list[str](), list[Sequence[Cell]](), list[str](), list[str]()
    by_column = list(zip(*sheet.rows, strict=True))
    if not any(FormattedNumber in set(map(type, cells)) for cells in by_column):
        return sheet
    for name, cells in zip(sheet.columns, by_column, strict=True):
        names.append(name)
        if FormattedNumber not in set(map(type, cells)):
            columns.append(cells)
            continue
        forms = [_form_of(cell) for cell in cells]
        used = Counter(form.sign for form in forms if form)
        if _has_zeros(cells):
            columns.append([_text(cell) for cell in cells])
        elif len(used) == 1:
            columns.append([_value(cell, used) for cell in cells])
            changes.extend(_change(name, cells, columns[-1]))
        else:
            columns.append([_value(cell, used) for cell in cells])
            named = {form.sign: form for form in forms if form and form.sign}
            kind = "currency" if all(unit.is_currency for unit in named.values()) else "unit"
            counts = join_some([f"{sign or 'none'} ({n:,})" for sign, n in used.most_common()])
            if len(named) > 1:
                other = unused_name(f"{name} {kind}", [*sheet.columns, *names])
                names.append(other)
                columns.append([form.sign or None if form else None for form in forms])
                notes.append(f"{name} has more than one {kind}: {counts}. Column {other} has them.")
            else:
                what = "per cent sign, and 10% is 0.1 here" if "%" in used else kind
                notes.append(f"{name} has numbers with and without a {what}: {counts}.")
    if changes:
        notes.insert(0, f"Read as numbers: {join_some(changes)}.")
    rows = list(zip(*columns, strict=True))
    return replace(sheet, columns=names, rows=rows, notes=[*sheet.notes, *notes])


def show_durations(sheet: Sheet) -> Sheet:
    """Return the sheet with durations as text, 30:05:00, and a column that has them in seconds."""
    names, columns, added = list[str](), list[Sequence[Cell]](), list[str]()
    by_column = list(zip(*sheet.rows, strict=True)) or [()] * len(sheet.columns)
    for name, cells in zip(sheet.columns, by_column, strict=True):
        names.append(name)
        types = set(map(type, cells))
        if timedelta not in types:
            columns.append(cells)
            continue
        columns.append([cell_text(cell) if isinstance(cell, timedelta) else cell for cell in cells])
        if types <= {timedelta, time, type(None)}:
            names.append(unused_name(seconds_name(name), [*sheet.columns, *names]))
            columns.append([_seconds(cell) for cell in cells])
            added.append(names[-1])
    if not added:
        return sheet
    rows = list(zip(*columns, strict=True))
    return replace(sheet, columns=names, rows=rows, notes=[*sheet.notes, duration_note(added)])


def seconds_name(name: str) -> str:
    """Return the name of the column that has the durations of another in seconds."""
    return f"{name} seconds"


def duration_note(names: Sequence[str]) -> str:
    """Return a note on the columns that have durations in seconds."""
    return f"Durations are text as the file shows them, and numbers in: {join_some(names)}."


def _seconds(cell: Cell) -> Cell:
    if isinstance(cell, timedelta):
        return _plain(cell.total_seconds())
    if isinstance(cell, time):
        return _plain(cell.hour * 3600 + cell.minute * 60 + cell.second + cell.microsecond / 1e6)
    return None


def _form_of(cell: Cell) -> NumberFormat | None:
    """Return the format of a number; None for other cells."""
    if isinstance(cell, FormattedNumber):
        return cell.form
    is_number = isinstance(cell, int | float) and not isinstance(cell, bool)
    return NumberFormat() if is_number else None


def _has_zeros(cells: Sequence[Cell]) -> bool:
    """Return whether a cell is shown with leading zeros, or with other letters between its digits."""
    return any(
        isinstance(cell, FormattedNumber)
        and bool(cell.form.template)
        and cell.form.shown(cell) != cell_text(_plain(cell))
        for cell in cells
    )


def _text(cell: Cell) -> Cell:
    return str(cell) if isinstance(cell, FormattedNumber) else cell


def _value(cell: Cell, used: Mapping[str, int]) -> Cell:
    if not isinstance(cell, FormattedNumber):
        return cell
    return _hundredfold(cell) if used.keys() == {"%"} else _plain(cell)


def _change(name: str, cells: Sequence[Cell], values: Sequence[Cell]) -> list[str]:
    """Return how the first number with a sign was read."""
    found = (
        f"{name} ({cell} as {cell_text(value)})"
        for cell, value in zip(cells, values, strict=True)
        if isinstance(cell, FormattedNumber) and cell.form.sign
    )
    return list(islice(found, 1))


def unused_name(name: str, names: Sequence[str]) -> str:
    """Return a name that is none of `names`, in any case."""
    taken = {name.casefold() for name in names}
    while name.casefold() in taken:
        name += "_2"
    return name


def _plain(number: float) -> int | float:
    number = float(number)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _hundredfold(number: float) -> int | float:
    hundredfold = float(f"{number * 100:.12g}")
    return int(hundredfold) if hundredfold.is_integer() else hundredfold
