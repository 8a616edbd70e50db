"""A tool for charts of tables: as data, which Slack draws itself where it can, and as a PNG."""

# ruff: noqa: S608 - the names in these statements are quoted, the values our own

from __future__ import annotations

import difflib
import math
import re
from typing import Annotated, Literal

from pydantic import Field

from bot.library.documents.drawing import BOX
from bot.toolkit import (
    CHART_TYPE,
    Artifact,
    Artifacts,
    Chart,
    Column,
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
from bot.toolkit.provided.tables import columns_line, quoted_name

_MAX_LABELS = 50
_MAX_SERIES = 12
_MAX_POINTS = 2_000
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
    summary="Chart of a table: bar, line, pie, scatter, histogram, box, heatmap",
    safety=Reads(evidence=False),
    timeout=90.0,
    title="Draw a chart: {title}",
)
async def make_chart(
    handle: Annotated[
        str, Field(description="Handle tbl_… of the table to draw, one row a label.")
    ],
    kind: Annotated[
        Literal["bar", "stacked", "line", "area", "pie", "scatter", "histogram", "box", "heatmap"],
        Field(
            description="bar to compare, stacked for parts, line or area over time, pie for shares; "
            "scatter of rows with a fitted line; histogram or box of a column; heatmap of a matrix."
        ),
    ],
    title: Annotated[
        str, Field(min_length=1, max_length=50, description="What it shows, with the unit.")
    ],
    label_column: Annotated[
        str,
        Field(
            description="Column of the labels; each value once, or once in each series. scatter: the "
            "numbers across; box: the groups; histogram: the column of numbers."
        ),
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
    """Draw a chart of a table of at most 50 rows (a pie: 12; a scatter: 2,000; histogram and box: any).
    Aggregate and sort with query_table first: rows are drawn in their order, a line over dates in theirs.
    To show the chart, put its handle chart_… into the answer's charts."""
    table = await artifacts.find(handle)
    if kind == "histogram" or kind == "box":
        value = label_column if kind == "histogram" else value_columns[0]
        await tables.find(handle, value, label_column)
        make = _histogram if kind == "histogram" else _boxes
        chart_rows = await make(tables, handle, value, label_column)
        label_column, value_columns = chart_rows.names[0], chart_rows.names[1:]
        series_column = None
    else:
        most = _MAX_POINTS if kind == "scatter" else None
        chart_rows = await _drawn_rows(tables, handle, limit, most, spread=bool(series_column))
    drawn_as = "bar" if kind == "histogram" else kind
    chart = _chart(chart_rows, drawn_as, title, label_column, value_columns, series_column)
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


async def _drawn_rows(
    tables: Tables, handle: str, limit: int | None, most: int | None, *, spread: bool
) -> Rows:
    """Return all rows or the first `limit`. Raises ToolError for more rows than a chart can have.

    The limit is higher when the rows are spread over several series.
    """
    most = most or (_MAX_LABELS * _MAX_SERIES if spread else _MAX_LABELS)
    read = await tables.rows(handle, limit=limit or most)
    if limit is None and read.total > most:
        raise ToolError(
            f"{handle} has {read.total:,} rows; a chart has at most {most}. Aggregate with "
            "query_table (by month, by group, the largest ones), or give limit to draw the first."
        )
    return read


async def _histogram(tables: Tables, handle: str, value: str, _: str) -> Rows:
    """Return the number of values in each of about as many ranges as Sturges's rule says."""
    column = f"TRY_CAST({quoted_name(value)} AS DOUBLE)"
    source = f"FROM {quoted_name(handle)} WHERE isfinite({column})"
    [(count, low, high)] = await tables.select(
        f"SELECT count(*), min({column}), max({column}) {source}", [handle]
    )
    if not count:
        raise ToolError(f"Column {value} has no numbers.")
    width = _round_width((high - low) / min(30, math.ceil(math.log2(count)) + 1))
    first = math.floor(low / width)
    counted = dict(
        await tables.select(
            f"SELECT floor({column} / {width})::BIGINT, count(*) {source} GROUP BY 1", [handle]
        )
    )
    places = range(first, math.floor(high / width) + 1)
    rows = [(f"{at * width:.6g} – {(at + 1) * width:.6g}", counted.get(at, 0)) for at in places]
    return Rows(
        (Column(name=value, type="VARCHAR"), Column(name="count", type="BIGINT")), rows, len(rows)
    )


def _round_width(width: float) -> float:
    """Return the least of 1, 2, 2.5 and 5 times a power of ten that is no less than a width."""
    if width <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(width))
    return next(times * power for times in (1, 2, 2.5, 5, 10) if times * power >= width * 0.999)


async def _boxes(tables: Tables, handle: str, value: str, label: str) -> Rows:
    """Return the five numbers of a box plot for each group."""
    column = f"TRY_CAST({quoted_name(value)} AS DOUBLE)"
    rows = await tables.select(
        f"SELECT {quoted_name(label)}::VARCHAR, min({column}), quantile_cont({column}, 0.25), "
        f"median({column}), quantile_cont({column}, 0.75), max({column}) "
        f"FROM {quoted_name(handle)} WHERE isfinite({column}) GROUP BY 1 ORDER BY 1 "
        f"LIMIT {_MAX_LABELS + 1}",
        [handle],
    )
    if not 0 < len(rows) <= _MAX_LABELS:
        raise ToolError(f"A chart has 1 to {_MAX_LABELS} boxes; {label} has {len(rows):,} groups.")
    numbers = (Column(name=name, type="DOUBLE") for name in BOX)
    return Rows((Column(name=label, type="VARCHAR"), *numbers), rows, len(rows))


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
    kind: Literal["bar", "stacked", "line", "area", "pie", "scatter", "box", "heatmap"],
    title: str,
    label: str,
    values: list[str],
    by: str | None,
) -> Chart:
    if not found.rows:
        raise ToolError("The table has no rows; there is nothing to draw.")
    if kind == "scatter":
        labels, series = _points(found, label, values, by)
    elif by is None:
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
    return labels, [Series(name=_heading(name), values=_numbers(found, name)) for name in values]


def _points(
    found: Rows, label: str, values: list[str], by: str | None
) -> tuple[list[str], list[Series]]:
    """Return a number across for each row, and its values up: a series for each column, or for each
    value of the column `by`."""
    across = _numbers(found, label)
    rows = [at for at, number in enumerate(across) if number is not None]
    labels = [repr(across[at]) for at in rows]
    if by is None:
        columns = [(name, _numbers(found, name)) for name in values]
        return labels, [Series(name=n, values=[up[at] for at in rows]) for n, up in columns]
    up, names = _numbers(found, values[0]), [_label(row[_index(found, by)]) for row in found.rows]
    return labels, [
        Series(name=name, values=[up[at] if names[at] == name else None for at in rows])
        for name in dict.fromkeys(names)
    ]


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
