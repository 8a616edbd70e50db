"""Puts the result of a query into sentences with its numbers."""

from __future__ import annotations

import re

from .columns import date_column
from .conditions import MONTHS, Filter
from .findings import Findings
from .outputs import Table
from .query import Query
from .sql import Statement
from .words import number, shown

COMPARED = {">": "over", ">=": "of at least", "<": "under", "<=": "of at most"}
MOST_POINTS = 5
MOST_ROWS = 20


def tell(found: Findings, result: Table, statement: Statement, query: Query, source: str) -> None:
    """Fill in summary, points and table from the rows that came back."""
    scope = _scope(query.filters)
    if not result.rows or all(not cell for row in result.rows for cell in row):
        found.summary = f"No rows of {source} match{scope or ' this'}."
        found.lower("The query found nothing; a name may be written differently in the data.")
        return
    if statement.value is None:
        found.summary = (
            f"Here are {len(result.rows)} of {result.total or len(result.rows):,} rows{scope}."
        )
    elif not statement.labels:
        value = shown(result.rows[0][-1])
        found.summary = f"The {statement.what}{scope} is **{value}**."
        return
    else:
        _tell_groups(found, result, statement, query, scope)
    found.caption = _capital(f"{statement.what}{_by(statement)}{scope}")
    found.columns = [heading.replace("_", " ") for heading in result.header]
    found.rows = rows_shown(result.rows[:MOST_ROWS])
    if result.total > MOST_ROWS:
        found.gaps.append(f"The table shows {len(found.rows)} of {result.total:,} rows.")


def _tell_groups(
    found: Findings, result: Table, statement: Statement, query: Query, scope: str
) -> None:
    pairs = [(", ".join(row[:-1]), number(row[-1]) or 0.0, shown(row[-1])) for row in result.rows]
    ranked = sorted(pairs, key=lambda pair: -pair[1])
    (top, _, most), (bottom, _, least) = ranked[0], ranked[-1]
    if query.descending is False:
        found.summary = f"**{bottom}** has the lowest {statement.what}{scope}: **{least}**."
        ranked.reverse()
    elif query.period and query.descending is None:
        first, last = pairs[0], pairs[-1]
        found.summary = (
            f"The {statement.what} per {query.period}{scope} goes from **{first[2]}** ({first[0]}) to "
            f"**{last[2]}** ({last[0]}), with its peak of **{most}** in {top}."
        )
    else:
        found.summary = f"**{top}** has the highest {statement.what}{scope}: **{most}**."
        if len(ranked) > 1:
            found.summary += f" **{ranked[1][0]}** follows with {ranked[1][2]}."
    if len(pairs) > 1 and not query.limit:
        found.summary += f" There are {len(pairs)} groups; {bottom} is lowest with {least}."
    total = sum(value for _, value, _ in pairs)
    parts = statement.what.startswith(("total", "number")) and not query.limit and total > 0
    for name, value, words in ranked[:MOST_POINTS]:
        share = f" ({value / total:.0%})" if parts else ""
        found.points.append(f"{name}: **{words}**{share}")
    if parts:
        found.points.append(f"All together: **{shown(f'{total:.2f}')}**")


def describe(found: Findings, table: Table) -> None:
    """What a table holds, from its profile."""
    names = ", ".join(f"`{column}`" for column in list(table.columns)[:12])
    found.summary = f"{table.source} has **{table.total:,} rows** and **{len(table.columns)} columns**: {names}."
    for column, (distinct, low, high) in list(table.ranges.items())[:8]:
        found.points.append(
            f"`{column}`: {shown(low)} to {shown(high)}, {distinct} different values"
        )
    found.caption = "The first rows"
    found.columns = table.header
    found.rows = rows_shown(table.rows[:5])


def rows_shown(rows: list[list[str]]) -> list[list[str]]:
    """The cells as people read them, with the same decimals all down a column."""
    columns = [list(cells) for cells in zip(*rows, strict=True)]
    fractions = [
        any("." in shown(cell) and number(cell) is not None for cell in column)
        for column in columns
    ]
    return [
        [
            shown(cell, decimals=2 if fraction else 0)
            for cell, fraction in zip(row, fractions, strict=True)
        ]
        for row in rows
    ]


def follow_ups(found: Findings, table: Table, query: Query) -> None:
    """Questions that the columns of the table invite."""
    texts = [
        column
        for column in table.columns
        if not table.numeric(column) and not table.dated(column) and column not in query.groups
    ]
    asked = [f"And by {column.replace('_', ' ')}?" for column in texts[:2]]
    if date_column(table) and not query.period:
        asked.append("How did it develop over time, as a line chart?")
    elif not query.chart:
        asked.append("Can you show this as a chart?")
    found.follow_ups = asked[:3]


def _scope(filters: tuple[Filter, ...]) -> str:
    words = []
    for each in filters:
        values = [_value(each, value) for value in each.values]
        listed = " and ".join([", ".join(values[:-1]), values[-1]] if values[1:] else values)
        words.append(f"{_link(each)} {listed}")
    return f" {' '.join(words)}" if words else ""


def _link(each: Filter) -> str:
    if each.operator == "in":
        return "for"
    if each.operator == "not in":
        return "without"
    return f"with {each.column} {COMPARED[each.operator]}"


def _value(each: Filter, value: str) -> str:
    column = each.column or ""
    if column.startswith("month:"):
        return MONTHS[int(value) - 1].title()
    if column.startswith("quarter:"):
        return f"Q{value}"
    return value.title() if re.fullmatch(r"[a-z ]+", value) else value


def _by(statement: Statement) -> str:
    return f" by {' and '.join(statement.labels)}".replace("_", " ") if statement.labels else ""


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
