"""PDF files say all that people see on their pages, and what is in them beside text (V12)."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

from pypdf import PdfWriter
from pypdf.generic import (
    ArrayObject,
    DictionaryObject,
    FloatObject,
    NameObject,
    PdfObject,
    StreamObject,
    TextStringObject,
)

from bot.library.documents.reading.pages import read_pdf
from bot.library.documents.results import Document

Words = tuple[int, int, str]


def read(words: Sequence[Words], change: Callable[[PdfWriter], None] | None = None) -> Document:
    """Read a PDF of one page with words in places, counted from its lower left corner."""
    writer = PdfWriter()
    page = writer.add_blank_page(400, 400)
    font = DictionaryObject()
    for key, value in (("Type", "Font"), ("Subtype", "Type1"), ("BaseFont", "Helvetica")):
        font[NameObject(f"/{key}")] = NameObject(f"/{value}")
    fonts = DictionaryObject({NameObject("/F1"): font})
    page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
    content = StreamObject()
    content.set_data(
        "\n".join(f"BT /F1 8 Tf {x} {y} Td ({text}) Tj ET" for x, y, text in words).encode()
    )
    page[NameObject("/Contents")] = writer._add_object(content)
    if change:
        change(writer)
    out = io.BytesIO()
    writer.write(out)
    return read_pdf(out.getvalue(), "a.pdf", None)


def annotated(kind: str, **values: str) -> Callable[[PdfWriter], None]:
    def change(writer: PdfWriter) -> None:
        about: dict[str, PdfObject] = {
            "Type": NameObject("/Annot"),
            "Subtype": NameObject(f"/{kind}"),
        }
        about["Rect"] = ArrayObject(map(FloatObject, (10, 10, 90, 30)))
        for key, value in values.items():
            about[key] = NameObject(value) if value.startswith("/") else TextStringObject(value)
        marks = DictionaryObject({NameObject(f"/{key}"): each for key, each in about.items()})
        reference = writer._add_object(marks)
        writer.pages[0][NameObject("/Annots")] = ArrayObject([reference])
        if kind == "Widget":
            form = DictionaryObject({NameObject("/Fields"): ArrayObject([reference])})
            writer.root_object[NameObject("/AcroForm")] = form

    return change


def test_rows_of_a_narrow_table_stay_rows() -> None:
    """Also single digits below one another, with no wide line on the page."""
    table = [(72 + 30 * n % 60, 300 - 9 * (n // 2), str(n * 7 % 23)) for n in range(8)]
    assert read(table).text == "[page 1 of 1]\n0 7\n14 21\n5 12\n19 3"
    column = [(72, 300 - 9 * n, str(n)) for n in range(4)]
    assert read(column).text == "[page 1 of 1]\n0\n1\n2\n3"


def test_what_is_filled_into_a_form_is_read() -> None:
    found = read([(72, 300, "Name")], annotated("Widget", FT="/Tx", T="name", V="Ada Łoś"))
    assert found.text == "[page 1 of 1]\nName\n[form field name: Ada Łoś]"


def test_what_is_written_on_a_page_is_read() -> None:
    found = read([(72, 300, "Terms")], annotated("FreeText", Contents="30 days only"))
    assert found.text == "[page 1 of 1]\nTerms\n[note on the page: 30 days only]"


def test_scans_and_attached_files_are_said_to_be_missing() -> None:
    """Nobody is told that a quote is in no page when one of them is a picture."""

    def change(writer: PdfWriter) -> None:
        writer.add_attachment("terms.txt", b"x")
        image = StreamObject()
        for key, value in (("Type", "XObject"), ("Subtype", "Image"), ("ColorSpace", "DeviceGray")):
            image[NameObject(f"/{key}")] = NameObject(f"/{value}")
        for key in ("Width", "Height", "BitsPerComponent"):
            image[NameObject(f"/{key}")] = FloatObject(1 if key != "BitsPerComponent" else 8)
        image.set_data(b"x")
        scan = writer.add_blank_page(400, 400)
        images = DictionaryObject({NameObject("/I"): writer._add_object(image)})
        scan[NameObject("/Resources")] = DictionaryObject({NameObject("/XObject"): images})
        content = StreamObject()
        content.set_data(b"q 100 0 0 100 0 0 cm /I Do Q")
        scan[NameObject("/Contents")] = writer._add_object(content)
        writer.add_blank_page(400, 400)

    assert read([(72, 300, "Terms")], change).left_out == [
        "no text on page 2: images, as of a scan, which are not read",
        "files attached to it are not read: terms.txt",
    ]
