"""A `data_visualization` block read into one plain shape, whatever variant of keys it uses."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.dev.page.render.text import clean, text_of

KINDS = ("bar", "line", "area", "pie")


@dataclass(frozen=True)
class Series:
    """One line, or one colour of bars; `values[i]` belongs to the chart's `categories[i]`."""

    name: str
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class Chart:
    """What is drawn. A pie has one series, its segments being the categories."""

    kind: str
    title: str
    categories: tuple[str, ...]
    series: tuple[Series, ...]
    x_label: str = ""
    y_label: str = ""

    @property
    def empty(self) -> bool:
        """True when there is no number to draw."""
        return all(value is None for series in self.series for value in series.values)

    @property
    def fractions(self) -> bool:
        """True when a number is not whole."""
        return any(value and value % 1 for series in self.series for value in series.values)

    def share(self, segment: int) -> str:
        """A pie segment's part of the whole, as "27%"."""
        values = [value or 0.0 for value in self.series[0].values]
        return f"{values[segment] / (sum(values) or 1.0):.0%}"


def read_chart(block: Mapping[str, Any]) -> Chart | None:
    """The chart of a block; None when its kind is not one of KINDS."""
    chart = _mapping(block.get("chart")) or block
    kind = clean(chart.get("type") or block.get("chart_type"))
    if kind not in KINDS:
        return None
    title = clean(text_of(block.get("title") or chart.get("title") or ""))
    if kind == "pie":
        return _pie(chart, title)
    axis = _mapping(chart.get("axis_config"))
    rows = [_mapping(series) for series in _items(chart.get("series"))]
    categories = _categories(axis, rows)
    return Chart(
        kind=kind,
        title=title,
        categories=tuple(categories),
        series=tuple(_series(row, i, categories) for i, row in enumerate(rows)),
        x_label=clean(text_of(axis.get("x_label"))),
        y_label=clean(text_of(axis.get("y_label"))),
    )


def _pie(chart: Mapping[str, Any], title: str) -> Chart:
    first = _mapping(next(iter(_items(chart.get("series"))), None))
    points = [_mapping(p) for p in _items(chart.get("segments") or first.get("data"))]
    values = tuple(max(_number(p.get("value")) or 0.0, 0.0) for p in points)
    return Chart("pie", title, tuple(map(_label, points)), (Series("", values),))


def _categories(axis: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> list[str]:
    named = [clean(text_of(name)) for name in _items(axis.get("categories"))]
    points = (point for row in rows for point in _items(row.get("data")))
    found = named + [_label(_mapping(point)) for point in points if isinstance(point, Mapping)]
    return list(dict.fromkeys(found))


def _series(row: Mapping[str, Any], index: int, categories: Sequence[str]) -> Series:
    name = clean(row.get("name")) or f"Series {index + 1}"
    data = _items(row.get("data"))
    if not any(isinstance(point, Mapping) for point in data):  # bare numbers, in category order
        bare = [_number(value) for value in data][: len(categories)]
        return Series(name, tuple(bare + [None] * (len(categories) - len(bare))))
    by_label = {_label(_mapping(p)): _number(_mapping(p).get("value")) for p in data}
    return Series(name, tuple(by_label.get(category) for category in categories))


def _label(point: Mapping[str, Any]) -> str:
    for key in ("label", "name", "x", "category"):
        if key in point:
            return clean(text_of(point[key]))
    return ""


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _items(value: object) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _number(value: object) -> float | None:
    try:
        number = float(value)  # type: ignore[arg-type]  # whatever came in; the except is the check
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None
