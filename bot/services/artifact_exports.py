"""Exports: tables, Markdown and charts as files for people, without secrets."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.core.answers import Chart
from bot.core.context import current_request
from bot.core.errors import ToolError
from bot.library.documents import spreadsheets
from bot.library.documents.results import Unwritable
from bot.text.locales import rewritten
from bot.text.redaction import redacted, redacted_all, redacted_cells
from bot.toolkit.provided.artifacts import Artifacts
from bot.toolkit.provided.exports import ChartImage, ReportFile, WorkbookSheet


@dataclass(frozen=True, slots=True)
class ArtifactExports:
    """Exports with charts and tables of `artifacts`; see `bot.toolkit.provided.exports.Exports`."""

    artifacts: Artifacts

    async def csv(self, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
        """See `Exports.csv`."""
        return await asyncio.to_thread(_csv, columns, rows)

    async def workbook(self, sheets: Sequence[WorkbookSheet]) -> bytes:
        """See `Exports.workbook`."""
        try:
            return await asyncio.to_thread(_workbook, sheets)
        except Unwritable as error:
            raise ToolError(str(error)) from None

    async def report(self, markdown: str, suffix: str, *, title: str) -> ReportFile:
        """See `Exports.report`."""
        from bot.services import reports  # the code of all their formats

        markdown = await asyncio.to_thread(redacted, markdown)
        try:
            return await reports.report(markdown, suffix, title=title, artifacts=self.artifacts)
        except Unwritable as error:
            raise ToolError(str(error)) from None

    async def chart(self, chart: Chart) -> ChartImage:
        """See `Exports.chart`."""
        from bot.library.documents import drawing

        locale = current_request().request.spoken_locale
        chart = Chart.model_validate(redacted_all(chart.model_dump()))
        if chart.kind == "image":
            raise ToolError(f"{chart.title} is an image already.")
        drawn = drawing.Chart(
            chart.kind,
            chart.title,
            chart.labels,
            [drawing.Series(series.name, series.values) for series in chart.series],
            chart.y_title,
            chart.x_title,
        )
        png = await asyncio.to_thread(drawing.png, drawn, lambda text: rewritten(text, locale))
        return ChartImage(png, tuple(await asyncio.to_thread(drawing.missing_characters, drawn)))


def _csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    return spreadsheets.csv_file([redacted(name) for name in columns], redacted_cells(rows))


def _workbook(sheets: Sequence[WorkbookSheet]) -> bytes:
    return spreadsheets.workbook([_without_secrets(sheet) for sheet in sheets])


def _without_secrets(sheet: WorkbookSheet) -> WorkbookSheet:
    columns = [redacted(name) for name in sheet.columns]
    return WorkbookSheet(redacted(sheet.name), columns, list(redacted_cells(sheet.rows)))
