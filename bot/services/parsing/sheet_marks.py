"""Properties of worksheet cells beside their values: merged, hidden, formulas without a value."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO

from bot.services.parsing.results import Cell

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
_CHUNK = 4_000_000
_MAX_MERGED = 20_000
_MAX_FILLED = 1_000_000


@dataclass(frozen=True, slots=True)
class Range:
    """A rectangle of cells, both corners included, counted from 1."""

    top: int
    left: int
    bottom: int
    right: int


@dataclass(slots=True)
class SheetMarks:
    """Findings about one worksheet; `without_value` counts formulas without a value by column, from 1."""

    merged: list[Range] = field(default_factory=list)
    hidden_rows: int = 0
    hidden_columns: int = 0
    without_value: Counter[int] = field(default_factory=Counter)


def read_marks(source: IO[bytes]) -> SheetMarks:
    """Return the marks in the XML of a worksheet, which is read in parts that end with a tag."""
    marks = SheetMarks()
    for part in _chunks(source):
        marks.hidden_rows += len(_ROW.findall(part))
        marks.hidden_columns += len(_COLUMN.findall(part))
        marks.without_value.update(map(_column_number, _WITHOUT_VALUE.findall(part)))
        for left, top, right, bottom in _MERGED.findall(part):
            if len(marks.merged) < _MAX_MERGED:
                marks.merged.append(
                    Range(int(top), _column_number(left), int(bottom), _column_number(right))
                )
    return marks


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


def fill_merged(rows: dict[int, list[Cell]], merged: list[Range]) -> None:
    """Copy the value of each merged range, which is in its first row, to all its rows, in place: a
    group that is named once counts for all its rows."""
    left = _MAX_FILLED
    for each in merged:
        value = _cell(rows, each.top, each.left)
        for line in range(each.top + 1, each.bottom + 1):
            row = rows.get(line)
            if value is None or row is None or left <= 0:
                break
            row.extend([None] * (each.left - len(row)))
            if row[each.left - 1] is None:
                row[each.left - 1] = value
            left -= 1


def find_header_rows(rows: dict[int, list[Cell]], merged: list[Range]) -> tuple[int, int] | None:
    """Return the first and last line of a header in several rows, in which a merged range groups
    some columns; None where there is no such header."""
    width = max(map(len, rows.values()), default=0)
    first = next((line for line, row in sorted(rows.items()) if _filled_cells(row) > 1), None)
    if first is None:
        return None
    last = first
    while any(
        each.top == last and each.bottom == last and 1 < each.right - each.left + 1 < width
        for each in merged
    ):
        last += 1
    return (first, last) if last > first and last in rows else None


def join_header(rows: dict[int, list[Cell]], merged: list[Range], first: int, last: int) -> None:
    """Replace the rows of a header by one row of names like "2025 H1" in its last line, in place."""
    width = max(map(len, rows.values()))
    names: list[list[str]] = [[] for _ in range(width)]
    for line in range(first, last + 1):
        row = [*rows.get(line, []), *[None] * width][:width]
        for each in merged:
            if each.top <= line <= each.bottom:
                value = _cell(rows, each.top, each.left)
                row[each.left - 1 : each.right] = [value] * (min(each.right, width) - each.left + 1)
        for name, cell in zip(names, row, strict=True):
            text = str(cell).strip() if cell is not None else ""
            if text and text not in name[-1:]:
                name.append(text)
        rows.pop(line, None)
    rows[last] = [" ".join(name) or None for name in names]


def _cell(rows: dict[int, list[Cell]], line: int, column: int) -> Cell:
    row = rows.get(line, [])
    return row[column - 1] if column <= len(row) else None


def _filled_cells(row: list[Cell]) -> int:
    return sum(cell is not None for cell in row)
