"""Aggregates: sums, means and counts of the columns and rows of a table, computed once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from bot.core.findings import Operation
from bot.evidence.characters import folded
from bot.evidence.mentions import Mention
from bot.evidence.tables import Grid

_MOST = 3_000
_MOST_RUN_ROWS = 24
_MOST_GROUPS = 30
_MOST_CELLS = 3_000


@dataclass(slots=True)
class Series:
    """A column of a table of which every filled cell is one figure, by row.

    `scale` is what the name of the column multiplies them by: "capex_crore".
    """

    grid: int
    column: int
    figures: dict[int, Mention]
    scale: float = 1.0


@dataclass(slots=True)
class Aggregate:
    """A value computed from a table.

    `value` has no sign; `is_whole` if it is that of a whole column; `is_weak` if it is one of so many that only a figure of four digits or more
    may be told from chance by it.
    """

    value: float
    is_negative: bool
    operation: Operation
    operands: Sequence[Mention]
    of: str = ""
    is_weak: bool = False
    is_whole: bool = False

    @property
    def is_total(self) -> bool:
        """Whether it is the sum of a whole column."""
        return self.operation is Operation.SUM and not self.is_weak and len(self.operands) > 0

    def is_column_of(self, mention: Mention) -> bool:
        """Return whether it was computed from the column that a figure is in."""
        first = self.operands[0]
        return (first.grid, first.column) == (mention.grid, mention.column)


def aggregates(series: list[Series], grids: list[Grid]) -> Iterator[Aggregate]:
    """Yield the aggregates of all tables, at most 3,000."""
    left = _MOST
    for number, grid in enumerate(grids):
        columns = [each for each in series if each.grid == number]
        for each in _of_grid(grid, columns):
            if not (left := left - 1):
                return
            yield each


def _of_grid(grid: Grid, columns: list[Series]) -> Iterator[Aggregate]:
    if grid.is_profile or len(grid.rows) * len(grid.columns) > _MOST_CELLS:
        return
    numeric = [each for each in columns if _is_numeric(grid, each)]
    yield from _row_sums(grid, numeric)
    if not grid.is_whole or len(grid.rows) < 2:
        return
    first = [next(iter(each.figures.values())) for each in numeric[:1]]
    is_full = bool(numeric) and len(numeric[0].figures) == len(grid.rows)
    yield Aggregate(len(grid.rows), False, Operation.COUNT, first, "rows", is_whole=is_full)
    for each in numeric:
        for found in _column(grid, each):
            yield found
            if each.scale != 1:
                yield replace(found, value=found.value * each.scale)
    yield from _groups(grid, numeric)


def _is_numeric(grid: Grid, series: Series) -> bool:
    filled = (row for row, each in enumerate(grid.rows) if _filled(each.cells.get(series.column)))
    return all(row in series.figures for row in filled)


def _filled(cell: object) -> bool:
    return bool(cell and getattr(cell, "text", "").strip() not in ("", "null", "-", "–"))


def _sum(
    operation: Operation, operands: Sequence[Mention], of: str, *, weak: bool = False
) -> Aggregate:
    total = sum(each.signed for each in operands)
    if operation is Operation.MEAN:
        total /= len(operands)
    return Aggregate(abs(total), total < 0, operation, operands, of, weak)


def _column(grid: Grid, series: Series) -> Iterator[Aggregate]:
    name, found = grid.columns[series.column], list(series.figures.values())
    if len(found) < 2:
        return
    yield replace(_sum(Operation.SUM, found, name), is_whole=True)
    yield replace(_sum(Operation.MEAN, found, name), is_whole=True)
    for sign in "-", "":
        same = [each for each in found if (each.sign == "-") == (sign == "-")]
        if 1 < len(same) < len(found):
            yield _sum(Operation.SUM, same, name)
    if 3 < len(found) <= _MOST_RUN_ROWS:
        sums = [0.0, *accumulate(each.signed for each in found)]
        for start in range(len(found)):
            for end in range(start + 2, len(found) + 1):
                total = sums[end] - sums[start]
                run = found[start:end]
                yield Aggregate(abs(total), total < 0, Operation.SUM, run, name, is_weak=True)


def _row_sums(grid: Grid, numeric: list[Series]) -> Iterator[Aggregate]:
    if len(numeric) < 2:
        return
    for row in range(len(grid.rows)):
        found = [each.figures[row] for each in numeric if row in each.figures]
        if len(found) > 1:
            yield _sum(Operation.SUM, found, "the row", weak=True)


def _groups(grid: Grid, numeric: list[Series]) -> Iterator[Aggregate]:
    """Yield counts and sums of rows that share a text in a column, and the number of texts."""
    numbers = {each.column for each in numeric}
    for column, name in enumerate(grid.columns):
        if column in numbers:
            continue
        rows = defaultdict(list)
        for number, row in enumerate(grid.rows):
            if _filled(cell := row.cells.get(column)) and cell:
                rows[folded(cell.text)].append(number)
        if not 1 < len(rows) <= _MOST_GROUPS or len(rows) == len(grid.rows):
            continue
        yield Aggregate(len(rows), False, Operation.COUNT, (), f"different {name}")
        for text, members in rows.items():
            if len(members) < 2:
                continue
            yield Aggregate(len(members), False, Operation.COUNT, (), f"{name} = {text}")
            for each in numeric:
                found = [each.figures[row] for row in members if row in each.figures]
                if len(found) > 1:
                    yield _sum(Operation.SUM, found, f"{grid.columns[each.column]}, {text}")
                    yield _sum(Operation.MEAN, found, f"{grid.columns[each.column]}, {text}")
