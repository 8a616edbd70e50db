"""Word documents are read with all that their readers see (V6)."""

from __future__ import annotations

import io
from copy import deepcopy
from typing import Any

import docx
from docx.oxml import OxmlElement, parse_xml

from bot.library.documents.reading.word import read_word
from bot.library.documents.results import Document

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def read(document: Any) -> Document:
    out = io.BytesIO()
    document.save(out)
    return read_word(out.getvalue(), "d.docx")


def test_tracked_changes_are_read_as_accepted_and_noted() -> None:
    """The fee was "The fee is  euros."."""
    document = docx.Document()
    paragraph = document.add_paragraph("The fee is ")
    for xml in (
        f'<w:del {W} w:id="1"><w:r><w:delText>300</w:delText></w:r></w:del>',
        f'<w:ins {W} w:id="2"><w:r><w:t>500</w:t></w:r></w:ins>',
        f'<w:r {W}><w:t xml:space="preserve"> euros.</w:t></w:r>',
    ):
        paragraph._p.append(parse_xml(xml))
    found = read(document)
    assert found.text == "The fee is 500 euros."
    assert found.notes == [
        "It has tracked changes: 1 insertions are in the text, 1 deletions are not."
    ]


def test_content_controls_fields_and_links_are_text() -> None:
    document = docx.Document()
    document.add_heading("Contract", 1)
    run = '<w:r><w:t xml:space="preserve">{}</w:t></w:r>'
    body = document.element.body
    paragraph = f"<w:p>{run.format('Client: ')}<w:sdt><w:sdtContent>{run.format('Ada')}</w:sdtContent></w:sdt></w:p>"
    body.insert(1, parse_xml(f"<w:sdt {W}><w:sdtContent>{paragraph}</w:sdtContent></w:sdt>"))
    linked = f'<w:hyperlink>{run.format("the terms")}</w:hyperlink><w:fldSimple w:instr="x">{run.format(" 7")}</w:fldSimple>'
    body.insert(2, parse_xml(f"<w:p {W}>{linked}</w:p>"))
    assert read(document).text == "# Contract\n\nClient: Ada\n\nthe terms 7"


def test_tables_in_cells_and_merged_cells_keep_their_text() -> None:
    document = docx.Document()
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(table._cells, ("Group", "a", "", "b"), strict=True):
        cell.text = text
    table.cell(0, 0).merge(table.cell(1, 0))
    inner = table.cell(1, 1).add_table(rows=1, cols=2)
    inner.cell(0, 0).text, inner.cell(0, 1).text = "x", "42"
    assert read(document).text == "Group | a\nGroup | b x | 42"


def test_headers_footers_and_notes_are_read() -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("See")
    reference = OxmlElement("w:footnoteReference")
    reference.set(f"{{{W[9:-1]}}}id", "2")
    paragraph.add_run()._r.append(reference)
    document.sections[0].header.paragraphs[0].text = "Draft of May"
    document.sections[0].footer.paragraphs[0].text = "Confidential"
    from docx.opc.packuri import PackURI
    from docx.opc.part import Part

    notes = f'<w:footnotes {W}><w:footnote w:id="2"><w:p><w:r><w:t>Without tax.</w:t></w:r></w:p></w:footnote></w:footnotes>'
    part = Part(
        PackURI("/word/footnotes.xml"),
        "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml",
        notes.encode(),
        document.part.package,
    )
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
    document.part.relate_to(part, kind)
    text = (
        "See[^2]\n\n[^2]: Without tax.\n\n[page header] Draft of May\n\n[page footer] Confidential"
    )
    assert read(document).text == text


def test_raised_figures_are_no_part_of_the_number_before() -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("10")
    paragraph.add_run("-6").font.superscript = True
    paragraph.add_run(" m, 5")
    paragraph.add_run("th").font.superscript = True
    assert read(document).text == "10⁻⁶ m, 5th"


def test_comments_are_read_below_the_text() -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("The fee is 5 euros.")
    document.add_comment(paragraph.runs, text="Not 6?", author="Ada")
    assert read(document).text == "The fee is 5 euros.\n\n[comment by Ada] Not 6?"


def test_what_is_chosen_in_a_form_is_read() -> None:
    choices = (
        '<w:ddList><w:result w:val="1"/><w:listEntry w:val="A"/><w:listEntry w:val="B"/></w:ddList>'
    )
    boxes = "<w:checkBox><w:default w:val='0'/><w:checked/></w:checkBox>"
    document = docx.Document()
    for field in (choices, boxes):
        run = (
            f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData>{field}</w:ffData></w:fldChar></w:r>'
        )
        document.element.body.insert(0, parse_xml(f"<w:p {W}>{run}</w:p>"))
    assert read(document).text == "☒\n\nB"


def test_what_is_not_read_of_a_document_is_said() -> None:
    document = docx.Document()
    document.add_paragraph("One", style="List Number")
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/chart"
    document.part.rels.get_or_add_ext_rel(kind, "charts/chart1.xml")
    found = read(document)
    assert found.left_out == ["charts inside it are not read: 1"]
    assert (
        "Numbers that Word itself gives to headings and lists are not in the text." in found.notes
    )


def test_a_second_body_is_read_too() -> None:
    """V19: a document of two bodies is not read by half."""
    document = docx.Document()
    document.add_paragraph("First half.")
    second = deepcopy(document.element.body)
    second.find(".//{*}t").text = "Second half."
    document.element.append(second)

    assert read(document).text == "First half.\n\nSecond half."
