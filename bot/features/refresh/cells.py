"""Cells of recorded tables, and the same cells in the tables of repeated calls.

A column is found by its name, a row by the cells that name it. Where it is not clear which row is
meant there is no value: never that of another row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from bot.library.tracing.findings import Place
from bot.library.tracing.outputs import Cell, Output, ShownRow, ShownTable
from bot.library.tracing.writing import NUMBERS_OF_THINGS, value_of
from bot.text.translation import Text

GONE = Text("its row is no longer there")
CUT = Text("its row is not among the rows that are shown now")
DOUBLED = Text("several rows have that name now")
OTHER_SHAPE = Text("the result has another shape now")
_LETTER = re.compile(r"[^\W\d_]")
_LONGEST_NAME = 80  # characters of a column that a place keeps


class Missing(Exception):
    """A figure has no value now. `why` is a part of a sentence; it may name the {tool}."""

    def __init__(self, why: Text) -> None:
        super().__init__(why.english)
        self.why = why


def cell_at(place: Place, output: Output) -> Cell | None:
    """Return the cell at a place of an output; None if the output shows none there."""
    single = output.figure
    if single and single.line == place.line:
        return single
    for table in output.tables:
        names = [name[:_LONGEST_NAME] for name in table.columns]
        row = table.row_on(place.line)
        if row and names.count(place.column) == 1:
            return table.cell(row, names.index(place.column))
    return None


def renewed(cell: Cell, before: Sequence[ShownTable], now: Sequence[ShownTable]) -> Cell:
    """Return the same cell of a repeated table. `before` and `now` are the parts of the table that
    outputs showed. Raises Missing."""
    own = next(part for part in before if part.output.call_id == cell.output.call_id)
    rows = {row.number: row for part in before if part.columns == own.columns for row in part.rows}
    names = _names(cell, own.columns, rows, is_whole=len(rows) >= _total(own))
    parts = [part for part in now if {cell.column, *names} <= {*part.columns}]
    if not parts or not (names or _total(parts[0]) == 1):
        raise Missing(OTHER_SHAPE)
    shown = {row.number: (part, row) for part in parts for row in part.rows}
    same = [(part, row) for part, row in shown.values() if _has(names, part.columns, row)]
    if len(same) == 1:
        part, row = same[0]
        return part.cell(row, part.columns.index(cell.column))
    raise Missing(DOUBLED if same else GONE if len(shown) >= _total(parts[0]) else CUT)


def _names(
    cell: Cell, columns: Sequence[str], rows: Mapping[int, ShownRow], *, is_whole: bool
) -> dict[str, str]:
    """Return the cells that name the row of a cell, by column: words first, and as few as no other
    row has; but all that may be names where not all rows were shown. Figures of a single row may
    have none. Raises Missing."""
    own = dict(zip(columns, rows[cell.row].cells, strict=True))
    others = [name for name in own if name != cell.column and columns.count(name) == 1]
    others.sort(key=lambda name: (not _LETTER.search(own[name]), not _is_name(name, own[name])))
    same_names = sum(_is_name(name, own[name]) for name in others)
    if len(rows) == 1:
        others = others[:same_names]
    for count in range(1 if is_whole else max(1, same_names), len(others) + 1):
        names = {name: own[name] for name in others[:count]}
        if sum(_has(names, columns, row) for row in rows.values()) == 1:
            return names
    if len(rows) == 1:
        return {}
    raise Missing(DOUBLED)


def _has(names: Mapping[str, str], columns: Sequence[str], row: ShownRow) -> bool:
    return all(row.cells[columns.index(name)] == text for name, text in names.items())


def _is_name(column: str, text: str) -> bool:
    return value_of(text) is None or bool(NUMBERS_OF_THINGS.search(column.strip()))


def _total(part: ShownTable) -> int:
    """Return how many rows a table has, as the output says it."""
    head = rf"^handle: {part.handle} · (?:rows [\d,]+–[\d,]+ of )?([\d,]+)"
    match = re.search(head, part.output.text, re.MULTILINE)
    return int(match[1].replace(",", "")) if match else len(part.rows)
