"""The export service for tools: files for people from tables, Markdown and charts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from bot.core.answers import Chart
from bot.library.documents.spreadsheets import WorkbookSheet as WorkbookSheet

REPORT_FORMATS = (".docx", ".pdf")


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A report; `notes` has a sentence for each thing that is not in it as it was written."""

    data: bytes
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChartImage:
    """A chart as PNG; the image has boxes in place of the characters `missing`."""

    png: bytes
    missing: tuple[str, ...] = ()


class Exports(Protocol):
    """Makes files that people open, print and send on; nothing in them runs."""

    async def csv(self, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
        """Return CSV for spreadsheets. Text that would run as a formula is escaped."""

    async def workbook(self, sheets: Sequence[WorkbookSheet]) -> bytes:
        """Return an Excel workbook. Raises ToolError when it has too many cells."""

    async def report(self, markdown: str, suffix: str, *, title: str) -> ReportFile:
        """Return Markdown as a file of one of REPORT_FORMATS; its first heading replaces `title`.

        An image alone in a paragraph with a handle as its address is that chart or table. Raises
        ToolError when it is too long, and for handles and letters that cannot be shown.
        """

    async def chart(self, chart: Chart) -> ChartImage:
        """Return a chart as an image, with numbers in the asker's locale."""
