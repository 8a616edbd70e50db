"""Files that are made to fill a memory, or to have their reader fetch what is none of its business."""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import Path

import docx
import openpyxl

_LAUGHS = "".join(
    f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' if n else '<!ENTITY l0 "ha ha ha ha ha ">'
    for n in range(10)
)
"""A thousand million laughs, unpacked."""


def hostile_files(canary: Path) -> dict[str, bytes]:
    """By name; some of them try to have `canary` read."""
    outside = f'<!ENTITY l9 SYSTEM "{canary.as_uri()}">'
    return {
        "laughs.xlsx": _with(workbook(), "xl/worksheets/sheet1.xml", _LAUGHS),
        "laughs.docx": _with(document(), "word/document.xml", _LAUGHS),
        "outside.xlsx": _with(workbook(), "xl/worksheets/sheet1.xml", outside),
        "outside.docx": _with(document(), "word/document.xml", outside),
        "outside.html": f'<!DOCTYPE html [{outside}]><p>&l9;</p><iframe src="{canary}">'.encode(),
        "zip.xlsx": _zipped({"xl/workbook.xml": b"0" * 30_000_000}),
        "lying.docx": _lying(_zipped({"word/document.xml": b"<a/>" * 8_000_000})),
        "pages.pdf": _pdf(zlib.compress(b"BT (" + bytes(30_000_000) + b") Tj ET", 1)),
    }


def workbook() -> bytes:
    book, out = openpyxl.Workbook(write_only=True), io.BytesIO()
    book.create_sheet().append(["WORD"])
    book.save(out)
    return out.getvalue()


def document() -> bytes:
    made, out = docx.Document(), io.BytesIO()
    made.add_paragraph("WORD")
    made.save(out)
    return out.getvalue()


def _with(archive: bytes, part: str, entities: str) -> bytes:
    """An Office file in which every piece of text of one part is the entity `l9`."""
    with zipfile.ZipFile(io.BytesIO(archive)) as old:
        parts = {each: old.read(each) for each in old.namelist()}
    text = parts[part].decode()
    body = text[text.index("?>") + 2 :] if text.startswith("<?xml") else text
    parts[part] = f"<!DOCTYPE x [{entities}]>{body.replace('WORD', '&l9;')}".encode()
    return _zipped(parts)


def _zipped(parts: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return out.getvalue()


def _lying(archive: bytes) -> bytes:
    """Its directory says that what is inside has a hundred bytes."""
    entry = archive.index(b"PK\x01\x02")
    return archive[: entry + 24] + (100).to_bytes(4, "little") + archive[entry + 28 :]


def _pdf(stream: bytes) -> bytes:
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R "
        b"/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(stream), stream),
    ]
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, part in enumerate(parts, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, part)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(parts) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(parts) + 1, start)
    return bytes(out)
