"""Reports: Markdown from the model as a Word document or a PDF."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from math import isfinite
from typing import Any

from bot.core.answers import Chart
from bot.core.context import current_request
from bot.core.errors import ToolError
from bot.core.links import PermittedLinks
from bot.library.documents import spreadsheets
from bot.library.documents.cells import cell_text
from bot.library.documents.reports.blocks import (
    Block,
    Figure,
    Heading,
    Listing,
    Paragraph,
    Quote,
    Report,
    Run,
    Table,
    Text,
    all_blocks,
)
from bot.library.documents.reports.images import MAX_PIXELS, plain_png
from bot.library.documents.reports.links import with_permitted_links
from bot.library.documents.reports.markdown import parse_blocks
from bot.library.documents.reports.pdf import pdf
from bot.library.documents.reports.word import docx
from bot.services.artifact_tables import ArtifactTables
from bot.text import locales
from bot.text.invisible_text import without_invisible
from bot.text.languages import locale_for
from bot.text.locales import locale_of
from bot.text.redaction import redacted, redacted_cells
from bot.toolkit.provided.artifacts import CHART_TYPE, Artifacts
from bot.toolkit.provided.exports import ReportFile
from bot.toolkit.provided.tables import is_table

_MAX_ROWS = 1000
_MAX_COLUMNS = 16
_MAX_FIGURES = 20


async def with_figures(
    blocks: Sequence[Block], artifacts: Artifacts, locale: str
) -> tuple[tuple[Block, ...], dict[str, bytes], tuple[str, ...]]:
    """Return the blocks with each figure of a table replaced by that table, the PNGs of the other
    figures by handle, and a note for each incomplete figure, whose caption says so too.

    A figure without a handle becomes its caption. Raises ToolError for a handle that is no chart,
    image or table, and for a table that is too large for a report.
    """
    found = _FigureLoader(artifacts, locale)
    return await found.fill(blocks), found.images, tuple(dict.fromkeys(found.gaps))


class _FigureLoader:
    def __init__(self, artifacts: Artifacts, locale: str) -> None:
        self._artifacts = artifacts
        self._locale = locale
        self._count = 0
        self._pixels = 0
        self.images: dict[str, bytes] = {}
        self.gaps: list[str] = []

    async def fill(self, blocks: Iterable[Block]) -> tuple[Block, ...]:
        return tuple([await self._fill_block(block) for block in blocks])

    async def _fill_block(self, block: Block) -> Block:
        match block:
            case Figure():
                return await self._figure(block)
            case Quote():
                return Quote(blocks=await self.fill(block.blocks))
            case Listing():
                items = tuple([await self.fill(item) for item in block.items])
                return block.model_copy(update={"items": items})
            case _:
                return block

    async def _figure(self, figure: Figure) -> Block:
        if ":" in figure.handle or "/" in figure.handle:  # an address: nothing is fetched
            return Paragraph(runs=(Run(text=figure.caption, italic=True),))
        self._count += 1
        if self._count > _MAX_FIGURES:
            raise ToolError(f"A report has at most {_MAX_FIGURES} charts and tables by handle.")
        artifact = await self._artifacts.find(figure.handle)
        gaps = [f"not complete: {gap}" for gap in artifact.left_out]
        self.gaps += gaps
        caption = figure.caption + "".join(f" ({gap})" for gap in gaps)
        figure = figure.model_copy(update={"caption": caption})
        if is_table(artifact):
            return await self._table(figure)
        image = figure.handle
        if artifact.media_type == CHART_TYPE:
            image = Chart.model_validate_json(await self._artifacts.read(figure.handle)).image
        elif artifact.media_type != "image/png":
            raise ToolError(
                f"{figure.handle} is {artifact.media_type}; only a chart_… or a tbl_… can stand in a "
                "report as ![caption](handle)."
            )
        if figure.handle not in self.images:
            data = await self._artifacts.read(image)
            plain, pixels = await asyncio.to_thread(plain_png, data, figure.handle)
            self._pixels += pixels
            if self._pixels > MAX_PIXELS:
                raise ToolError(
                    f"The images of the report have more than {MAX_PIXELS:,} pixels together. Share it "
                    "in parts, or with fewer or smaller images."
                )
            self.images[figure.handle] = plain
        return figure

    async def _table(self, figure: Figure) -> Table:
        found = await ArtifactTables(self._artifacts).rows(figure.handle, limit=_MAX_ROWS)
        if found.total > _MAX_ROWS or len(found.columns) > _MAX_COLUMNS:
            raise ToolError(
                f"{figure.handle} has {found.total:,} rows and {len(found.columns)} columns; a report "
                f"shows up to {_MAX_ROWS} and {_MAX_COLUMNS}. Aggregate it with query_table, or share "
                "it as .xlsx beside the report."
            )
        rows = await asyncio.to_thread(lambda: list(redacted_cells(found.rows)))
        return Table(
            caption=figure.caption,
            heading=tuple(_text(redacted(name).replace("_", " ")) for name in found.names),
            rows=tuple(zip(*map(self._column, zip(*rows, strict=True)), strict=True)),
            alignments=tuple(
                "end" if _is_number_type(each.type) else "start" for each in found.columns
            ),
        )

    def _column(self, values: Sequence[Any]) -> list[Text]:
        """Return cells in the asker's locale: the decimals of the column for fractions, and digits
        grouped if a whole number has five of them, so that years are not grouped."""
        found = [each for each in values if _is_finite_number(each)]
        digits = spreadsheets.digits(found)
        plain = digits == 0 and all(abs(each) < 10_000 for each in found)

        def cell(value: Any) -> str:
            if _is_finite_number(value) and not plain:
                return locales.number(value, self._locale, digits=digits)
            if isinstance(value, date) and not isinstance(value, datetime):
                return locales.day(value.isoformat(), self._locale)
            return cell_text(value)

        return [_text(cell(value)) for value in values]


def _is_finite_number(value: object) -> bool:
    return (
        isinstance(value, int | float | Decimal) and not isinstance(value, bool) and isfinite(value)
    )


def _is_number_type(kind: str) -> bool:
    return kind.endswith("INT") or kind.startswith(
        ("DECIMAL", "INTEGER", "UINTEGER", "DOUBLE", "FLOAT")
    )


def _text(value: str) -> Text:
    return Text(runs=(Run(text=value),))


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
    locale = locale_for((markdown,), reader=context.request.spoken_locale)
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
        territory=locale_of(context.request.locale).territory,
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
