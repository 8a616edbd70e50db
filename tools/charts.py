"""Charts of tables: as data, which Slack draws itself, and as a PNG for where it does not."""

from __future__ import annotations

import asyncio
import difflib
import io
import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from bot.toolkit import (
    CHART_TYPE,
    Artifacts,
    Chart,
    Provided,
    Series,
    Source,
    ToolError,
    ToolResult,
    tables,
    tool,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MAX_LABELS = 50
_MAX_SERIES = 12
_MAX_SEGMENTS = 12
_MAX_LABEL = 60
_WIDE_LABELS = 110
_COLOURS = (
    *("#3b6fb6", "#e07b39", "#4a9d6f", "#c44e52", "#8268b0", "#8c6d54"),
    *("#d685b8", "#6b7280", "#b8a233", "#3fa7b5", "#1f3a5f", "#a3c76d"),
)
_INK = "#1f2328"
_FAINT = "#d8dce2"


@tool(
    group="data",
    summary="Bar, line, area or pie chart of a table",
    timeout=90.0,
    title="Draw {kind} chart: {title:.58}",
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
    label_column: Annotated[str, Field(description="Column of the labels; each value once.")],
    value_columns: Annotated[
        list[str],
        Field(
            min_length=1, description="Number columns, one series each: 12 at most, a pie has 1."
        ),
    ],
    artifacts: Provided[Artifacts],
    limit: Annotated[
        int | None,
        Field(ge=1, le=_MAX_LABELS, description="Draw the first rows only; leave out to draw all."),
    ] = None,
) -> ToolResult:
    """Draw a chart of a table of at most 50 rows (a pie: 12). Aggregate and sort with query_table
    first: rows are drawn in their order. To show the chart, put its handle chart_… into the
    answer's charts."""
    table = await artifacts.find(handle)
    found = await tables.rows_of(artifacts, handle, limit=limit or _MAX_LABELS)
    if limit is None and found.total > _MAX_LABELS:
        raise ToolError(
            f"{handle} has {found.total:,} rows; a chart has at most {_MAX_LABELS}. Aggregate with "
            "query_table (by month, by group, the largest ones), or give limit to draw the first."
        )
    chart = _chart(found, kind, title, label_column, value_columns)
    source = table.source_title or table.name
    png = await asyncio.to_thread(_png, chart)
    image = await artifacts.save(
        png, name=f"{title}.png", media_type="image/png", prefix="img", source_title=source
    )
    chart = chart.model_copy(update={"image": image.handle})
    saved = await artifacts.save(
        chart.model_dump_json().encode(),
        name=title,
        media_type=CHART_TYPE,
        prefix="chart",
        source_title=source,
        source_url=table.source_url,
    )
    drawn = len(chart.labels)
    cut = f" · the first {drawn} of {found.total:,} rows" if drawn < found.total else ""
    text = (
        f"handle: {saved.handle} · {kind} chart · {drawn} labels × {len(chart.series)} series{cut} · "
        f"source: {source}\nimage: {image.handle}\nPut {saved.handle} into charts to show it."
    )
    made_of = Source(title=source, url=table.source_url, supports="The figures drawn in the chart.")
    return ToolResult(text, (made_of,), (saved.handle, image.handle))


def _chart(
    found: tables.Rows,
    kind: Literal["bar", "line", "area", "pie"],
    title: str,
    label: str,
    values: list[str],
) -> Chart:
    if not found.rows:
        raise ToolError("The table has no rows; there is nothing to draw.")
    if len(values) > (1 if kind == "pie" else _MAX_SERIES):
        raise ToolError(f"A chart has at most {_MAX_SERIES} series, and a pie has one.")
    labels = [_label(row[_index(found, label)]) for row in found.rows]
    doubled = next((each for each in labels if labels.count(each) > 1), None)
    if doubled is not None:
        raise ToolError(
            f"Label {doubled!r} stands in more than one row. Aggregate with query_table so that "
            f"each value of {label} has one row."
        )
    series = [Series(name=name, values=_numbers(found, name)) for name in values]
    if kind == "pie":
        _check_pie(series[0])
    return Chart(
        title=title,
        kind=kind,
        labels=labels,
        series=series,
        x_title=found.names[_index(found, label)],
        y_title=values[0] if len(values) == 1 else "",
    )


def _label(value: object) -> str:
    text = tables.cell_text(value) or "(none)"
    return text if len(text) <= _MAX_LABEL else f"{text[: _MAX_LABEL - 1]}…"


def _index(found: tables.Rows, name: str) -> int:
    lowered = [each.lower() for each in found.names]
    if name.lower() in lowered:
        return lowered.index(name.lower())
    near = difflib.get_close_matches(name, found.names, n=3, cutoff=0.4)
    similar = f" Similar: {', '.join(near)}." if near else ""
    raise ToolError(
        f"There is no column {name}.{similar} Columns: {tables.columns_line(found.columns)}"
    )


def _numbers(found: tables.Rows, name: str) -> list[float | None]:
    index = _index(found, name)
    try:
        values = [None if row[index] is None else float(row[index]) for row in found.rows]
    except (TypeError, ValueError):
        raise ToolError(
            f"Column {name} is {found.columns[index].type}, not numbers. Convert it with "
            f'query_table: try_cast("{name}" AS DOUBLE).'
        ) from None
    return [value if value is None or math.isfinite(value) else None for value in values]


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


def _png(chart: Chart) -> bytes:
    """Draw with a figure of its own: pyplot's global state does not belong in threads."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, _height(chart)), dpi=150, layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    if chart.kind == "pie":
        _draw_pie(axes, chart)
    else:
        _draw_series(axes, chart)
    axes.set_title(_drawable(chart.title), loc="left", fontsize=14, fontweight="bold", pad=14)
    _as_written(figure)
    out = io.BytesIO()
    figure.savefig(out, format="png")
    return out.getvalue()


def _height(chart: Chart) -> float:
    if not _lying(chart):
        return 4.5
    return max(4.5, 1.2 + 0.24 * len(chart.labels) * max(1, len(chart.series) * 0.6))


def _lying(chart: Chart) -> bool:
    """Bars lie when their labels would not fit side by side below standing ones."""
    return chart.kind == "bar" and sum(len(label) + 2 for label in chart.labels) > _WIDE_LABELS


def _draw_series(axes: Axes, chart: Chart) -> None:
    places = range(len(chart.labels))
    labels = [_drawable(label) for label in chart.labels]
    lying = _lying(chart)
    for number, series in enumerate(chart.series):
        values = [math.nan if value is None else value for value in series.values]
        _draw_one(axes, chart, number, values)
    grid: Literal["x", "y"] = "x" if lying else "y"
    axes.grid(axis=grid, color=_FAINT, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "bottom" if lying else "left"]].set_visible(False)
    axes.tick_params(length=0, colors=_INK, labelsize=9)
    number_axis, label_axis = (axes.xaxis, axes.yaxis) if lying else (axes.yaxis, axes.xaxis)
    number_axis.set_major_formatter(lambda value, _: _number(value))
    shown = list(places)[:: 1 if lying else _step(chart.labels)]
    label_axis.set_ticks(shown, [labels[place] for place in shown])
    if lying:
        axes.invert_yaxis()
    elif sum(len(labels[place]) for place in shown) > _WIDE_LABELS:
        for text in axes.get_xticklabels():
            text.set(rotation=45, ha="right", rotation_mode="anchor")
    axes.set(**{f"{grid}label": _drawable(chart.y_title)})
    if len(chart.series) > 1:
        axes.legend(frameon=False, fontsize=9, ncols=min(4, len(chart.series)), loc="best")


def _draw_one(axes: Axes, chart: Chart, number: int, values: Sequence[float]) -> None:
    colour = _COLOURS[number]
    name = _drawable(chart.series[number].name)
    places = list(range(len(values)))
    if chart.kind == "bar":
        width = 0.8 / len(chart.series)
        beside = [place - 0.4 + width * (number + 0.5) for place in places]
        if _lying(chart):
            axes.barh(beside, values, height=width * 0.94, color=colour, label=name)
        else:
            axes.bar(beside, values, width=width * 0.94, color=colour, label=name)
        return
    mark = "o" if len(values) <= 31 else None
    axes.plot(places, values, color=colour, linewidth=2, marker=mark, markersize=4, label=name)
    if chart.kind == "area":
        axes.fill_between(places, values, color=colour, alpha=0.25, linewidth=0)


def _step(labels: Sequence[str]) -> int:
    """Every how many labels one is written, so that they do not overlap even when slanted."""
    return 1 if len(labels) <= 31 else 2


def _draw_pie(axes: Axes, chart: Chart) -> None:
    values = [value or 0.0 for value in chart.series[0].values]
    wedges = axes.pie(
        values,
        colors=_COLOURS[: len(values)],
        startangle=90,
        counterclock=False,
        wedgeprops={"width": 0.45, "edgecolor": "white", "linewidth": 1.5},
    )[0]
    total = sum(values)
    names = [
        f"{_drawable(textwrap.shorten(label, 34, placeholder='…'))}  {_number(value)} ({value / total:.1%})"
        for label, value in zip(chart.labels, values, strict=True)
    ]
    axes.legend(
        wedges, names, frameon=False, fontsize=10, loc="center left", bbox_to_anchor=(1, 0.5)
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.4g}"


def _as_written(figure: Figure) -> None:
    """Dollar signs are money here, not mathematics."""
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        text.set_parse_math(False)


def _drawable(text: str) -> str:
    """`text` with a box for each character that the font cannot draw (emoji, for example)."""
    from matplotlib.font_manager import findfont, get_font

    known: dict[int, Any] = get_font(findfont("DejaVu Sans")).get_charmap()
    return "".join(each if ord(each) in known else "□" for each in text)
