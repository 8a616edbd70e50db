"""Charts as PNG images, for places where Slack cannot draw the data."""

from __future__ import annotations

import io
import math
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
_BOX = "□"

Localize = Callable[[str], str]
"""Writes the numbers of an English text (1,234.5) as the readers' language does."""


@dataclass(frozen=True, slots=True)
class Series:
    """A series of a chart: a value for each label, None where there is none."""

    name: str
    values: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Chart:
    """What a chart shows; a pie shows the first series."""

    kind: Literal["bar", "line", "area", "pie"]
    title: str
    labels: Sequence[str]
    series: Sequence[Series]
    y_title: str = ""


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
    if chart.kind == "pie":
        _draw_pie(axes, chart, localize)
    else:
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
    for number, series in enumerate(chart.series):
        values = [math.nan if value is None else value for value in series.values]
        _draw_one_series(axes, chart, number, values)
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
    if len(chart.series) > 1:
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
    mark = "o" if len(values) <= 31 else None
    axes.plot(positions, values, color=colour, linewidth=2, marker=mark, markersize=4, label=name)
    if chart.kind == "area":
        axes.fill_between(positions, values, color=colour, alpha=0.25, linewidth=0)


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
    words = "".join([chart.title, chart.y_title, *chart.labels, *names])
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
    )
