"""Draws the result of a query."""

from __future__ import annotations

from ..findings import Findings
from ..outputs import Table, chart_handle, reason
from ..view import Missing, OutOfTurns, View
from ..words import shortened
from .query import Query
from .sql import Statement

MOST_LABELS, MOST_SLICES, LONGEST_TITLE = 50, 12, 50


def draw(view: View, found: Findings, result: Table, statement: Statement, query: Query) -> None:
    """Add the chart that was asked for, or say why there is none. Raises Need."""
    kind = query.chart if query.chart != "auto" else "line" if query.course else "bar"
    kind = "bar" if kind == "area" and not query.course else kind
    is_whole = statement.what.startswith(("total", "number")) and not (query.limit or query.having)
    if kind == "pie" and not is_whole:
        kind = "bar"
        found.gaps.append(
            "A pie shows all parts of a whole, which these are not: so these are bars."
        )
    most = MOST_SLICES if kind == "pie" else MOST_LABELS
    series = result.header[1] if len(statement.labels) > 1 else None
    title = found.caption or statement.what
    values = result.header[len(statement.labels) :]
    try:
        output = view.do(
            "make_chart",
            f"A {kind} chart shows this best.",
            handle=result.handle,
            kind=kind,
            title=shortened(title, LONGEST_TITLE),
            limit=None if series else most if result.total > most else None,
            label_column=result.header[0],
            series_column=series,
            value_columns=values[:1] if series or kind == "pie" else values,
        )
    except Missing:
        found.lower("There is no tool for charts here.")
        return
    except OutOfTurns:
        found.gaps.append("There was no turn left for the chart.")
        return
    handle = chart_handle(output)
    if handle:
        found.charts.append(handle)
        if not series and result.total > most:
            found.gaps.append(f"The chart shows the first {most} of {result.total:,}.")
    else:
        found.lower(f"The chart could not be made: {reason(output)}")
