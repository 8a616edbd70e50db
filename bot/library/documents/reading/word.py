"""Word documents: all text that a person sees in the document, in its order."""

from __future__ import annotations

import io
import zipfile
from collections import Counter
from collections.abc import Iterator
from typing import Any

from bot.library.documents.cells import clean
from bot.library.documents.reading.office import check_archive
from bot.library.documents.reading.text import SUPERSCRIPTS
from bot.library.documents.results import Document, Unreadable

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_DELETED = frozenset((f"{_W}del", f"{_W}moveFrom"))
_SKIPPED = _DELETED | {_FALLBACK, f"{_W}instrText", f"{_W}delText", f"{_W}pPr", f"{_W}rPr"}
_SIGNS = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}
_NOTES = {f"{_W}footnoteReference": "", f"{_W}endnoteReference": "e"}

_NOT_READ = {
    "chart": "charts",
    "diagramData": "diagrams",
    "aFChunk": "documents",
    "oleObject": "files",
    "package": "files",
}
_BLIP = "{http://schemas.openxmlformats.org/drawingml/2006/main}blip"


def read_word(data: bytes, name: str) -> Document:
    """Return the text of a Word document in reading order: headings as #, tables with | between
    cells, then footnotes, endnotes, comments, page headers and footers. Tracked changes are read as
    accepted, and noted. Raises Unreadable."""
    import docx
    from docx.opc.exceptions import PackageNotFoundError

    check_archive(data, name)
    try:
        document = docx.Document(io.BytesIO(data))
    except (KeyError, ValueError, PackageNotFoundError, zipfile.BadZipFile, SyntaxError) as error:
        raise Unreadable(f"{name} is damaged: it is not readable as a Word document.") from error
    reader = _Reader(document)
    body, margins = reader.blocks(document.element), reader.page_margins()
    text = clean("\n\n".join([*body, *reader.footnotes(), *reader.comments(), *margins]))
    left_out = reader.embedded_notes()
    if not text.strip():
        why = f", but what is not read: {'; '.join(left_out)}" if left_out else ""
        raise Unreadable(f"{name} holds no text{why}.")
    title = clean(document.core_properties.title or "")
    return Document(text, title=title, notes=reader.notes(), left_out=left_out)


class _Reader:
    def __init__(self, document: Any) -> None:
        self._document = document
        self._styles = {
            style.get(f"{_W}styleId"): _value(style.find(f"{_W}name"))
            for style in document.styles.element.iter(f"{_W}style")
        }
        self._numbered = {
            style.get(f"{_W}styleId")
            for style in document.styles.element.iter(f"{_W}style")
            if next(style.iter(f"{_W}numPr"), None) is not None
        }
        self._changes = Counter(
            "inserted" if change.tag in {f"{_W}ins", f"{_W}moveTo"} else "deleted"
            for change in document.element.iter(f"{_W}ins", f"{_W}moveTo", *_DELETED)
        )

    def blocks(self, parent: Any) -> Iterator[str]:
        """Yield paragraphs and tables below an element, also in content controls and text boxes."""
        for child in parent:
            if child.tag == f"{_W}p":
                yield from filter(None, [self._paragraph(child)])
                for box in child.iter(f"{_W}txbxContent"):
                    if not any(ancestor.tag == _FALLBACK for ancestor in box.iterancestors()):
                        yield from self.blocks(box)
            elif child.tag == f"{_W}tbl":
                yield from filter(None, ["\n".join(self._rows(child))])
            elif child.tag not in _SKIPPED:
                yield from self.blocks(child)

    def footnotes(self) -> Iterator[str]:
        """Yield footnotes and endnotes under the marks that refer to them in the text."""
        for kind, mark in (("footnote", ""), ("endnote", "e")):
            for part in self._parts(f"{kind}s"):
                for note in part.iter(f"{_W}{kind}"):
                    if text := " ".join(self.blocks(note)):
                        yield f"[^{mark}{note.get(f'{_W}id')}]: {text}"

    def page_margins(self) -> Iterator[str]:
        """Yield page headers and footers, each different text once."""
        for kind in ("header", "footer"):
            texts = [" ".join(self.blocks(part)).strip() for part in self._parts(kind)]
            for text in filter(None, dict.fromkeys(texts)):
                yield f"[page {kind}] {text}"

    def notes(self) -> list[str]:
        """Return notes on what the text does not show: tracked changes, numbering, pictures."""
        notes = []
        if self._changes:
            inserted, deleted = self._changes["inserted"], self._changes["deleted"]
            notes.append(
                f"It has tracked changes: {inserted:,} insertions are in the text, {deleted:,} "
                "deletions are not."
            )
        marks = self._document.element.iter(f"{_W}numPr", f"{_W}pStyle")
        if any(mark.tag == f"{_W}numPr" or _value(mark) in self._numbered for mark in marks):
            notes.append(
                "Numbers that Word itself gives to headings and lists are not in the text."
            )
        if pictures := sum(1 for _ in self._document.element.iter(_BLIP)):
            notes.append(f"It has {pictures:,} pictures, of which the text says nothing.")
        return notes

    def comments(self) -> Iterator[str]:
        """Yield the comments that people made on the text."""
        for part in self._parts("comments"):
            for comment in part.iter(f"{_W}comment"):
                if text := " ".join(self.blocks(comment)):
                    yield f"[comment by {comment.get(f'{_W}author') or 'somebody'}] {text}"

    def embedded_notes(self) -> list[str]:
        """Return notes on embedded charts, diagrams and files, which are not read."""
        kinds = [
            relationship.reltype.rpartition("/")[2]
            for relationship in self._document.part.rels.values()
        ]
        counted = ((kinds.count(kind), what) for kind, what in _NOT_READ.items())
        return [f"{what} inside it are not read: {count:,}" for count, what in counted if count]

    def _parts(self, kind: str) -> list[Any]:
        """Return the XML of the document's parts of a kind, such as "footnotes"."""
        from docx.oxml import parse_xml

        parts = [
            relationship.target_part
            for relationship in self._document.part.rels.values()
            if not relationship.is_external and relationship.reltype.endswith(f"/{kind}")
        ]
        return [
            part.element if hasattr(part, "element") else parse_xml(part.blob) for part in parts
        ]

    def _paragraph(self, paragraph: Any) -> str:
        text = "".join(_paragraph_text(paragraph)).strip()
        properties = paragraph.find(f"{_W}pPr")
        style = self._styles.get(_value(_child(properties, "pStyle"))) or ""
        level = style.casefold().removeprefix("heading ")
        if text and style.casefold().startswith("heading ") and level.isdecimal():
            return f"{'#' * int(level)} {text}"
        is_item = style.casefold().startswith("list") or _child(properties, "numPr") is not None
        return f"- {text}" if text and is_item else text

    def _rows(self, table: Any) -> Iterator[str]:
        """Yield the rows of a table; a cell that spans several rows is in each of them."""
        above: dict[int, str] = {}
        for row in _nested(table, "tr", "tbl"):
            row_properties = row.find(f"{_W}trPr")
            if _child(row_properties, "del") is not None:
                continue
            cells: list[str] = []
            for cell in _nested(row, "tc", "tr"):
                properties, at = cell.find(f"{_W}tcPr"), len(cells)
                merged = _child(properties, "vMerge")
                text = " ".join(" ".join(self.blocks(cell)).split())
                if merged is not None and _value(merged) != "restart":
                    text = above.get(at, text)
                above[at] = text
                span = _value(_child(properties, "gridSpan")) or "1"
                cells += [text, *[""] * (min(int(span), 100) - 1 if span.isdecimal() else 0)]
            yield " | ".join(cells)


def _nested(parent: Any, name: str, stop: str) -> Iterator[Any]:
    """Yield children of that name, also in content controls, but not in a nested `stop` element."""
    for child in parent:
        if child.tag == f"{_W}{name}":
            yield child
        elif child.tag not in {f"{_W}{stop}", f"{_W}tc", *_DELETED}:
            yield from _nested(child, name, stop)


def _paragraph_text(parent: Any) -> Iterator[str]:
    """Yield the visible text of a paragraph, with marks for notes; text boxes are separate blocks."""
    for child in parent:
        if child.tag in {f"{_W}t", f"{_MATH}t"}:
            yield child.text or ""
        elif child.tag == f"{_W}ffData":
            yield _form_field_value(child)
        elif child.tag == f"{_W}r" and _is_superscript(child):
            yield "".join(_paragraph_text(child)).translate(SUPERSCRIPTS)
        elif child.tag in _SIGNS:
            yield _SIGNS[child.tag]
        elif child.tag in _NOTES:
            yield f"[^{_NOTES[child.tag]}{child.get(f'{_W}id')}]"
        elif child.tag == f"{_W}txbxContent" or child.tag in _SKIPPED:
            continue
        else:
            yield from _paragraph_text(child)


def _is_superscript(run: Any) -> bool:
    return _value(_child(run.find(f"{_W}rPr"), "vertAlign")) == "superscript"


def _form_field_value(field: Any) -> str:
    """Return the choice in a form field: the list entry, or ☒ or ☐."""
    choices, box = field.find(f"{_W}ddList"), field.find(f"{_W}checkBox")
    if choices is not None:
        named = [_value(entry) for entry in choices.iter(f"{_W}listEntry")]
        at = _value(_child(choices, "result")) or _value(_child(choices, "default")) or "0"
        return named[int(at)] if at.isdecimal() and int(at) < len(named) else ""
    if box is not None:
        state = box.find(f"{_W}checked")
        state = box.find(f"{_W}default") if state is None else state
        is_on = state is not None and (_value(state) or "1") in {"1", "true", "on"}
        return "☒" if is_on else "☐"
    return ""


def _child(parent: Any, name: str) -> Any:
    return None if parent is None else parent.find(f"{_W}{name}")


def _value(element: Any) -> str:
    return "" if element is None else element.get(f"{_W}val") or ""
