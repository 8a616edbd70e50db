"""Reports: Markdown from the model as a Word document or a PDF."""

from __future__ import annotations

import asyncio

from bot.core.context import current_request
from bot.core.errors import ToolError
from bot.core.links import PermittedLinks
from bot.library.documents.reports.blocks import Heading, Report, Table, all_blocks
from bot.library.documents.reports.links import with_permitted_links
from bot.library.documents.reports.markdown import parse_blocks
from bot.library.documents.reports.pdf import pdf
from bot.library.documents.reports.word import docx
from bot.services.report_figures import with_figures
from bot.text.invisible_text import without_invisible
from bot.text.locales import locale_of
from bot.toolkit.provided.artifacts import Artifacts
from bot.toolkit.provided.exports import ReportFile

_MAX_LENGTH = 200_000
_MAX_BLOCKS, _MAX_CELLS = 3_000, 20_000
"""Limits of a report: a Word document of this size takes seconds, and time grows quadratically."""


async def report(markdown: str, suffix: str, *, title: str, artifacts: Artifacts) -> ReportFile:
    """Return the text as a file in one of REPORT_FORMATS. The first heading is its title, `title` without
    one. An image alone in a paragraph, with a handle as its address, becomes that chart or table.
    Addresses that the run may not link to are text.

    Raises ToolError for a text that is too long, and for handles and letters that cannot be shown.
    """
    if len(markdown) > _MAX_LENGTH:
        raise ToolError(
            f"The text has {len(markdown):,} characters; a report has {_MAX_LENGTH:,} at most. Share it "
            "in parts, or as .md."
        )
    context = current_request()
    locale = context.request.locale
    links = PermittedLinks(context.permitted_links)
    blocks = await asyncio.to_thread(parse_blocks, without_invisible(markdown))
    heading = next((each.plain for each in blocks if isinstance(each, Heading)), title)
    blocks = with_permitted_links(
        blocks, lambda url: links.as_provided(url) if links.permits(url) else None
    )
    blocks, images, gaps = await with_figures(blocks, artifacts, locale)
    result = Report(
        title=heading,
        language=locale_of(locale).language,
        territory=locale_of(locale).territory,
        blocks=blocks,
        images=images,
    )
    _check_size(result)
    if suffix == ".docx":
        return ReportFile(await asyncio.to_thread(docx, result), gaps)
    data, notes = await asyncio.to_thread(pdf, result)
    return ReportFile(data, (*gaps, *notes))


def _check_size(result: Report) -> None:
    found = list(all_blocks(result.blocks))
    cells = sum(len(each.heading) * len(each.rows) for each in found if isinstance(each, Table))
    if len(found) > _MAX_BLOCKS or cells > _MAX_CELLS:
        raise ToolError(
            f"The report has {len(found):,} paragraphs and {cells:,} cells of tables; {_MAX_BLOCKS:,} "
            f"and {_MAX_CELLS:,} are the most. Share it in parts or as .md, and long tables as .xlsx."
        )
