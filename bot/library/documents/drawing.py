"""Charts as PNG images, for places where Slack cannot draw the data."""

from __future__ import annotations

import io
import math
import statistics
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from bot.library.documents import glyphs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDE_LABELS = 110
_COLOURS = (
    "#3b6fb6",
    "#e07b39",
    "#4a9d6f",
    "#c44e52",
    "#8268b0",
    "#8c6d54",
    "#d685b8",
    "#6b7280",
    "#b8a233",
    "#3fa7b5",
    "#1f3a5f",
    "#a3c76d",
)
_TEXT_COLOUR = "#1f2328"
_GRID_COLOUR = "#d8dce2"
_MARGIN = 0.15  # inches
_MOST_NUMBERED = 120  # cells of a heatmap with their number
_BOX = "□"

Localize = Callable[[str], str]
"""Writes the numbers of an English text (1,234.5) as the readers' language does."""


@dataclass(frozen=True, slots=True)
class Series:
    """A series of a chart: a value for each label, None where there is none."""

    name: str
    values: Sequence[float | None]


BOX = ("minimum", "lower quartile", "median", "upper quartile", "maximum")
"""The series of a box plot, in this order: a box for each label."""

Kind = Literal["bar", "stacked", "line", "area", "pie", "scatter", "box", "heatmap"]


@dataclass(frozen=True, slots=True)
class Chart:
    """What a chart shows; a pie shows the first series. The labels of a scatter plot are numbers, those
    of the horizontal axis."""

    kind: Kind
    title: str
    labels: Sequence[str]
    series: Sequence[Series]
    y_title: str = ""
    x_title: str = ""


def png(chart: Chart, localize: Localize = str) -> bytes:
    """Return the chart as a PNG. Takes a second: call it in a thread."""
    # No pyplot, whose global state is not safe in threads.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    fonts, missing = _fonts_and_missing(chart)
    chart = _with_boxes(chart, missing)
    layout = ConstrainedLayoutEngine(w_pad=_MARGIN, h_pad=_MARGIN)
    figure = Figure(figsize=(8, _height(chart)), dpi=150, layout=layout, facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    match chart.kind:
        case "pie":
            _draw_pie(axes, chart, localize)
        case "scatter":
            _draw_points(figure, axes, chart, localize)
        case "heatmap":
            _draw_heatmap(figure, axes, chart, localize)
        case _:
            _draw_series(figure, axes, chart, localize)
    axes.set_title(chart.title, loc="left", fontsize=14, fontweight="bold", pad=14)
    if missing:
        figure.supxlabel(
            f"{_BOX} is a letter that no font here has", fontsize=8, color=_TEXT_COLOUR
        )
    _set_text_style(figure, fonts)
    out = io.BytesIO()
    figure.savefig(out, format="png")
    return out.getvalue()


def _height(chart: Chart) -> float:
    if not _is_horizontal(chart):
        return 4.5
    return max(4.5, 1.2 + 0.24 * len(chart.labels) * max(1, len(chart.series) * 0.6))


def _is_horizontal(chart: Chart) -> bool:
    """Return whether bars are horizontal: their labels would not fit side by side below them."""
    return chart.kind == "bar" and sum(len(label) + 2 for label in chart.labels) > _WIDE_LABELS


def _draw_series(figure: Figure, axes: Axes, chart: Chart, localize: Localize) -> None:
    positions = range(len(chart.labels))
    is_horizontal = _is_horizontal(chart)
    if chart.kind == "box":
        _draw_boxes(axes, chart)
    else:
        for number, series in enumerate(chart.series):
            _draw_one_series(axes, chart, number, _floats(series))
    grid: Literal["x", "y"] = "x" if is_horizontal else "y"
    axes.grid(axis=grid, color=_GRID_COLOUR, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "bottom" if is_horizontal else "left"]].set_visible(False)
    axes.tick_params(length=0, colors=_TEXT_COLOUR, labelsize=9)
    number_axis, label_axis = (
        (axes.xaxis, axes.yaxis) if is_horizontal else (axes.yaxis, axes.xaxis)
    )
    number_axis.set_major_formatter(lambda value, _: _number(value, localize))
    shown = list(positions)[:: 1 if is_horizontal else _step(chart.labels)]
    label_axis.set_ticks(shown, [chart.labels[position] for position in shown])
    if is_horizontal:
        axes.invert_yaxis()
    elif sum(len(chart.labels[position]) for position in shown) > _WIDE_LABELS:
        for text in axes.get_xticklabels():
            text.set(rotation=45, ha="right", rotation_mode="anchor")
    axes.set(**{f"{grid}label": chart.y_title})
    if len(chart.series) > 1 and chart.kind != "box":
        columns = min(4, len(chart.series))  # below the axes, where no line crosses the names
        figure.legend(frameon=False, fontsize=9, ncols=columns, loc="outside lower left")


def _draw_one_series(axes: Axes, chart: Chart, number: int, values: Sequence[float]) -> None:
    colour = _COLOURS[number]
    name = chart.series[number].name
    positions = list(range(len(values)))
    if chart.kind == "bar":
        width = 0.8 / len(chart.series)
        offsets = [position - 0.4 + width * (number + 0.5) for position in positions]
        if _is_horizontal(chart):
            axes.barh(offsets, values, height=width * 0.94, color=colour, label=name)
        else:
            axes.bar(offsets, values, width=width * 0.94, color=colour, label=name)
        return
    if chart.kind == "stacked":
        below = [sum(max(0, value or 0) for value in at) for at in _below(chart, number)]
        axes.bar(positions, values, bottom=below, width=0.7, color=colour, label=name)
        return
    mark = "o" if len(values) <= 31 else None
    axes.plot(positions, values, color=colour, linewidth=2, marker=mark, markersize=4, label=name)
    if chart.kind == "area":
        axes.fill_between(positions, values, color=colour, alpha=0.25, linewidth=0)


def _floats(series: Series) -> list[float]:
    return [math.nan if value is None else value for value in series.values]


def _below(chart: Chart, number: int) -> Sequence[Sequence[float | None]]:
    """Return for each label the values of the series below one of a stack."""
    return [
        [series.values[at] for series in chart.series[:number]] for at in range(len(chart.labels))
    ]


def _draw_boxes(axes: Axes, chart: Chart) -> None:
    boxes = [
        {"whislo": low, "q1": q1, "med": middle, "q3": q3, "whishi": high, "fliers": []}
        for low, q1, middle, q3, high in zip(*map(_floats, chart.series), strict=True)
    ]
    axes.bxp(
        boxes,
        positions=list(range(len(boxes))),
        widths=0.5,
        patch_artist=True,
        boxprops={"facecolor": _COLOURS[0], "alpha": 0.35, "edgecolor": _COLOURS[0]},
        medianprops={"color": _COLOURS[1], "linewidth": 2},
    )


def _draw_points(figure: Figure, axes: Axes, chart: Chart, localize: Localize) -> None:
    """Draw a point for each row, and for each series the straight line with the least squares."""
    across = [float(label) for label in chart.labels]
    for number, series in enumerate(chart.series):
        colour, values = _COLOURS[number], _floats(series)
        axes.scatter(across, values, s=14, alpha=0.7, color=colour, label=series.name, linewidths=0)
        points = [(x, y) for x, y in zip(across, values, strict=True) if not math.isnan(y)]
        if len({x for x, _ in points}) > 1:
            slope, start = statistics.linear_regression(*zip(*points, strict=True))
            ends = [min(x for x, _ in points), max(x for x, _ in points)]
            axes.plot(ends, [start + slope * x for x in ends], color=colour, linewidth=1.5)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: _number(value, localize))
    axes.grid(color=_GRID_COLOUR, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(length=0, colors=_TEXT_COLOUR, labelsize=9)
    axes.set(xlabel=chart.x_title, ylabel=chart.y_title)
    if len(chart.series) > 1:
        figure.legend(frameon=False, fontsize=9, ncols=4, loc="outside lower left")


def _draw_heatmap(figure: Figure, axes: Axes, chart: Chart, localize: Localize) -> None:
    rows = [_floats(series) for series in chart.series]
    image = axes.imshow(rows, aspect="auto", cmap="Blues")
    axes.set_xticks(range(len(chart.labels)), chart.labels)
    axes.set_yticks(range(len(rows)), [series.name for series in chart.series])
    axes.tick_params(length=0, colors=_TEXT_COLOUR, labelsize=9)
    if sum(map(len, chart.labels)) > _WIDE_LABELS // 2:
        axes.tick_params("x", rotation=45)
    if len(rows) * len(chart.labels) <= _MOST_NUMBERED:
        low, high = image.get_clim()
        middle = ((low or 0.0) + (high or 0.0)) / 2
        for y, row in enumerate(rows):
            for x, value in enumerate(row):
                if not math.isnan(value):
                    colour = "white" if value > middle else _TEXT_COLOUR
                    cell = _number(value, localize)
                    axes.text(x, y, cell, ha="center", va="center", fontsize=8, color=colour)
    bar = figure.colorbar(image, ax=axes)
    bar.ax.yaxis.set_major_formatter(lambda value, _: _number(value, localize))


def _step(labels: Sequence[str]) -> int:
    """Return n where every n-th label is shown, so that labels do not overlap even when slanted."""
    return 1 if len(labels) <= 31 else 2


def _draw_pie(axes: Axes, chart: Chart, localize: Localize) -> None:
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
        f"{textwrap.shorten(label, 34, placeholder='…')}  {_number(value, localize)} ({localize(f'{value / total:.1%}')})"
        for label, value in zip(chart.labels, values, strict=True)
    ]
    axes.legend(
        wedges, names, frameon=False, fontsize=10, loc="center left", bbox_to_anchor=(1, 0.5)
    )


def _number(value: float, localize: Localize) -> str:
    whole = abs(value) >= 1000 or value == int(value)
    return localize(f"{value:,.0f}" if whole else f"{value:.4g}")


def _set_text_style(figure: Figure, fonts: Sequence[Path]) -> None:
    """Set the fonts, and keep dollar signs: Matplotlib would take them for mathematics."""
    from matplotlib.font_manager import fontManager, get_font
    from matplotlib.text import Text

    for path in fonts:
        fontManager.addfont(path)
    families = list(dict.fromkeys(get_font(path).family_name for path in fonts))
    for text in figure.findobj(Text):
        text.set_parse_math(False)
        text.set_fontfamily(families)


def missing_characters(chart: Chart) -> list[str]:
    """Return the characters that the image shows as boxes, because no font has them."""
    return _fonts_and_missing(chart)[1]


def _fonts_and_missing(chart: Chart) -> tuple[list[Path], list[str]]:
    names = [series.name for series in chart.series]
    words = "".join([chart.title, chart.y_title, chart.x_title, *chart.labels, *names])
    return glyphs.fonts_for(words, bitmaps=False)


def _with_boxes(chart: Chart, missing: Sequence[str]) -> Chart:
    """Return the chart with a box in place of each character in `missing`."""
    boxes = str.maketrans(dict.fromkeys(missing, _BOX))
    return Chart(
        chart.kind,
        chart.title.translate(boxes),
        [label.translate(boxes) for label in chart.labels],
        [Series(series.name.translate(boxes), series.values) for series in chart.series],
        chart.y_title.translate(boxes),
        chart.x_title.translate(boxes),
    )
