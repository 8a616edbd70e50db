"""A tool for charts of tables: as data, which Slack draws itself, and as a PNG elsewhere."""

from __future__ import annotations

import difflib
import math
import re
from typing import Annotated, Literal

from pydantic import Field

from bot.toolkit import (
    CHART_TYPE,
    Artifact,
    Artifacts,
    Chart,
    Exports,
    Provided,
    Reads,
    Rows,
    Series,
    Source,
    Tables,
    ToolError,
    ToolResult,
    cell_text,
    tool,
)
from bot.toolkit.provided.tables import columns_line

_MAX_LABELS = 50
_MAX_SERIES = 12
_MAX_SEGMENTS = 12
_MAX_LABEL = 60
_LARGEST = 1e18
"""Laying out an axis does not terminate for values near the largest float."""
_TIME = re.compile(r"\d{4}(?:-Q[1-4]|-\d\d(?:-\d\d(?:[ T]\d\d:\d\d.*)?)?)?")
_PERIODS = (
    (r"(\d{4})-(0[1-9]|1[0-2])", 12, "{}-{:02}"),
    (r"(\d{4})-Q([1-4])", 4, "{}-Q{}"),
    (r"((?:19|20)\d\d)()", 1, "{}"),
)
"""For months, quarters and years: the pattern, the number in a year, and the format."""


@tool(
    group="data",
    summary="Bar, line, area or pie chart of a table",
    safety=Reads(evidence=False),
    timeout=90.0,
    title="Draw {kind} chart: {title}",
)
async def make_chart(
    handle: Annotated[
        str, Field(description="Handle tbl_… of the table to draw, one row a label.")
    ],
    kind: Annotated[
        Literal["bar", "line", "area", "pie"],
        Field(description="bar to compare, line or area over time, pie for shares of a whole."),
    ],
    title: Annotated[
        str, Field(min_length=1, max_length=50, description="What it shows, with the unit.")
    ],
    label_column: Annotated[
        str, Field(description="Column of the labels; each value once, or once in each series.")
    ],
    value_columns: Annotated[
        list[str],
        Field(
            min_length=1, description="Number columns, one series each: 12 at most, a pie has 1."
        ),
    ],
    artifacts: Provided[Artifacts],
    tables: Provided[Tables],
    exports: Provided[Exports],
    limit: Annotated[
        int | None,
        Field(ge=1, le=_MAX_LABELS, description="Draw the first rows only; leave out to draw all."),
    ] = None,
    series_column: Annotated[
        str | None,
        Field(
            description="For rows like month, region, total: the column (region) that makes one "
            "series of each of its values, with the one value column."
        ),
    ] = None,
) -> ToolResult:
    """Draw a chart of a table of at most 50 rows (a pie: 12). Aggregate and sort with query_table
    first: rows are drawn in their order, a line over dates in theirs. To show the chart, put its handle chart_… into the
    answer's charts."""
    table = await artifacts.find(handle)
    chart_rows = await _drawn_rows(tables, handle, limit, spread=series_column is not None)
    chart = _chart(chart_rows, kind, title, label_column, value_columns, series_column)
    source = table.source_title or table.name
    left_out = [*table.left_out, *_undrawn(chart_rows, source, value_columns)]
    picture = await exports.chart(chart)
    saved, image = await _save(artifacts, chart, picture.png, source, table.source_url, left_out)
    drawn = f"{len(chart.labels)} labels × {len(chart.series)} series"
    if len(chart_rows.rows) < chart_rows.total:
        drawn += f" · the first {len(chart_rows.rows)} of {chart_rows.total:,} rows"
    lines = [
        f"handle: {saved.handle} · {kind} chart · {drawn} · source: {source}",
        f"image: {image.handle}",
        *saved.gap_notes,
        f"Put {saved.handle} into charts to show it.",
    ]
    if missing := picture.missing:
        lines.append(
            f"note: no font here has {' '.join(missing[:20])}, so the image has boxes for them. "
            "Where Slack draws the chart itself they show."
        )
    made_of = Source(title=source, url=table.source_url, supports="The figures drawn in the chart.")
    return ToolResult("\n".join(lines), (made_of,), (saved.handle, image.handle))


async def _drawn_rows(tables: Tables, handle: str, limit: int | None, *, spread: bool) -> Rows:
    """Return all rows or the first `limit`. Raises ToolError for more rows than a chart can have.

    The limit is higher when the rows are spread over several series.
    """
    most = _MAX_LABELS * _MAX_SERIES if spread else _MAX_LABELS
    read = await tables.rows(handle, limit=limit or most)
    if limit is None and read.total > most:
        raise ToolError(
            f"{handle} has {read.total:,} rows; a chart has at most {most}. Aggregate with "
            "query_table (by month, by group, the largest ones), or give limit to draw the first."
        )
    return read


def _undrawn(found: Rows, name: str, columns: list[str]) -> list[str]:
    """Return a sentence for rows and one for values of the table that the chart does not show."""
    notes = []
    if len(found.rows) < found.total:
        notes.append(f"{name}: only the first {len(found.rows)} of {found.total:,} rows are drawn")
    values = [value for column in columns for value in _numbers(found, column)]
    if empty := values.count(None):
        notes.append(f"{name}: {empty:,} of {len(values):,} values are empty and not drawn")
    return notes


async def _save(
    artifacts: Artifacts,
    chart: Chart,
    png: bytes,
    source: str,
    url: str | None,
    left_out: list[str],
) -> tuple[Artifact, Artifact]:
    """Save the chart and its image. Return both artifacts; the chart names the image."""
    image = await artifacts.save(
        png,
        name=f"{chart.title}.png",
        media_type="image/png",
        prefix="img",
        source_title=source,
        left_out=left_out,
    )
    chart = chart.model_copy(update={"image": image.handle})
    saved = await artifacts.save(
        chart.model_dump_json().encode(),
        name=chart.title,
        media_type=CHART_TYPE,
        prefix="chart",
        source_title=source,
        source_url=url,
        left_out=left_out,
    )
    return saved, image


def _chart(
    found: Rows,
    kind: Literal["bar", "line", "area", "pie"],
    title: str,
    label: str,
    values: list[str],
    by: str | None,
) -> Chart:
    if not found.rows:
        raise ToolError("The table has no rows; there is nothing to draw.")
    if by is None:
        labels, series = _columns(found, label, values)
    else:
        labels, series = _spread(found, label, by, values)
    if kind in ("line", "area"):
        labels, series = _in_time(labels, series)
    if len(series) > (1 if kind == "pie" else _MAX_SERIES):
        raise ToolError(f"A chart has at most {_MAX_SERIES} series, and a pie has one.")
    if kind == "pie":
        _check_pie(series[0])
    return Chart(
        title=title,
        kind=kind,
        labels=labels,
        series=series,
        x_title=_heading(found.names[_index(found, label)]),
        y_title=_heading(values[0]) if len(values) == 1 else "",
    )


def _in_time(labels: list[str], series: list[Series]) -> tuple[list[str], list[Series]]:
    """Sort labels that are times, and add a gap for each month, quarter or year without a row.

    Without the gap a line would join the neighbours. Other labels keep their order.
    """
    if not all(map(_TIME.fullmatch, labels)):
        return labels, series
    every = _all_between(labels) or sorted(labels)
    return every, [
        one_series.model_copy(update={"values": [points.get(place) for place in every]})
        for one_series in series
        for points in [dict(zip(labels, one_series.values, strict=True))]
    ]


def _all_between(labels: list[str]) -> list[str]:
    """Return each period from the first to the last; [] for other labels or too many periods."""
    for form, in_a_year, written in _PERIODS:
        matches = [re.fullmatch(form, label) for label in labels]
        if not all(matches):
            continue
        places = [
            int(match[1]) * in_a_year + int(match[2] or 1) - 1
            for match in matches
            if match is not None
        ]
        every = range(min(places), max(places) + 1)
        if len(every) > _MAX_LABELS:
            return []
        return [written.format(at // in_a_year, at % in_a_year + 1) for at in every]
    return []


def _heading(column: str) -> str:
    return column.replace("_", " ")


def _columns(found: Rows, label: str, values: list[str]) -> tuple[list[str], list[Series]]:
    """Return the labels and series of a table with one row per label and one column per series."""
    labels = [_label(row[_index(found, label)]) for row in found.rows]
    doubled = next((label for label in labels if labels.count(label) > 1), None)
    if doubled is not None:
        raise ToolError(
            f"Label {doubled!r} occurs in more than one row. Aggregate with query_table so that "
            f"each value of {label} has one row, or name the column that tells those rows apart "
            "as series_column."
        )
    return labels, [Series(name=name, values=_numbers(found, name)) for name in values]


def _spread(found: Rows, label: str, by: str, values: list[str]) -> tuple[list[str], list[Series]]:
    """Return the labels and series of a table with one row per label and series.

    A missing pair has the value None.
    """
    if len(values) != 1:
        raise ToolError("With series_column give one value column; its values are spread out.")
    label_at, by_at = _index(found, label), _index(found, by)
    cells: dict[str, dict[str, float | None]] = {}
    for row, value in zip(found.rows, _numbers(found, values[0]), strict=True):
        name, place = _label(row[by_at]), _label(row[label_at])
        if place in cells.setdefault(name, {}):
            raise ToolError(
                f"{place!r} occurs in more than one row of {name!r}. Aggregate with query_table "
                f"so that each pair of {label} and {by} has one row."
            )
        cells[name][place] = value
    labels = list(dict.fromkeys(_label(row[label_at]) for row in found.rows))
    if len(labels) > _MAX_LABELS:
        raise ToolError(f"A chart has at most {_MAX_LABELS} labels, not {len(labels)}.")
    return labels, [
        Series(name=name, values=[cell.get(place) for place in labels])
        for name, cell in cells.items()
    ]


def _label(value: object) -> str:
    text = cell_text(value) or "(none)"
    return text if len(text) <= _MAX_LABEL else f"{text[: _MAX_LABEL - 1]}…"


def _index(found: Rows, name: str) -> int:
    lowered = [name.lower() for name in found.names]
    if name.lower() in lowered:
        return lowered.index(name.lower())
    near = difflib.get_close_matches(name, found.names, n=3, cutoff=0.4)
    similar = f" Similar: {', '.join(near)}." if near else ""
    raise ToolError(f"There is no column {name}.{similar} Columns: {columns_line(found.columns)}")


def _numbers(found: Rows, name: str) -> list[float | None]:
    index = _index(found, name)
    try:
        values = [None if row[index] is None else float(row[index]) for row in found.rows]
    except (TypeError, ValueError):
        raise ToolError(
            f"Column {name} is {found.columns[index].type}, not numbers. Convert it with "
            f'query_table: try_cast("{name}" AS DOUBLE).'
        ) from None
    drawn = [value if value is None or math.isfinite(value) else None for value in values]
    if any(value is not None and abs(value) > _LARGEST for value in drawn):
        raise ToolError(
            f"Column {name} has values beyond {_LARGEST:g}, which no axis shows. Leave them out, or "
            "divide the column, with query_table."
        )
    return drawn


def _check_pie(series: Series) -> None:
    values = [value or 0.0 for value in series.values]
    if len(values) > _MAX_SEGMENTS:
        raise ToolError(
            f"A pie has at most {_MAX_SEGMENTS} segments, not {len(values)}. Draw a bar chart, or "
            "sum the small ones up with query_table."
        )
    if min(values) < 0 or sum(values) == 0:
        raise ToolError(
            "A pie needs values that are not negative and not all zero. Draw a bar chart."
        )
