"""Tables as people read them: what one holds, its cells, its changes, and what to ask of it next."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..findings import Findings
from ..outputs import Table, sheet_of
from ..words import listed, number, shown
from .columns import date_column, default_measure, identifies, invites, is_level
from .query import Query
from .times import MONTHS

MOST_COLUMNS = 12


def holds_nothing(result: Table) -> bool:
    """No rows, or one without a value."""
    return not any(cell for row in result.rows for cell in row)


def describe(found: Findings, table: Table) -> None:
    """What a table holds, from its profile."""
    names = ", ".join(f"`{column}`" for column in list(table.columns)[:MOST_COLUMNS])
    rows = f"{table.total:,} row{'s' * (table.total != 1)}"
    if (more := len(table.columns) - MOST_COLUMNS) > 0:
        names += f" and {more} more"
    found.summary = f"{table.source} has **{rows}** and **{len(table.columns)} column{'s' * (len(table.columns) != 1)}**: {names}."
    for column, (distinct, low, high) in list(table.ranges.items())[:8]:
        sign = table.units.get(column, "")
        name = f"`{column}`{f' (in {sign})' if sign else ''}"
        found.points.append(
            f"{name}: {f'always {shown(low)}' if low else 'empty'}"
            if low == high
            else f"{name}: {shown(low)} to {shown(high)}, {shown(distinct)} different values"
        )
    found.caption = "The first rows"
    found.columns = table.header[:MOST_COLUMNS]
    found.rows = [
        row[:MOST_COLUMNS] for row in rows_shown(table.header, table.rows[:5], texts=table.texts)
    ]


def tell_sheets(found: Findings, tables: list[Table]) -> None:
    """What each sheet of a workbook holds."""
    book = tables[0].source.rpartition(" · ")[0]
    found.summary = f"{book} has **{len(tables)} sheets**:"
    found.points += [rows_and_columns(sheet_of(table), table) for table in tables]
    found.source(book, tables[0].url, "Its sheets and their columns.")
    found.follow_ups = [f"What is in the sheet {sheet_of(table)}?" for table in tables[:3]]


def rows_and_columns(name: str, table: Table) -> str:
    """How much a table of that name holds, and of what, in one line."""
    columns = listed([f"`{column}`" for column in list(table.columns)[:MOST_COLUMNS]])
    return f"**{name}**: {table.total:,} row{'s' * (table.total != 1)} with {columns}"


def follow_ups(found: Findings, table: Table, query: Query) -> None:
    """Questions that the columns of the table invite."""
    told = [each.column for each in query.filters]
    texts = [
        column
        for column in table.texts
        if column not in (*query.groups, *told) and invites(column, query.measure, table)
    ]
    asked = [f"And by {column.replace('_', ' ').rstrip('?')}?" for column in texts[:2]]
    elsewhere = any(each.dated and each.of != date_column(table) for each in query.filters)
    if date_column(table) and not (query.period or query.listing or elsewhere):
        asked.append("How did it develop over time, as a line chart?")
    elif query.told_by and not query.chart:
        asked.append("Can you show this as a chart?")
    found.follow_ups = asked[:3]


def whole_questions(table: Table) -> list[str]:
    """Questions that this table answers, for somebody who asked another."""
    sums = (
        c for c in table.columns if table.numeric(c) and not (identifies(c) or is_level(c, table))
    )
    measure = default_measure(table) or next(sums, None)
    texts = [column for column in table.texts if invites(column, measure, table)]
    rows = "rows" if table.handle else table.source
    what = f"Number of {rows}"
    if measure:
        what = f"{'Average' if is_level(measure, table) else 'Total'} {measure}"
    asked = [f"{what} by {column}".replace("_", " ") for column in texts[:2]]
    return [*asked, *([f"{what} by month".replace("_", " ")] if date_column(table) else [])]


def rows_shown(
    header: list[str], rows: list[list[str]], *, texts: Sequence[str] = (), alike: bool = False
) -> list[list[str]]:
    """The cells as people read them, with the same decimals all down a column; with `alike`, in
    all columns but the first. Texts, as "1.10.2", and what only names a row, as an order's number,
    stay as they are."""
    names = [column in texts or identifies(column) for column in header]
    columns = [list(cells) for cells in zip(*rows, strict=True)]
    fractions = [
        any("." in shown(cell) and number(cell) is not None for cell in column)
        for column in columns
    ]
    if alike:
        fractions[1:] = [any(fractions[1:])] * len(fractions[1:])
    return [
        [
            cell if name and cell else shown(cell, decimals=2 if fraction else 0)
            for cell, fraction, name in zip(row, fractions, names, strict=True)
        ]
        for row in rows
    ]


def side_by_side(header: list[str], rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Rows of two labels and a figure as one row a first label, one column a second."""
    names = sorted({row[1] for row in rows})
    cells = {(row[0], row[1]): row[2] for row in rows}
    firsts = list(dict.fromkeys(row[0] for row in rows))
    wide = [[first, *(cells.get((first, name), "") for name in names)] for first in firsts]
    return [header[0], *(name or "(none)" for name in names)], wide


def month_in_words(label: str) -> str:
    """A month as people write it."""
    month = re.fullmatch(r"(\d{4})-(\d\d)", label)
    return f"{MONTHS[int(month[2]) - 1].title()} {month[1]}" if month else label
