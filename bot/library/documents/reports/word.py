"""Reports as Word documents, in Word's own styles, so that people can edit them."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from bot.library.documents.reports import ooxml
from bot.library.documents.reports.blocks import (
    Block,
    Code,
    Figure,
    Heading,
    Listing,
    Paragraph,
    Quote,
    Report,
    Rule,
    Runs,
    Table,
    Text,
)

if TYPE_CHECKING:
    from docx.document import Document

_MAX_DEPTH = 3  # levels of lists that Word has styles for
_FONT, _CODE_FONT = "Calibri", "Consolas"
_CODE = "Code"
_MARGIN_CM, _IMAGE_CM = 2.2, 15.5


def docx(report: Report) -> bytes:
    """Return the document. Takes long: call it in a thread. The reader's own fonts show any letters."""
    import docx as word

    document = word.Document()
    document.core_properties.title = report.title[:255]
    document.core_properties.author = ""
    _set_page(document, report)
    _set_styles(document)
    _Writer(document, report).write(report.blocks)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def _set_page(document: Document, report: Report) -> None:
    from docx.enum.section import WD_ORIENT
    from docx.enum.text import WD_ALIGN_PARAGRAPH
    from docx.shared import Cm, Inches

    width, height = (Inches(8.5), Inches(11)) if report.on_us_letter else (Cm(21), Cm(29.7))
    [section] = document.sections
    if report.is_wide:
        section.orientation = WD_ORIENT.LANDSCAPE
        width, height = height, width
    section.page_width, section.page_height = width, height
    section.left_margin = section.right_margin = Cm(_MARGIN_CM)
    section.top_margin = section.bottom_margin = Cm(_MARGIN_CM)
    footer = section.footer.paragraphs[0]
    footer.alignment = WD_ALIGN_PARAGRAPH.CENTER
    ooxml.add_field(footer, "PAGE")


def _set_styles(document: Document) -> None:
    from docx.enum.style import WD_STYLE_TYPE
    from docx.shared import Pt, RGBColor

    normal = document.styles["Normal"]
    normal.font.name, normal.font.size = _FONT, Pt(11)
    normal.paragraph_format.space_after = Pt(7)
    for level in range(1, 7):
        style = document.styles[f"Heading {level}"]
        style.font.size, style.font.color.rgb = (
            Pt((20, 15, 13, 12, 11, 11)[level - 1]),
            RGBColor(0x1F, 0x3A, 0x5F),
        )
        style.font.italic = False
        style.paragraph_format.space_before, style.paragraph_format.space_after = Pt(14), Pt(5)
        ooxml.set_font(style.element, _FONT)
    document.styles["Caption"].font.color.rgb = RGBColor(0x5B, 0x64, 0x70)
    code = document.styles.add_style(_CODE, WD_STYLE_TYPE.PARAGRAPH)
    code.base_style = document.styles["No Spacing"]
    code.font.name, code.font.size = _CODE_FONT, Pt(9.5)
    ooxml.shade(code.element.get_or_add_pPr(), "F5F6F8")


class _Writer:
    """Appends blocks to a document."""

    def __init__(self, document: Document, report: Report) -> None:
        self._document = document
        self._images = report.images

    def write(self, blocks: Iterable[Block], style: str = "Normal", depth: int = 0) -> None:
        """Append blocks; paragraphs get `style`, and `depth` is the number of lists around them."""
        for block in blocks:
            match block:
                case Heading():
                    self._add(block, f"Heading {block.level}")
                case Paragraph():
                    self._add(block, style)
                case Code():
                    self._document.add_paragraph(block.text, style=_CODE)
                    self._document.add_paragraph()
                case Listing():
                    self._list(block, min(depth + 1, _MAX_DEPTH))
                case Quote():
                    self.write(block.blocks, "Quote", depth)
                case Table():
                    self._table(block)
                case Figure():
                    self._image(block)
                case Rule():
                    ooxml.underline(self._document.add_paragraph())

    def _add(self, text: Text, style: str) -> Any:
        paragraph = self._document.add_paragraph(style=style)
        _fill(paragraph, text)
        return paragraph

    def _list(self, listing: Listing, depth: int) -> None:
        level = "" if depth == 1 else f" {depth}"
        style = f"List {'Number' if listing.ordered else 'Bullet'}{level}"
        numbering = (
            ooxml.new_numbering(self._document, style, listing.start) if listing.ordered else None
        )
        for item in listing.items:
            first, rest = (
                (item[0], item[1:])
                if item and isinstance(item[0], Paragraph)
                else (Paragraph(runs=()), item)
            )
            paragraph = self._add(first, style)
            if numbering is not None:
                ooxml.number(paragraph, numbering)
            self.write(rest, f"List Continue{level}", depth)

    def _table(self, table: Table) -> None:
        from docx.shared import Pt

        word_table = self._document.add_table(0, len(table.heading), style="Table Grid")
        ooxml.colour_borders(word_table, "C9CFD8")
        for number, row in enumerate((table.heading, *table.rows)):
            cells = word_table.add_row()
            ooxml.keep_on_one_page(cells, repeated=number == 0)
            for cell, text, side in zip(cells.cells, row, table.alignments, strict=True):
                [paragraph] = cell.paragraphs
                _fill(paragraph, text, bold=number == 0, size=Pt(9 if len(row) > 6 else 10))
                paragraph.paragraph_format.space_after = Pt(1)
                paragraph.alignment = ooxml.alignment(side)
                if number == 0:
                    ooxml.shade(cell._tc.get_or_add_tcPr(), "EEF1F5")
        ooxml.set_widths(word_table, _widths(table))
        self._document.add_paragraph(table.caption, style="Caption")

    def _image(self, figure: Figure) -> None:
        from docx.shared import Cm

        image = io.BytesIO(self._images[figure.handle])
        self._document.add_picture(image, width=Cm(_IMAGE_CM))
        self._document.add_paragraph(figure.caption, style="Caption")


def _fill(paragraph: Any, text: Text, *, bold: bool = False, size: Any = None) -> None:
    for run in _visible(text.runs):
        word_run = paragraph.add_run(run.text)
        word_run.bold, word_run.italic = run.bold or bold or None, run.italic or None
        word_run.font.strike, word_run.font.size = run.strike or None, size
        if run.code:
            word_run.font.name = _CODE_FONT
        if run.is_link:
            ooxml.make_link(word_run, run.text)
        if text.rtl:
            word_run.font.rtl = True
    if text.rtl:
        ooxml.set_right_to_left(paragraph)


def _widths(table: Table) -> list[int]:
    """Return the relative widths of the columns, by their longest cells."""
    columns = zip(table.heading, *table.rows, strict=True)
    return [min(40, max(6, *(len(cell.plain) for cell in column))) for column in columns]


def _visible(runs: Runs) -> Runs:
    return tuple(run for run in runs if run.text)
