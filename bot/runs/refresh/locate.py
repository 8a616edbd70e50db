"""Location of a figure in the output of a repeated call, from its place in the recorded output.

Rows of a table are found by the texts of their other cells, lines of prose by their words.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from bot.core.findings import Place
from bot.core.ids import HANDLE
from bot.runs.refresh.numbers import numbers, value_of, written_as

_LONGEST_LINE = 10_000
_NOTE = re.compile(r"[ \[-]|[a-z][a-z ]{0,30}: |.{0,200} · ")
"""The beginning of a line that is no row: "columns: …", "note: …", "tbl_… · 5 rows × 2 columns"."""
_CUT = re.compile(r"\[(?:rows|cut)\b")
"""The beginning of the line that says that an output shows only some of the rows."""


class Missing(Enum):
    """Why a figure has no new value."""

    GONE = "gone"  # its row is no longer there
    UNCLEAR = "unclear"  # several places may be meant, or the output has another shape


@dataclass(frozen=True, slots=True)
class Located:
    """The value of a figure before and now."""

    before: float
    now: float


@dataclass(frozen=True, slots=True)
class _Block:
    """A table in an output: its header and rows, and the line of the header."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    at: int


def locate(place: Place, before: str, now: str) -> Located | Missing:
    """Return the value at `place` of an output before, and of the same place now."""
    lines, new_lines = before.splitlines(), now.splitlines()
    if not 0 < place.line <= len(lines):
        return Missing.UNCLEAR
    block = _block_of(lines, place.line - 1)
    if block:
        found = _in_table(place, block, _blocks(new_lines))
        is_cut = any(_CUT.match(each) for each in new_lines)
        return Missing.UNCLEAR if found is Missing.GONE and is_cut else found
    return _in_line(place, lines, new_lines)


def locate_value(number: str, before: str, now: str) -> Located | Missing:
    """Return the value of a number that occurs once in an output before, and of its place now."""
    wanted = value_of(number)
    lines = before.splitlines()
    at = [
        n
        for n, line in enumerate(lines, 1)
        if any(abs(value_of(each[0]) or 0.0) == wanted for each in numbers(line))
    ]
    places = [locate(Place(call_id="", line=line, text=number), before, now) for line in at]
    found = {each for each in places if isinstance(each, Located)}
    if len({each.now for each in found}) == 1 and len(found) == len({*places}):
        return found.pop()
    return Missing.UNCLEAR


def columns_at(place: Place, before: str, now: str) -> tuple[list[float], list[float]]:
    """Return the figures of the column at a place, before and now; [] outside of tables."""
    lines = before.splitlines()
    block = _block_of(lines, place.line - 1) if 0 < place.line <= len(lines) else None
    index = place.line - 2 - block.at if block else -1
    column = _column(place, block, block.rows[index]) if block and index >= 0 else None
    same = [each for each in _blocks(now.splitlines()) if block and each.header == block.header]
    if block is None or column is None or len(same) != 1:
        return [], []
    return _figures(block, column), _figures(same[0], column)


def _figures(block: _Block, column: int) -> list[float]:
    values = (value_of(row[column]) for row in block.rows)
    return [each for each in values if each is not None]


def _in_table(place: Place, block: _Block, others: Sequence[_Block]) -> Located | Missing:
    index = place.line - 2 - block.at
    if not 0 <= index < len(block.rows):
        return Missing.UNCLEAR
    row = block.rows[index]
    column = _column(place, block, row)
    before = value_of(row[column]) if column is not None else None
    same = [each for each in others if each.header == block.header]
    if column is None or before is None or len(same) != 1:
        return Missing.UNCLEAR
    names = _names(place, row, column)
    if not names:  # figures alone: the one row of totals
        rows = same[0].rows if len(block.rows) == len(same[0].rows) == 1 else ()
        return _located(before, rows[0][column]) if rows else Missing.UNCLEAR
    old = [n for n, each in enumerate(block.rows) if _has(each, names)]
    new = [n for n, each in enumerate(same[0].rows) if _has(each, names)]
    if not new:
        return Missing.GONE
    if len(old) != len(new):
        return Missing.UNCLEAR
    return _located(before, same[0].rows[new[old.index(index)]][column])


def _located(before: float, text: str) -> Located | Missing:
    now = value_of(text)
    return Missing.GONE if now is None else Located(before, now)


def _column(place: Place, block: _Block, row: tuple[str, ...]) -> int | None:
    """Return the number of the figure's column: by its name, else by its text."""
    if block.header.count(place.column) == 1:
        return block.header.index(place.column)
    wanted = value_of(place.text)
    fits = [n for n, cell in enumerate(row) if cell == place.text or value_of(cell) == wanted]
    return fits[0] if len(fits) == 1 else None


def _names(place: Place, row: tuple[str, ...], column: int) -> dict[int, str]:
    """Return the cells that name a row: its texts, else the place's name, else the first cell."""
    texts = {n: cell for n, cell in enumerate(row) if n != column and value_of(cell) is None}
    if texts:
        return texts
    named = [n for n, cell in enumerate(row) if n != column and cell == place.row]
    first = [0] if column != 0 and len(row) > 1 and row[0].isdecimal() else []
    return {n: row[n] for n in (named or first)[:1]}


def _has(row: tuple[str, ...], names: dict[int, str]) -> bool:
    return all(row[n] == text for n, text in names.items())


def _in_line(place: Place, lines: list[str], new_lines: list[str]) -> Located | Missing:
    """Compare lines with the same words, in their order."""
    line = lines[place.line - 1]
    at = [n for n, each in enumerate(lines) if _words(each) == _words(line)]
    found = [each for each in new_lines if _words(each) == _words(line)]
    figures = [n for n, each in enumerate(numbers(line)) if _is(each[0], place.text)]
    if not found:
        return Missing.GONE
    if len(at) != len(found) or len(figures) != 1:
        return Missing.UNCLEAR
    now = numbers(found[at.index(place.line - 1)])[figures[0]][0]
    before = value_of(numbers(line)[figures[0]][0])
    return Missing.UNCLEAR if before is None else _located(before, now)


def _is(number: str, text: str) -> bool:
    value = value_of(number)
    return number in text or (value is not None and written_as(text, value) is not None)


def _words(line: str) -> str:
    """Return a line without its figures and handles."""
    plain = HANDLE.sub("@", line)
    for found in reversed(numbers(plain)):
        plain = f"{plain[: found.start()]}#{plain[found.end() :]}"
    return plain


def _blocks(lines: list[str]) -> list[_Block]:
    """Return all tables of an output."""
    found, at = list[_Block](), 0
    while at < len(lines):
        block = _block_from(lines, at)
        if block:
            found.append(block)
        at = at + 1 + len(block.rows) if block else at + 1
    return found


def _block_of(lines: list[str], at: int) -> _Block | None:
    """Return the table that has a line as a row; None if it is no row."""
    width = len(_cells(lines[at]))
    first = at
    while width > 1 and first > 0 and len(_cells(lines[first - 1])) == width:
        first -= 1
    return _block_from(lines, first) if first < at else None


def _block_from(lines: list[str], at: int) -> _Block | None:
    header = _cells(lines[at])
    if len(header) < 2 or any(value_of(cell) is not None for cell in header):
        return None
    end = at + 1
    while end < len(lines) and len(_cells(lines[end])) == len(header):
        end += 1
    rows = tuple(_cells(line) for line in lines[at + 1 : end])
    return _Block(header, rows, at) if rows else None


def _cells(line: str) -> tuple[str, ...]:
    """Return the cells of a line of CSV; () for other lines."""
    if "," not in line or len(line) > _LONGEST_LINE or _NOTE.match(line):
        return ()
    return tuple(next(csv.reader([line]), []))
