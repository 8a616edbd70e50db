"""Charts as inline SVG. Colours are classes, `c0` to `c7`, for light and dark stylesheets."""

import math
from collections.abc import Iterator, Sequence

from markupsafe import Markup

from bot.dev.page.render.axes import full, labelled, short, ticks
from bot.dev.page.render.chart_data import Chart, Series

WIDTH, HEIGHT = 640, 310
PIE = 260
_TOP, _RIGHT = 14, 12
COLOURS = 8


def colour(index: int) -> str:
    """Return the colour class of the nth series or segment."""
    return f"c{index % COLOURS}"


def draw(chart: Chart) -> Markup:
    """Return the chart as `<svg>`, with an `aria-label` for screen readers."""
    if chart.kind == "pie":
        names, size, body = chart.categories, (PIE, PIE), _pie(chart)
    else:
        names = tuple(series.name for series in chart.series)
        size, body = (WIDTH, HEIGHT), _Plot(chart).draw()
    label = f"{chart.kind} chart: {chart.title} ({', '.join(names)})"
    return Markup(
        '<svg class="chart-svg" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>'
    ).format(size[0], size[1], label, body)


class _Plot:
    """A chart with two axes: the position of each value and category, and the marks drawn there."""

    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        self.right = WIDTH - _RIGHT
        known = [v for s in chart.series for v in s.values if v is not None]
        self.ticks = ticks(min(known, default=0), max(known, default=1))
        widest = max(len(short(tick)) for tick in self.ticks)
        self.left = 14 + widest * 7.4 + (20 if chart.y_label else 0)
        self.names = labelled(chart.categories, self.right - self.left)
        self.bottom = HEIGHT - 36 - (20 if chart.x_label else 0)
        self.slot = (self.right - self.left) / max(len(chart.categories), 1)

    def draw(self) -> Markup:
        marks = {"bar": self._bars, "line": self._lines, "area": self._areas}[self.chart.kind]
        return _join([*self._grid(), *self._x_axis(), *self._labels(), *marks()])

    def x(self, index: int) -> float:
        return self.left + (index + 0.5) * self.slot

    def y(self, value: float) -> float:
        low, high = self.ticks[0], self.ticks[-1]
        return self.bottom - (value - low) / (high - low) * (self.bottom - _TOP)

    def _grid(self) -> Iterator[Markup]:
        for tick in self.ticks:
            y = self.y(tick)
            yield _line(self.left, y, self.right, y, "axis" if tick == 0 else "gridline")
            yield _text(self.left - 8, y + 4, short(tick), "tick end")

    def _x_axis(self) -> Iterator[Markup]:
        for i, shown in self.names:
            yield _text(self.x(i), self.bottom + 20, shown, "tick middle")

    def _labels(self) -> Iterator[Markup]:
        if self.chart.x_label:
            middle = (self.left + self.right) / 2
            yield _text(middle, HEIGHT - 6, self.chart.x_label, "label middle")
        if self.chart.y_label:
            yield Markup(
                '<text class="label middle" transform="translate(12 {}) rotate(-90)">{}</text>'
            ).format(_n((_TOP + self.bottom) / 2), self.chart.y_label)

    def _bars(self) -> Iterator[Markup]:
        band = min(self.slot * 0.72, 88.0)
        each = band / max(len(self.chart.series), 1)
        width = max(each - (2 if each > 6 else 0), 0.5)
        for i, (n, series, value) in self._points():
            x = self.x(i) - band / 2 + n * each + (each - width) / 2
            top, foot = sorted((self.y(value), self.y(0)))
            yield Markup(
                '<rect class="{}" x="{}" y="{}" width="{}" height="{}" rx="{}">{}</rect>'
            ).format(
                colour(n), _n(x), _n(top), _n(width), _n(foot - top), _n(min(3, width / 3)),
                self._tip(i, series, value),
            )  # fmt: skip

    def _lines(self) -> Iterator[Markup]:
        for n, series in enumerate(self.chart.series):
            for run in _runs(series):
                yield Markup('<path class="stroke {}" d="{}"/>').format(colour(n), self._path(run))
        yield from self._dots()

    def _areas(self) -> Iterator[Markup]:
        for n, series in enumerate(self.chart.series):
            for run in _runs(series):
                path = self._path(run)
                first, last, zero = _n(self.x(run[0][0])), _n(self.x(run[-1][0])), _n(self.y(0))
                yield Markup('<path class="fill {}" d="{}L{} {}L{} {}Z"/>').format(
                    colour(n), path, last, zero, first, zero
                )
                yield Markup('<path class="stroke {}" d="{}"/>').format(colour(n), path)
        yield from self._dots()

    def _dots(self) -> Iterator[Markup]:
        radius = 3.5 if self.slot > 14 else 2
        for i, (n, series, value) in self._points():
            yield Markup('<circle class="dot {}" cx="{}" cy="{}" r="{}">{}</circle>').format(
                colour(n), _n(self.x(i)), _n(self.y(value)), radius, self._tip(i, series, value)
            )

    def _points(self) -> Iterator[tuple[int, tuple[int, Series, float]]]:
        for n, series in enumerate(self.chart.series):
            for i, value in enumerate(series.values):
                if value is not None:
                    yield i, (n, series, value)

    def _path(self, run: Sequence[tuple[int, float]]) -> str:
        return "M" + "L".join(f"{_n(self.x(i))} {_n(self.y(value))}" for i, value in run)

    def _tip(self, index: int, series: Series, value: float) -> Markup:
        text = f"{self.chart.categories[index]} · {series.name}: {full(value, fractions=self.chart.fractions)}"
        return Markup("<title>{}</title>").format(text)


def _runs(series: Series) -> Iterator[list[tuple[int, float]]]:
    """Yield the unbroken stretches of a series: a missing value is a gap, not a zero."""
    run: list[tuple[int, float]] = []
    for i, value in enumerate(series.values):
        if value is not None:
            run.append((i, value))
        elif run:
            yield run
            run = []
    if run:
        yield run


def _pie(chart: Chart) -> Markup:
    values = [value or 0.0 for value in chart.series[0].values]
    total = sum(values) or 1.0
    slices, angle = [], -math.pi / 2
    for i, value in enumerate(values):
        turn = 2 * math.pi * value / total
        tip = (
            f"{chart.categories[i]}: {full(value, fractions=chart.fractions)} ({value / total:.1%})"
        )
        slices.append(_slice(i, angle, turn, tip))
        angle += turn
    return _join(slices)


def _slice(index: int, start: float, turn: float, tip: str) -> Markup:
    cx, cy, radius = PIE / 2, PIE / 2, PIE / 2 - 4
    title = Markup("<title>{}</title>").format(tip)
    if turn >= 2 * math.pi - 1e-6:
        return Markup('<circle class="slice {}" cx="{}" cy="{}" r="{}">{}</circle>').format(
            colour(index), _n(cx), _n(cy), _n(radius), title
        )
    x1, y1 = cx + radius * math.cos(start), cy + radius * math.sin(start)
    x2, y2 = cx + radius * math.cos(start + turn), cy + radius * math.sin(start + turn)
    path = f"M{_n(cx)} {_n(cy)}L{_n(x1)} {_n(y1)}A{_n(radius)} {_n(radius)} 0 {int(turn > math.pi)} 1 {_n(x2)} {_n(y2)}Z"
    return Markup('<path class="slice {}" d="{}">{}</path>').format(colour(index), path, title)


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    return Markup('<line class="{}" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(
        kind, _n(x1), _n(y1), _n(x2), _n(y2)
    )


def _text(x: float, y: float, text: str, kind: str) -> Markup:
    return Markup('<text class="{}" x="{}" y="{}">{}</text>').format(kind, _n(x), _n(y), text)


def _join(parts: Sequence[Markup]) -> Markup:
    return Markup("").join(parts)


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
