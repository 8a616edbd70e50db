"""A `data_visualization` block read into one plain shape."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.dev.page.render.text import clean, text_of

KINDS = ("bar", "line", "area", "pie")


@dataclass(frozen=True)
class Series:
    """A line, or the bars of one colour; `values[i]` belongs to the chart's `categories[i]`."""

    name: str
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class Chart:
    """A chart to draw. A pie has one series, and its segments are the categories."""

    kind: str
    title: str
    categories: tuple[str, ...]
    series: tuple[Series, ...]
    x_label: str = ""
    y_label: str = ""

    @property
    def empty(self) -> bool:
        """Whether there is no number to draw."""
        return all(value is None for series in self.series for value in series.values)

    @property
    def fractions(self) -> bool:
        """Whether any number is not whole."""
        return any(value and value % 1 for series in self.series for value in series.values)

    def share(self, segment: int) -> str:
        """Return a pie segment's part of the whole, as "27%"."""
        values = [value or 0.0 for value in self.series[0].values]
        return f"{values[segment] / (sum(values) or 1.0):.0%}"


def read_chart(block: Mapping[str, Any]) -> Chart | None:
    """Return the chart of a block, or None if its kind is not one of KINDS."""
    chart = _mapping(block.get("chart"))
    kind, title = clean(chart.get("type")), clean(text_of(block.get("title") or ""))
    if kind not in KINDS:
        return None
    if kind == "pie":
        segments = _points(chart.get("segments"))
        values = tuple(max(value or 0.0, 0.0) for _, value in segments)
        return Chart(kind, title, tuple(label for label, _ in segments), (Series("", values),))
    axis = _mapping(chart.get("axis_config"))
    rows = [_mapping(series) for series in _items(chart.get("series"))]
    data = [_points(row.get("data")) for row in rows]
    categories = _categories(axis, data)
    return Chart(
        kind=kind,
        title=title,
        categories=tuple(categories),
        series=tuple(
            Series(clean(row.get("name")), tuple(map(dict(points).get, categories)))
            for row, points in zip(rows, data, strict=True)
        ),
        x_label=clean(text_of(axis.get("x_label"))),
        y_label=clean(text_of(axis.get("y_label"))),
    )


def _categories(
    axis: Mapping[str, Any], data: Iterable[Sequence[tuple[str, float | None]]]
) -> list[str]:
    named = [clean(text_of(name)) for name in _items(axis.get("categories"))]
    return list(dict.fromkeys([*named, *(label for points in data for label, _ in points)]))


def _points(value: object) -> list[tuple[str, float | None]]:
    points = [_mapping(point) for point in _items(value)]
    return [(clean(text_of(point.get("label"))), _number(point.get("value"))) for point in points]


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _items(value: object) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _number(value: object) -> float | None:
    try:
        number = float(value)  # type: ignore[arg-type]  # any value may come in; the except checks it
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None
