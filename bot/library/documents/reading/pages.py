"""PDF files, web pages and mail as text."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from ctypes import POINTER, c_float, c_ushort, cast, create_string_buffer
from dataclasses import dataclass
from email import policy
from email.message import EmailMessage, MIMEPart
from email.parser import BytesParser
from typing import Any

from bot.library.documents.cells import clean
from bot.library.documents.reading.text import SUPERSCRIPTS, decode
from bot.library.documents.results import Document, Unreadable

_HEADERS = ("From", "To", "Cc", "Date", "Subject")


def read_mail(data: bytes, name: str) -> Document:
    """Return the main headers and the text of an e-mail; attachments are named, not read."""
    message = BytesParser(EmailMessage, policy=policy.default).parsebytes(data)
    headers = [f"{header}: {message[header]}" for header in _HEADERS if message[header]]
    bodies = [message.get_body((kind,)) for kind in ("plain", "html")]
    words = [_body_text(body, name) for body in bodies if body is not None]
    if not headers or not words:
        raise Unreadable(f"{name} is damaged: it is not readable as an e-mail.")
    attached = [part.get_filename() or "a file" for part in message.iter_attachments()]
    gaps = [f"attached to it, and not read: {', '.join(attached)}"] if attached else []
    text = "\n".join([*headers, "", _better_body(words)])
    return Document(clean(text), title=clean(message["Subject"] or ""), left_out=gaps)


def _better_body(words: list[str]) -> str:
    """Return the plain text, or the HTML's if that is much longer: "your reader shows no HTML"."""
    plain, *others = words
    return max(words, key=len) if any(len(other) > 2 * len(plain) for other in others) else plain


def _body_text(body: MIMEPart, name: str) -> str:
    try:
        content = body.get_content()
    except LookupError:  # an unknown encoding
        payload = body.get_payload(decode=True)
        content = payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""
    if body.get_content_subtype() == "plain":
        return str(content)
    try:
        return read_html(str(content), name).text
    except Unreadable:
        return ""


_MAX_PAGES = 1_000
_SECONDS = 15.0
_MAX_NAMED = 20  # pages, attached files
_LINE_BREAKS = str.maketrans({"\r": None, "\ufffe": "-\n", "\x02": "-\n"})
"""PDFium has special characters for a hyphen at the end of a line."""

_WIDE_LINE, _WIDE_LINE_HEIGHT = "a-line-as-wide-as-the-page", 8.0

_BESIDE_HEADING = "[beside the main text]"
_LINKS = re.compile(r"\]\([^)\s]*\)|\*\*|</?su[bp]>")
_SUPERSCRIPT = re.compile(r"<sup>([\d+−-]+)</sup>")
_MAX_ROWS, _MAX_SPANNED = 65_534, 100
"""Rows and columns that a cell of a table may span."""
_INLINE = frozenset(
    [
        "a",
        "abbr",
        "b",
        "bdi",
        "bdo",
        "big",
        "cite",
        "code",
        "data",
        "del",
        "dfn",
        "em",
        "font",
        "i",
        "img",
        "ins",
        "kbd",
        "label",
        "mark",
        "q",
        "s",
        "samp",
        "small",
        "span",
        "strike",
        "strong",
        "sub",
        "sup",
        "time",
        "tt",
        "u",
        "var",
        "wbr",
    ]
)


def read_pdf(data: bytes, name: str, pages: str | None) -> Document:
    """Return the text of a PDF: for each page a line `[page 3 of 12]`, its text, the values of its
    form fields, and notes that people put on it.

    `pages` names pages as in "1-5,8"; None means all. At most 1,000 pages are read. Raises Unreadable.
    """
    import pypdfium2
    from pypdfium2.raw import FPDF_ERR_PASSWORD

    try:
        document = pypdfium2.PdfDocument(data)
        document.init_forms()
        total = len(document)
        chosen = _choose_pages(pages, total, name) if pages and total else list(range(1, total + 1))
        pages_read = _read_pages(document, chosen[:_MAX_PAGES])
        attached = [
            document.get_attachment(at).get_name() for at in range(document.count_attachments())
        ]
    except pypdfium2.PdfiumError as error:
        if error.err_code == FPDF_ERR_PASSWORD:
            raise Unreadable(
                f"{name} is protected by a password. Ask for a copy without one."
            ) from None
        raise Unreadable(
            f"{name} is damaged: it is not readable as a PDF. Another copy of it is needed."
        ) from error
    if not pages_read:
        raise Unreadable(f"{name} is damaged: it has no pages. Another copy of it is needed.")
    if not any(page.text for page in pages_read.values()):
        raise Unreadable(
            f"{name} holds no text: its pages are blank, or scanned images, which cannot be read. "
            "A copy with text is needed, or the pages as PNG or JPEG."
        )
    text = "\n\n".join(f"[page {at} of {total}]\n{page.text}" for at, page in pages_read.items())
    title = clean(document.get_metadata_dict().get("Title", ""))
    left_out = [*_unread_pages_note(chosen, pages_read), *_not_text_notes(pages_read, attached)]
    return Document(text, title=title, pages=total, left_out=left_out)


@dataclass(frozen=True, slots=True)
class _Page:
    """The text of a page; `is_scanned` if it has images and no text."""

    text: str
    is_scanned: bool


def _read_pages(document: Any, pages: list[int]) -> dict[int, _Page]:
    """Return pages by number, as many as can be read in 15 seconds of CPU time."""
    pages_read: dict[int, _Page] = {}
    began = time.process_time()
    for number in pages:
        pages_read[number] = _read_page(document, number)
        if time.process_time() - began > _SECONDS:
            break
    return pages_read


def _read_page(document: Any, number: int) -> _Page:
    """Return a page; a damaged page is empty, as PDF viewers show it."""
    import pypdfium2
    from pypdfium2.raw import FPDF_PAGEOBJ_IMAGE

    try:
        page = document[number - 1]
    except pypdfium2.PdfiumError:
        return _Page("", is_scanned=True)
    parts = [_page_text(document, page), *_annotations(page)]
    is_empty = not any(parts)
    has_images = is_empty and any(page.get_objects(filter=[FPDF_PAGEOBJ_IMAGE], max_depth=3))
    page.close()
    return _Page("\n".join(filter(None, parts)), is_scanned=has_images)


def _page_text(document: Any, page: Any) -> str:
    """Return the text of a page in the order of its content.

    Where no line of a page is wide, as in a narrow table, PDFium takes single characters below one
    another for vertical writing. So a line as wide as the page is added below all others, and removed
    from the text.
    """
    from pypdfium2 import raw

    line = raw.FPDFPageObj_NewTextObj(document, b"Helvetica", 1.0)
    words = create_string_buffer(f"{_WIDE_LINE}\0".encode("utf-16-le"))
    raw.FPDFText_SetText(line, cast(words, POINTER(c_ushort)))
    left, bottom, right, top = (c_float() for _ in range(4))
    raw.FPDFPageObj_GetBounds(line, left, bottom, right, top)
    x, y, *_ = page.get_mediabox()
    scale = page.get_width() / max(right.value - left.value, 0.1)
    raw.FPDFPageObj_Transform(line, scale, 0, 0, _WIDE_LINE_HEIGHT, x, y + 2)
    raw.FPDFPage_InsertObject(page, line)
    text = str(page.get_textpage().get_text_range(errors="replace"))
    before, _, after = text.rpartition(_WIDE_LINE)
    return clean((before + after).translate(_LINE_BREAKS)).strip()


def _annotations(page: Any) -> Iterator[str]:
    """Yield the form fields of a page and the notes that people put on it."""
    from pypdfium2 import raw

    note_kinds = {raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_TEXT, raw.FPDF_ANNOT_HIGHLIGHT}
    checkable = {raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON}
    for at in range(raw.FPDFPage_GetAnnotCount(page)):
        annotation = raw.FPDFPage_GetAnnot(page, at)
        kind = raw.FPDFAnnot_GetSubtype(annotation)
        if kind == raw.FPDF_ANNOT_WIDGET and page.formenv:
            field = (page.formenv, annotation)
            value = _pdfium_text(raw.FPDFAnnot_GetFormFieldValue, *field)
            if raw.FPDFAnnot_GetFormFieldType(*field) in checkable:
                value = "yes" if raw.FPDFAnnot_IsChecked(*field) else ""
            label = _pdfium_text(raw.FPDFAnnot_GetFormFieldName, *field)
            yield f"[form field {label}: {value}]" if value else ""
        elif kind in note_kinds:
            words = _pdfium_text(raw.FPDFAnnot_GetStringValue, annotation, b"Contents")
            yield f"[note on the page: {words}]" if words else ""
        raw.FPDFPage_CloseAnnot(annotation)


def _pdfium_text(ask: Callable[..., int], *about: Any) -> str:
    """Return a text from PDFium: the first call tells its size in bytes of UTF-16."""
    size = ask(*about, None, 0)
    if size <= 2:
        return ""
    buffer = (c_ushort * (size // 2))()
    ask(*about, buffer, size)
    text = bytes(buffer).decode("utf-16-le", "replace").split("\0")[0]
    return " ".join(clean(text).split())


def _not_text_notes(found: dict[int, _Page], attached: list[str]) -> list[str]:
    """Return notes on scanned pages and attached files, which are not read."""
    notes = []
    if scanned := [str(number) for number, page in found.items() if page.is_scanned]:
        notes.append(
            f"no text on page {_join_some(scanned)}: images, as of a scan, which are not read"
        )
    if attached:
        notes.append(f"files attached to it are not read: {_join_some(attached)}")
    return notes


def _join_some(items: list[str]) -> str:
    return f"{', '.join(items[:_MAX_NAMED])}{', …' if len(items) > _MAX_NAMED else ''}"


def _unread_pages_note(chosen: list[int], texts: Collection[int]) -> list[str]:
    if len(chosen) == len(texts):
        return []
    return [
        f"read up to page {chosen[len(texts) - 1]}; ask for more with `pages`, for example "
        f'"{chosen[len(texts)]}-{chosen[min(len(chosen), 2 * len(texts)) - 1]}"'
    ]


def _choose_pages(pages: str, total: int, name: str) -> list[int]:
    chosen: list[int] = []
    for part in pages.split(","):
        match = re.fullmatch(r"\s*(\d{1,6})\s*(?:[-–]\s*(\d{1,6})?)?\s*", part)
        if not match:
            raise Unreadable(f'pages must be like "1-5,8", not {pages!r}.')
        first = int(match[1])
        last = int(match[2]) if match[2] else total if "-" in part or "–" in part else first
        chosen.extend(range(max(1, first), min(last, total) + 1))
    if not chosen:
        raise Unreadable(f"{name} has {total} page(s); {pages!r} names none of them.")
    return list(dict.fromkeys(chosen))


def read_html(data: bytes | str, name: str) -> Document:
    """Return the main text of a web page as Markdown, then the text beside it, with title and date.
    Raises Unreadable."""
    import trafilatura
    from lxml import etree, html  # type: ignore[import-untyped]

    def main_text(*, tables: bool) -> str:
        main_text = trafilatura.extract(
            page, output_format="markdown", include_links=True, include_tables=tables
        )
        return _SUPERSCRIPT.sub(lambda each: each[1].translate(SUPERSCRIPTS), main_text or "")

    page, note = (data, "") if isinstance(data, str) else _decode_page(data)
    try:
        tree = html.fromstring(page)
        text = main_text(tables=True)
        metadata = trafilatura.extract_metadata(tree)
        title = metadata.title or tree.findtext(".//title") or ""
        has_spans = bool(tree.xpath("//td[@rowspan>1]|//th[@rowspan>1]"))
        whole = _all_text(tree)
        if _has_other_rows(text, whole):
            text = main_text(tables=False)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        raise Unreadable(f"{name} holds no text.") from error
    if rest := _missing_lines(text, whole) if text else []:
        text = "\n".join([text, "", _BESIDE_HEADING, *rest])
    text = text or whole
    if not text.strip():
        raise Unreadable(f"{name} holds no text; it may be drawn by scripts only.")
    notes = [note] if note else []
    if has_spans:
        notes.append("Cells that span several rows are repeated in each.")
    date = metadata.date or ""
    return Document(clean(text), title=" ".join(clean(title).split()), date=date, notes=notes)


def _decode_page(data: bytes) -> tuple[str, str]:
    """Return the page as text and a note on its encoding: UTF-8, or the encoding that it declares."""
    declared = re.search(
        rb"<(?:meta|\?xml)[^>]{0,200}?(?:charset|encoding)=[\"']?([\w-]+)", data[:4096]
    )
    text, note = decode(data)
    if note and declared:
        name = declared[1].decode().lower()
        name = "cp1252" if name == "iso-8859-1" else name  # as browsers do
        with suppress(LookupError):  # an unknown encoding
            text, note = data.decode(name, "replace"), ""
    return re.sub(r"^\s*<\?xml[^>]*\?>", "", text), note


def _all_text(tree: Any) -> str:
    """Return all text of a page: a line for each block, and for each row of a table, with | between
    its cells."""
    from lxml import etree

    for node in tree.xpath("//script|//style|//noscript|//head|//template"):
        node.drop_tree()
    for table in tree.xpath("//table[not(.//table)]"):
        captions = [_on_one_line(caption) for caption in table.iter("caption")]
        rows = [" | ".join(row) for row in _rows(table)]
        for cell in table.xpath(".//td|.//th|.//caption"):
            cell.drop_tree()
        kept = [*captions, *rows, _on_one_line(table)]
        table[:] = []
        table.text = None
        for line in kept:
            etree.SubElement(table, "div").text = line
    lines = (
        " ".join(line.split()).removeprefix("| ") for line in "".join(_texts(tree)).splitlines()
    )
    return "\n".join(line for line in lines if line)


def _texts(node: Any) -> Iterator[str]:
    """Yield the texts in an element: line breaks around blocks, | before the cells of a table."""
    from lxml import etree

    for event, element in etree.iterwalk(node, events=("start", "end", "comment", "pi")):
        tag = element.tag if isinstance(element.tag, str) else ""
        if tag not in _INLINE and tag and element is not node:
            yield " | " if tag in {"td", "th"} and event == "start" else "\n"
        if event == "start" and tag:
            text = " ".join((element.text or "").splitlines())
            yield text.translate(SUPERSCRIPTS) if tag == "sup" else text
        if event != "start" and element is not node:
            yield " ".join((element.tail or "").splitlines())


def _on_one_line(node: Any) -> str:
    return " ".join("".join(_texts(node)).split())


def _rows(table: Any) -> Iterator[list[str]]:
    """Yield the cells of each row in their columns: one that spans rows is in each of them, one that
    spans columns in the first."""
    below: dict[int, tuple[int, str]] = {}  # of a column: rows that the cell above goes on for

    def go_on(line: list[str], last: int = -1) -> None:
        while len(line) in below or len(line) <= last:
            left, text = below.pop(len(line), (0, ""))
            if left > 1:
                below[len(line)] = (left - 1, text)
            line.append(text)

    for row in table.xpath("descendant-or-self::*[td or th]"):
        line = list[str]()
        for cell in row.iterchildren("td", "th"):
            go_on(line)
            rows, columns = _span(cell, "rowspan") or _MAX_ROWS, _span(cell, "colspan") or 1
            for text in [_on_one_line(cell), *[""] * (min(columns, _MAX_SPANNED) - 1)]:
                if rows > 1:
                    below[len(line)] = (rows - 1, text)
                line.append(text)
        go_on(line, last=max(below, default=-1))
        yield line


def _span(cell: Any, name: str) -> int:
    match = re.match(r"\s*(\d{1,5})", cell.get(name, ""))
    return int(match[1]) if match else 1


def _has_other_rows(text: str, whole: str) -> bool:
    """Return whether extraction lost table rows: it handles neither spanning cells nor lists in cells."""
    lines = text.splitlines()
    if not any(line.lstrip().startswith("|") for line in lines):
        return False
    rows = {_cells(line) for line in lines}
    return any(_cells(line) not in rows for line in whole.splitlines() if "|" in line)


def _missing_lines(text: str, whole: str) -> list[str]:
    """Return the lines of `whole` that the Markdown `text` has not, or not as often: the words of a
    line one after the other, a row of a table as a row."""
    plain = _spread(_LINKS.sub("", text))
    lines = Counter(map(_cells, text.splitlines()))
    missing, times = list[str](), Counter[tuple[str, ...]]()
    for line in whole.splitlines():
        cells = _cells(line)
        times[cells] += 1
        if times[cells] <= lines[cells]:
            continue
        # A word or two, as the term of a definition, says something only as a line of its own.
        is_short = len(line.split()) <= 2
        if is_short or "|" in line or times[cells] > plain.count(_spread(line)[1:-1]):
            missing.append(line)
    return missing


def _spread(text: str) -> str:
    """Return the words with two spaces between, so that the same line twice is found twice."""
    return _plain_words(text).replace(" ", "  ")


def _cells(line: str) -> tuple[str, ...]:
    """Return the words of each cell of a row, in Markdown or not."""
    return tuple(map(_plain_words, _LINKS.sub("", line).strip().strip("|").split("|")))


def _plain_words(text: str) -> str:
    return " ".join(["", *re.findall(r"[^\W_]+", text.casefold()), ""])
