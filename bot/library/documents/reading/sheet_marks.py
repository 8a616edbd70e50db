"""Properties of worksheet cells beside their values: merged, hidden, formulas without a value."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO

from bot.library.documents.results import Cell, Unreadable

_TAG = rb"<(?:\w{1,20}:)?"
_WITHIN_TAG = rb"[^<>]{0,300}"
"""A bounded stretch inside one tag, so that a hostile file cannot make the patterns slow."""
_MERGED = re.compile(
    _TAG + rb"mergeCell\b" + _WITHIN_TAG + rb'\bref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"'
)
_ROW = re.compile(_TAG + rb"row\b" + _WITHIN_TAG + rb"\bhidden=\"(?:1|true)\"")
_COLUMN = re.compile(_TAG + rb"col\b" + _WITHIN_TAG + rb"\bhidden=\"(?:1|true)\"")
_WITHOUT_VALUE = re.compile(
    _TAG
    + rb"c\b(?!"
    + _WITHIN_TAG
    + rb'\bt="str")'
    + _WITHIN_TAG
    + rb'\br="([A-Z]{1,3})\d+"'
    + _WITHIN_TAG
    + rb">"
    + _TAG
    + rb"f\b(?:"
    + _WITHIN_TAG
    + rb"/>|"
    + _WITHIN_TAG
    + rb">[^<]*</(?:\w{1,20}:)?f>)(?:"
    + _TAG
    + rb"v\s?/>|"
    + _TAG
    + rb"v></(?:\w{1,20}:)?v>)?</(?:\w{1,20}:)?c>"
)
_USUAL_CELL = re.compile(
    rb'<c r="([A-Z]{1,3})(\d{1,7})"(?: s="(\d{1,6})")?(?: t="([a-zA-Z]{1,20})")? ?/?>'
)
_ANY_CELL = re.compile(rb"<(?:\w{1,20}:)?(row|c)\b(" + _WITHIN_TAG + rb")>")
_ATTRIBUTE = re.compile(rb"""\b([rst])\s{0,20}=\s{0,20}["']([A-Za-z0-9]{1,20})["']""")
_PLACE = re.compile(rb"([A-Z]{0,3})(\d{1,7})")
_FORMULA = (
    rb"(?:" + _TAG + rb"f\b[^<>]{0,300}>(?:[^<]{0,9000}</(?:\w{1,20}:)?f>)?)?" + _TAG + rb"v>"
)
_ERROR = re.compile(rb'\bt="e"' + _WITHIN_TAG + rb">" + _FORMULA + rb"([^<]{1,30})<")
_LONG_NUMBER = re.compile(
    rb'\br="([A-Z]{1,3})(\d{1,7})"(?!'
    + _WITHIN_TAG
    + rb'\bt="[a-mo-z])'
    + _WITHIN_TAG
    + rb">"
    + _FORMULA
    + rb"(-?[1-9]\d{15,300})<"
)
"""Whole numbers that floating point may round."""
_LONG_DIGITS = re.compile(rb">-?[1-9]\d{15}")
_FORMULA_TAG = re.compile(_TAG + rb"f\b")
_NUMBER_KINDS = frozenset([b"", b"n"])
_CHUNK = 4_000_000
_MAX_MERGED = 100_000
_MAX_FILLED = 1_000_000
_MAX_HEADER_ROWS = 5
"""Rows of a header below its first one."""


@dataclass(frozen=True, slots=True)
class Range:
    """A rectangle of cells, both corners included, counted from 1."""

    top: int
    left: int
    bottom: int
    right: int


@dataclass(slots=True)
class SheetMarks:
    """Findings about one worksheet; `without_value` counts formulas without a value by column, from 1.

    `styled` has the lines of number cells by column and style, for the styles that were asked for;
    `long_numbers` those that floating point may round, by line and column. `lines` and `columns` are
    the last that have a cell.
    """

    merged: list[Range] = field(default_factory=list)
    hidden_rows: int = 0
    hidden_columns: int = 0
    without_value: Counter[int] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    styled: dict[tuple[int, int], array[int]] = field(default_factory=dict)
    long_numbers: dict[tuple[int, int], int] = field(default_factory=dict)
    lines: int = 0
    columns: int = 0


def read_marks(source: IO[bytes], styles: Collection[int] = ()) -> SheetMarks:
    """Read the XML of a worksheet in parts that end with a tag, and find the cells of these styles.
    Raises Unreadable when too many of its cells are merged."""
    marks = SheetMarks()
    numbers = _ColumnNumbers()
    for part in _chunks(source):
        _add_cells(marks, numbers, part, styles)
        if b"hidden=" in part:
            marks.hidden_rows += len(_ROW.findall(part))
            marks.hidden_columns += len(_COLUMN.findall(part))
        if _FORMULA_TAG.search(part):
            marks.without_value.update(map(_column_number, _WITHOUT_VALUE.findall(part)))
        for left, top, right, bottom in _MERGED.findall(part) if b"mergeCell" in part else ():
            marks.merged.append(
                Range(int(top), _column_number(left), int(bottom), _column_number(right))
            )
        if len(marks.merged) > _MAX_MERGED:
            raise Unreadable(
                f"More than {_MAX_MERGED:,} cells are merged. Ask for a CSV file of it."
            )
    return marks


def _add_cells(
    marks: SheetMarks, numbers: _ColumnNumbers, part: bytes, styles: Collection[int]
) -> None:
    """Add what is said of each cell of a part."""
    known = {b"%d" % style: style for style in styles}
    for letters, line, style, kind in _cells(part, marks):
        column, place = numbers[letters], int(line)
        if place > marks.lines:
            marks.lines = place
        if style in known and kind in _NUMBER_KINDS:
            marks.styled.setdefault((column, known[style]), array("I")).append(place)
    marks.columns = max(numbers.values(), default=0)
    if b't="e"' in part:
        marks.errors.update(error.decode("utf-8", "replace") for error in _ERROR.findall(part))
    for letters, line, digits in _LONG_NUMBER.findall(part) if _LONG_DIGITS.search(part) else ():
        marks.long_numbers[int(line), numbers[letters]] = int(digits)


class _ColumnNumbers(dict[bytes, int]):
    """The numbers of the columns that were asked for, by their letters."""

    def __missing__(self, letters: bytes) -> int:
        number = self[letters] = _column_number(letters)
        return number


def _cells(part: bytes, marks: SheetMarks) -> Iterable[tuple[bytes, bytes, bytes, bytes]]:
    """Return letters, line, style and type of the cells that a part has."""
    usual = _USUAL_CELL.findall(part)
    if len(usual) == part.count(b"<c ") + part.count(b"<c>") + part.count(b":c "):
        return usual
    return _unusual_cells(part, marks)


def _unusual_cells(part: bytes, marks: SheetMarks) -> Iterator[tuple[bytes, bytes, bytes, bytes]]:
    """Yield the same of cells that name their attributes in another order, or not their places."""
    line, column = marks.lines, 0
    for tag, text in _ANY_CELL.findall(part):
        attributes = dict(_ATTRIBUTE.findall(text))
        place = _PLACE.fullmatch(attributes.get(b"r", b""))
        if tag == b"row":
            line, column = int(place[2]) if place else line + 1, 0
            continue
        if place and place[1]:
            line, column = int(place[2]), _column_number(place[1])
        else:
            column += 1
        yield _letters(column), b"%d" % line, attributes.get(b"s", b""), attributes.get(b"t", b"")


def _letters(column: int) -> bytes:
    letters = b""
    while column:
        column, at = divmod(column - 1, 26)
        letters = b"%c" % (65 + at) + letters
    return letters


def _chunks(source: IO[bytes]) -> Iterator[bytes]:
    buffer = b""
    while chunk := source.read(_CHUNK):
        buffer += chunk
        end = max(buffer.rfind(b"</row>"), buffer.rfind(b":row>"), buffer.rfind(b"<mergeCell "))
        if end > 0:
            yield buffer[:end]
            buffer = buffer[end:]
    yield buffer


def _column_number(letters: bytes) -> int:
    """Return the number of a column: 1 for A, 27 for AA."""
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def fill_merged(rows: Mapping[int, list[Cell]], merged: Sequence[Range]) -> Counter[int]:
    """Give the rows of a merged range the value that is kept in its first one: a group that is named
    once counts for all its rows. Return how many cells were filled of each column, from 1. `rows` has
    those below the header that have values of their own. Raises Unreadable when there are too many."""
    filled: Counter[int] = Counter()
    lines, looked_at = sorted(rows), 0
    for area in merged:
        value = _cell(rows, area.top, area.left)
        if value is None:
            continue
        within = lines[bisect_right(lines, area.top) : bisect_right(lines, area.bottom)]
        looked_at += len(within)
        if looked_at > _MAX_FILLED:
            raise Unreadable(
                f"More than {_MAX_FILLED:,} rows are merged. Ask for a CSV file of it."
            )
        for line in within:
            if _cell(rows, line, area.left) is None:
                row = rows[line]
                row.extend([None] * (area.left - len(row)))
                row[area.left - 1] = value
                filled[area.left] += 1
    return filled


def find_header_rows(rows: dict[int, list[Cell]], merged: list[Range]) -> tuple[int, int] | None:
    """Return the first and last line of a header in several rows, which is where a merged range groups
    some of the columns, or is as tall as the header; None where there is none."""
    width = max(map(len, rows.values()), default=0)
    first = next((line for line, row in sorted(rows.items()) if _filled_cells(row) > 1), None)
    if first is None:
        return None
    groups = [area for area in merged if 1 < area.right - area.left + 1 < width]
    last = first
    while last <= first + _MAX_HEADER_ROWS and (
        below := [area.bottom + 1 for area in groups if area.top <= last <= area.bottom]
    ):
        last = max(below)
    tall = max((area.bottom for area in merged if first <= area.top <= last), default=first)
    if last < tall <= first + _MAX_HEADER_ROWS and (
        last > first or _are_names_above_values(rows, first, tall)
    ):
        last = tall
    while last > first and last not in rows:
        last -= 1
    return (first, last) if first < last <= first + _MAX_HEADER_ROWS else None


def _are_names_above_values(rows: Mapping[int, list[Cell]], first: int, last: int) -> bool:
    """Whether these rows have nothing but text, and the one below them has something else."""
    names = [cell for line in range(first, last + 1) for cell in rows.get(line, [])]
    below = rows.get(last + 1, [])
    return all(isinstance(cell, str | None) for cell in names) and not all(
        isinstance(cell, str | None) for cell in below
    )


def join_header(rows: dict[int, list[Cell]], merged: list[Range], first: int, last: int) -> str:
    """Make one row of the rows of a header, as "2025 H1", in the last of them. Return a note on it."""
    width = max(map(len, rows.values()))
    names: list[list[str]] = [[] for _ in range(width)]
    count = sum(_filled_cells(rows.get(line, [])) > 0 for line in range(first, last + 1))
    for line in range(first, last + 1):
        row = [*rows.get(line, []), *[None] * width][:width]
        for area in merged:
            if area.top <= line <= area.bottom:
                value = _cell(rows, area.top, area.left)
                row[area.left - 1 : area.right] = [value] * (min(area.right, width) - area.left + 1)
        for name, cell in zip(names, row, strict=True):
            text = str(cell).strip() if cell is not None else ""
            if text and text not in name[-1:]:
                name.append(text)
        rows.pop(line, None)
    rows[last] = [" ".join(name) or None for name in names]
    return f"{count} rows up to line {last} were read as one header."


def _cell(rows: Mapping[int, list[Cell]], line: int, column: int) -> Cell:
    row = rows.get(line, [])
    return row[column - 1] if column <= len(row) else None


def _filled_cells(row: list[Cell]) -> int:
    return sum(cell is not None for cell in row)
