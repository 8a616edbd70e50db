"""Charts in Slack's own format; as an image or a table if Slack has no such chart.

Limits of the `data_visualization` block (docs.slack.dev): title and axis titles 50 characters, 1–6
series with names of 20, up to 20 points per series, labels of 20, a pie of up to 6 segments.
"""

from __future__ import annotations

import math

from bot.core.answers import Chart, Series, Table
from bot.slack.ui import words
from bot.slack.ui.blocks import Block, shortened
from bot.slack.ui.links import LinkGate
from bot.slack.ui.markdown import safe_text
from bot.slack.ui.parts import Piece, Upload, written
from bot.slack.ui.tables import as_csv, file_name, table_pieces
from bot.text.locales import figures, rewritten

_NATIVE = ("bar", "line", "area", "pie")
_MAX_TITLE = 50
_MAX_LABEL = 20
_MAX_SERIES = 6
_MAX_POINTS = 20
_MAX_SEGMENTS = 6
_MAX_ALT = 1_000  # files.getUploadURLExternal, alt_txt


def chart_pieces(
    chart: Chart | None, gate: LinkGate, locale: str
) -> tuple[list[Piece], list[Upload]]:
    """Return the chart, and its image if Slack cannot draw it."""
    if chart is None:
        return [written(words.CHART_MISSING())], []
    block = native_chart(chart)
    if block:
        return [Piece(block, f"{_title(chart, gate)}\n\n{_numbers_as_text(chart, locale)}")], []
    if chart.image:
        note = words.CHART_AS_IMAGE(title=safe_text(chart.title, gate))
        name = f"{file_name(chart.title) or 'chart'}.png"
        return [written(note)], [Upload(name, handle=chart.image, alt=_alt_text(chart, locale))]
    heading = written(words.CHART_AS_TABLE(title=safe_text(chart.title, gate)))
    pieces, uploads = table_pieces(_numbers(chart), gate, locale)
    return [heading, *pieces], uploads


def native_chart(chart: Chart) -> Block | None:
    """Return the block for a chart; None if Slack has no such chart."""
    if chart.kind not in _NATIVE:
        return None
    labels = [shortened(label, _MAX_LABEL) for label in chart.labels]
    names = [shortened(series.name, _MAX_LABEL) for series in chart.series]
    if not (_are_names(labels) and _is_complete(chart)):
        return None
    if chart.kind == "pie":
        body = _pie(labels, chart.series)
    else:
        body = _axes(chart, labels, names) if _are_names(names) else None
    if body is None:
        return None
    title = shortened(chart.title.strip(), _MAX_TITLE) or "Chart"
    return {"type": "data_visualization", "title": title, "chart": body}


def _pie(labels: list[str], series: list[Series]) -> Block | None:
    if len(series) != 1 or len(labels) > _MAX_SEGMENTS:
        return None
    values = [value or 0.0 for value in series[0].values]
    if any(value <= 0 for value in values):
        return None
    segments = [
        {"label": label, "value": value} for label, value in zip(labels, values, strict=True)
    ]
    return {"type": "pie", "segments": segments}


def _axes(chart: Chart, labels: list[str], names: list[str]) -> Block | None:
    if len(names) > _MAX_SERIES or len(labels) > _MAX_POINTS:
        return None
    axis: Block = {"categories": labels}
    if chart.x_title.strip():
        axis["x_label"] = shortened(chart.x_title.strip(), _MAX_TITLE)
    if chart.y_title.strip():
        axis["y_label"] = shortened(chart.y_title.strip(), _MAX_TITLE)
    series = [
        {
            "name": name,
            "data": [
                {"label": label, "value": value}
                for label, value in zip(labels, one.values, strict=True)
            ],
        }
        for name, one in zip(names, chart.series, strict=True)
    ]
    return {"type": chart.kind, "series": series, "axis_config": axis}


def _are_names(names: list[str]) -> bool:
    """Return whether labels are unique and not empty: Slack matches points to categories by them."""
    return bool(names) and all(name.strip() for name in names) and len(set(names)) == len(names)


def _is_complete(chart: Chart) -> bool:
    return all(
        len(series.values) == len(chart.labels)
        and all(value is not None and math.isfinite(value) for value in series.values)
        for series in chart.series
    ) and bool(chart.series)


def _numbers(chart: Chart) -> Table:
    columns = [chart.x_title, *(series.name for series in chart.series)]
    rows = [
        [label, *(_number(series, index) for series in chart.series)]
        for index, label in enumerate(chart.labels)
    ]
    return Table(caption="", columns=columns, rows=rows)


def _number(series: Series, index: int) -> str:
    value = series.values[index] if index < len(series.values) else None
    return "" if value is None else f"{value:,.10g}"


def _numbers_as_text(chart: Chart, locale: str) -> str:
    table = _numbers(chart)
    lines = as_csv(figures([table.columns, *table.rows], locale)).decode("utf-8-sig").splitlines()
    return "\n".join(f"    {line}" for line in lines)


def _alt_text(chart: Chart, locale: str) -> str:
    """Describe the chart for a screen reader, with as many of its values as fit."""
    if chart.kind == "image":
        return shortened(chart.title, _MAX_ALT)
    lines = [
        f"{series.name}: {', '.join(_points(chart, series, locale))}" for series in chart.series
    ]
    text = words.CHART_ALT(kind=words.CHART_KINDS[chart.kind](), title=chart.title)
    return shortened(" ".join([text, *(f"{line}." for line in lines)]), _MAX_ALT)


def _points(chart: Chart, series: Series, locale: str) -> list[str]:
    values = (rewritten(_number(series, index), locale) for index in range(len(chart.labels)))
    return [f"{label} {value}" for label, value in zip(chart.labels, values, strict=True) if value]


def _title(chart: Chart, gate: LinkGate) -> str:
    return f"**{safe_text(chart.title, gate)}**"
