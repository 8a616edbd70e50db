"""Reports: Markdown from the model as a Word document or a PDF."""

from __future__ import annotations

import asyncio

from bot.core.context import current_request
from bot.core.errors import ToolError
from bot.core.text.invisible_text import without_unseen
from bot.services.reports.blocks import Heading, Report, Table, every
from bot.services.reports.figures import filled
from bot.services.reports.markdown import blocks_of
from bot.services.reports.pdf import pdf
from bot.services.reports.word import docx
from bot.toolkit.artifacts import Artifacts
from bot.toolkit.exports import ReportFile

_LONGEST = 200_000
_MOST_BLOCKS, _MOST_CELLS = 3_000, 20_000
"""Limits of a report: a Word document of this size takes seconds, and time grows quadratically."""


async def report(markdown: str, form: str, *, title: str, artifacts: Artifacts) -> ReportFile:
    """Return the text as a file in one of REPORT_FORMATS. The first heading is its title, `title` without
    one. An image alone in a paragraph, with a handle as its address, becomes that chart or table.

    Raises ToolError for a text that is too long, and for handles and letters that cannot be shown.
    """
    if len(markdown) > _LONGEST:
        raise ToolError(
            f"The text has {len(markdown):,} characters; a report has {_LONGEST:,} at most. Share it "
            "in parts, or as .md."
        )
    locale = current_request().request.locale
    blocks = await asyncio.to_thread(blocks_of, without_unseen(markdown))
    named = next((each.plain for each in blocks if isinstance(each, Heading)), title)
    blocks, images, gaps = await filled(blocks, artifacts, locale)
    made = Report(title=named, locale=locale, blocks=blocks, images=images)
    _check_size(made)
    if form == ".docx":
        return ReportFile(await asyncio.to_thread(docx, made), gaps)
    data, notes = await asyncio.to_thread(pdf, made)
    return ReportFile(data, (*gaps, *notes))


def _check_size(made: Report) -> None:
    found = list(every(made.blocks))
    cells = sum(len(each.heading) * len(each.rows) for each in found if isinstance(each, Table))
    if len(found) > _MOST_BLOCKS or cells > _MOST_CELLS:
        raise ToolError(
            f"The report has {len(found):,} paragraphs and {cells:,} cells of tables; {_MOST_BLOCKS:,} "
            f"and {_MOST_CELLS:,} are the most. Share it in parts or as .md, and long tables as .xlsx."
        )
