"""Blocks of a report: plain data in reading order, independent of the file format."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from typing import Literal

from pydantic import BaseModel, ConfigDict, computed_field

Alignment = Literal["start", "center", "end"]


class Run(BaseModel):
    """Text of one format; a line feed in `text` ends the line. `code` excludes the other formats.

    With `is_link` the text is an address that can be clicked: no link shows another text than its
    address.
    """

    model_config = ConfigDict(frozen=True)

    text: str
    bold: bool = False
    italic: bool = False
    strike: bool = False
    code: bool = False
    is_link: bool = False


Runs = tuple[Run, ...]


class Text(BaseModel):
    """Runs of text; the first letter decides whether they read from right to left."""

    model_config = ConfigDict(frozen=True)

    runs: Runs

    @computed_field  # type: ignore[prop-decorator]
    @property
    def rtl(self) -> bool:
        """Whether it reads from right to left: its first letter decides, as in HTML's dir=auto."""
        sides = (unicodedata.bidirectional(c) for run in self.runs for c in run.text)
        return next((side != "L" for side in sides if side in {"L", "R", "AL"}), False)

    @property
    def plain(self) -> str:
        return "".join(run.text for run in self.runs)


class Heading(Text):
    """A heading; `level` from 1 to 6."""

    kind: Literal["heading"] = "heading"
    level: int


class Paragraph(Text):
    """A paragraph."""

    kind: Literal["paragraph"] = "paragraph"


class Code(BaseModel):
    """Monospaced text that keeps its lines."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["code"] = "code"
    text: str


class Listing(BaseModel):
    """A list; an ordered one counts from `start`."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["list"] = "list"
    ordered: bool
    start: int = 1
    items: tuple[tuple[Block, ...], ...]


class Quote(BaseModel):
    """A block quote."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["quote"] = "quote"
    blocks: tuple[Block, ...]


class Table(BaseModel):
    """A table whose rows are as wide as its heading."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["table"] = "table"
    caption: str = ""
    heading: tuple[Text, ...]
    rows: tuple[tuple[Text, ...], ...]
    alignments: tuple[Alignment, ...]


class Figure(BaseModel):
    """A chart, an image or a table by its handle, with a caption."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["figure"] = "figure"
    handle: str
    caption: str


class Rule(BaseModel):
    """A horizontal line across the page."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["rule"] = "rule"


Block = Heading | Paragraph | Code | Listing | Quote | Table | Figure | Rule


class Report(BaseModel):
    """The blocks of a report, and the PNGs of its figures by handle.

    `language` and `territory` are those of its readers ("en", "US"): hyphens and paper size follow
    them.
    """

    model_config = ConfigDict(frozen=True)

    title: str
    language: str
    territory: str | None
    blocks: tuple[Block, ...]
    images: dict[str, bytes] = {}

    @property
    def is_wide(self) -> bool:
        """Whether a table needs landscape format."""
        tables = (each for each in all_blocks(self.blocks) if isinstance(each, Table))
        return any(len(each.heading) > _MAX_PORTRAIT_COLUMNS for each in tables)

    @property
    def on_us_letter(self) -> bool:
        """Whether the paper size is US letter rather than A4."""
        return self.territory in _US_LETTER

    @property
    def text_content(self) -> str:
        """All text of the report."""
        return "".join(_texts(all_blocks(self.blocks)))


_US_LETTER = frozenset(
    ["BZ", "CA", "CL", "CO", "CR", "GT", "MX", "NI", "PA", "PH", "PR", "SV", "US", "VE"]
)
"""Territories that use US letter paper (CLDR, paperSize)."""

_MAX_PORTRAIT_COLUMNS = 8
"""Columns that fit in portrait format."""


def all_blocks(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the blocks and all blocks inside them."""
    for block in blocks:
        yield block
        if isinstance(block, Quote):
            yield from all_blocks(block.blocks)
        if isinstance(block, Listing):
            for item in block.items:
                yield from all_blocks(item)


def _texts(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case Heading() | Paragraph():
                yield block.plain
            case Code():
                yield block.text
            case Table():
                yield block.caption
                yield from (cell.plain for row in (block.heading, *block.rows) for cell in row)
            case Figure():
                yield block.caption
            case Listing() | Quote() | Rule():
                pass
