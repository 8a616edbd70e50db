"""Location of a figure in the output of a repeated call, from its place in the recorded output.

Rows of a table are found by the texts of their other cells, lines of prose by their words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from bot.core.findings import Place
from bot.core.ids import HANDLE
from bot.evidence.characters import plain
from bot.evidence.indexing import IndexedOutput
from bot.evidence.mentions import Mention
from bot.evidence.notations import DIGITS
from bot.evidence.tables import Grid, Row

_NUMBER = re.compile(DIGITS)


class Missing(Enum):
    """Why a figure has no new value."""

    GONE = "gone"  # its row is no longer there
    UNCLEAR = "unclear"  # several places may be meant, or the output has another shape


@dataclass(frozen=True, slots=True)
class Located:
    """The value of a figure before and now."""

    before: float
    now: float


def locate(place: Place, before: IndexedOutput, now: IndexedOutput) -> Located | Missing:
    """Return the value at `place` of an output before, and of the same place now."""
    mention = mention_at(place, before)
    return _located(mention, before, now) if mention else Missing.UNCLEAR


def locate_value(value: float, before: IndexedOutput, now: IndexedOutput) -> Located | Missing:
    """Return a figure of an output before, whatever its sign, and its value now.

    Where it occurs more than once, all must have the same value now.
    """
    found = {_located(each, before, now) for each in _figures(before) if each.value == value}
    return found.pop() if len(found) == 1 else Missing.UNCLEAR


def column_at(
    place: Place, before: IndexedOutput, now: IndexedOutput
) -> tuple[list[float], list[float]] | None:
    """Return the figures of the column at a place, before and now; None if that is not clear."""
    mention = mention_at(place, before)
    number = _same_grid(before.grids[mention.grid], now) if mention and mention.grid >= 0 else None
    if mention is None or number is None or not now.grids[number].is_whole:
        return None
    old = _column(before, mention.grid, mention.column)
    return old, _column(now, number, mention.column)


def mention_at(place: Place, output: IndexedOutput) -> Mention | None:
    """Return the figure at a place; None if there is none, or several may be meant."""
    found = []
    for each in _figures(output):
        text = output.entry.text[each.start : each.end]
        is_there = output.line_of(each.start) == place.line - 1 and text[:80] == place.text
        name = output.grids[each.grid].columns[each.column] if each.grid >= 0 else ""
        if is_there and name[:80] == (place.column or name[:80]):
            found.append(each)
    return found[0] if len(found) == 1 else None


def _figures(output: IndexedOutput) -> list[Mention]:
    """Return the figures as they are written, without those that the name of a column scales."""
    return [*(each for row in output.rows.values() for each in row), *output.prose]


def _located(mention: Mention, before: IndexedOutput, now: IndexedOutput) -> Located | Missing:
    found = (_in_line if mention.grid < 0 else _in_table)(mention, before, now)
    return found if isinstance(found, Missing) else Located(mention.signed, found.signed)


def _in_table(mention: Mention, before: IndexedOutput, now: IndexedOutput) -> Mention | Missing:
    """Return the figure of the row with the same texts in the one table with the same columns."""
    grid, number = before.grids[mention.grid], _same_grid(before.grids[mention.grid], now)
    if number is None:
        return Missing.UNCLEAR
    names, rows = _names(mention, before), now.grids[number].rows
    if not names and len(grid.rows) == len(rows) == 1:  # the one row of totals
        at = 0
    else:
        old = [n for n, each in enumerate(grid.rows) if _has(each, names)]
        new = [n for n, each in enumerate(rows) if _has(each, names)]
        if not new and now.grids[number].is_whole:
            return Missing.GONE
        if not names or len(old) != len(new):
            return Missing.UNCLEAR
        at = new[old.index(mention.row)]
    found = (each for each in now.rows.get((number, at), ()) if each.column == mention.column)
    return next(found, Missing.GONE)


def _same_grid(grid: Grid, output: IndexedOutput) -> int | None:
    """Return the number of the one table with the same columns."""
    same = [n for n, each in enumerate(output.grids) if each.columns == grid.columns]
    return same[0] if len(same) == 1 else None


def _names(mention: Mention, output: IndexedOutput) -> dict[int, str]:
    """Return the cells that name the row of a figure: its texts, else a number in the first cell."""
    cells = output.grids[mention.grid].rows[mention.row].cells
    sizes = {each.column: each.end - each.start for each in output.rows[mention.grid, mention.row]}
    others = {n: cell.text for n, cell in cells.items() if n != mention.column}
    texts = {n: text for n, text in others.items() if sizes.get(n, 0) < len(text.strip()) - 1}
    return texts or {n: text for n, text in others.items() if n == 0}


def _has(row: Row, names: dict[int, str]) -> bool:
    return all(n in row.cells and row.cells[n].text == text for n, text in names.items())


def _column(output: IndexedOutput, grid: int, column: int) -> list[float]:
    rows = (output.rows.get((grid, n), ()) for n in range(len(output.grids[grid].rows)))
    return [each.signed for row in rows for each in row if each.column == column]


def _in_line(mention: Mention, before: IndexedOutput, now: IndexedOutput) -> Mention | Missing:
    """Return the figure with the same number in the line with the same words."""
    lines, new_lines = before.entry.text.split("\n"), now.entry.text.split("\n")
    at = before.line_of(mention.start)
    words = _words(lines[at])
    old = [n for n, each in enumerate(lines) if _words(each) == words]
    new = [n for n, each in enumerate(new_lines) if _words(each) == words]
    if not new:
        return Missing.GONE
    if len(old) != len(new):
        return Missing.UNCLEAR
    line = new[old.index(at)]
    spans = [found.span() for found in _NUMBER.finditer(plain(lines[at]))]
    new_spans = [found.span() for found in _NUMBER.finditer(plain(new_lines[line]))]
    start, end = (each - before.starts[at] for each in (mention.start, mention.end))
    number = next((n for n, span in enumerate(spans) if start <= span[0] < end), None)
    if number is None or len(spans) != len(new_spans):
        return Missing.UNCLEAR
    first = now.starts[line] + new_spans[number][0]
    found = (each for each in now.prose if each.start <= first < each.end)
    return next(found, Missing.UNCLEAR)


def _words(line: str) -> str:
    """Return a line without its figures and handles."""
    return _NUMBER.sub("#", plain(HANDLE.sub("@", line)))
