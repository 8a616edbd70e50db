"""Features of Word that python-docx lacks, as XML elements of the file (ECMA-376, part 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docx.document import Document


def add_field(paragraph: Any, name: str) -> None:
    """Add a field that Word computes, such as PAGE."""
    paragraph._p.append(_element("w:fldSimple", instr=name))


def make_link(run: Any, address: str) -> None:
    """Make a run a link to `address`."""
    from docx.opc.constants import RELATIONSHIP_TYPE

    target = run.part.relate_to(address, RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
    link = _element("w:hyperlink")
    link.set(_qualified("r:id"), target)
    run._r.addprevious(link)
    link.append(run._r)


def set_font(style: Any, name: str) -> None:
    """Set the font of a style, in place of the theme's."""
    fonts = style.get_or_add_rPr().get_or_add_rFonts()
    fonts.attrib.clear()
    for script in ("ascii", "hAnsi", "cs", "eastAsia"):
        fonts.set(_qualified(f"w:{script}"), name)


def shade(properties: Any, colour: str) -> None:
    """Set the background of a cell or paragraph."""
    properties.append(_element("w:shd", val="clear", color="auto", fill=colour))


def underline(paragraph: Any) -> None:
    """Draw a line below the paragraph, as wide as the page."""
    borders = _element("w:pBdr")
    borders.append(_element("w:bottom", val="single", sz="6", space="1", color="C9CFD8"))
    paragraph._p.get_or_add_pPr().append(borders)


def set_right_to_left(paragraph: Any) -> None:
    """Make the paragraph read from right to left."""
    paragraph._p.get_or_add_pPr().append(_element("w:bidi"))


def colour_borders(table: Any, colour: str) -> None:
    """Draw thin lines between all cells."""
    borders = _element("w:tblBorders")
    for side in ("top", "left", "bottom", "right", "insideH", "insideV"):
        borders.append(_element(f"w:{side}", val="single", sz="4", space="0", color=colour))
    # Word refuses a file whose elements are in another order than the standard's.
    table._tbl.tblPr.insert_element_before(
        borders, "w:shd", "w:tblLayout", "w:tblCellMar", "w:tblLook"
    )


def set_widths(table: Any, parts: Sequence[int]) -> None:
    """Divide the width of the table among its columns in proportion to `parts`; Word may adjust it."""
    table.autofit = True
    width = sum(column.width for column in table.columns)
    for column, part in zip(table.columns, parts, strict=True):
        column.width = width * part // sum(parts)
        for cell in column.cells:
            cell.width = column.width


def keep_on_one_page(row: Any, *, repeated: bool) -> None:
    """Keep the row on one page; if `repeated`, show it at the top of each page of its table."""
    properties = row._tr.get_or_add_trPr()
    properties.append(_element("w:cantSplit"))
    if repeated:
        properties.append(_element("w:tblHeader"))


def alignment(side: str) -> Any:
    """Return Word's paragraph alignment for start, center or end."""
    from docx.enum.text import WD_ALIGN_PARAGRAPH

    return {
        "start": WD_ALIGN_PARAGRAPH.LEFT,
        "center": WD_ALIGN_PARAGRAPH.CENTER,
        "end": WD_ALIGN_PARAGRAPH.RIGHT,
    }[side]


def new_numbering(document: Document, style: str, start: int) -> int:
    """Create a numbering in the form of the style that counts from `start`, and return its id. With
    the style's own numbering all lists of a document would count as one."""
    numbering = document.part.numbering_part.element
    base_id = document.styles[style].element.pPr.numPr.numId.val
    abstract_id = numbering.num_having_numId(base_id).abstractNumId.val
    element = numbering.add_num(abstract_id)
    element.add_lvlOverride(ilvl=0).add_startOverride(start)
    return int(element.numId)


def number(paragraph: Any, numbering: int) -> None:
    """Make the paragraph an item of that numbering."""
    properties = paragraph._p.get_or_add_pPr().get_or_add_numPr()
    properties.get_or_add_numId().val = numbering
    properties.get_or_add_ilvl().val = 0


def _element(name: str, **attributes: str) -> Any:
    from docx.oxml import OxmlElement

    element = OxmlElement(name)
    for key, value in attributes.items():
        element.set(_qualified(f"w:{key}"), value)
    return element


def _qualified(prefixed: str) -> str:
    from docx.oxml.ns import qn

    return str(qn(prefixed))
