"""PDF files and web pages."""

from __future__ import annotations

import io
import re
import time
from typing import Any

from bot.parsing.results import Document, Unreadable
from bot.parsing.text import clean

_MAX_PAGES = 200
_SECONDS = 15.0


def read_pdf(data: bytes, name: str, pages: str | None) -> Document:
    """The text of a PDF with a line `[page 3 of 12]` above each page; the first 200 pages, or
    those named as in "1-5,8"."""
    from pypdf import PdfReader
    from pypdf.errors import FileNotDecryptedError, LimitReachedError, PyPdfError

    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted:
            reader.decrypt("")
        total = len(reader.pages)
        chosen = _chosen(pages, total, name) if pages else list(range(1, total + 1))
        texts = _page_texts(reader, chosen[:_MAX_PAGES])
    except FileNotDecryptedError:
        raise Unreadable(
            f"{name} is protected by a password. Ask for a copy without one."
        ) from None
    except LimitReachedError:
        raise Unreadable(
            f"{name} unpacks to far too much and was not read. Ask for the pages that matter, or "
            "for their text."
        ) from None
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unreadable(
            f"{name} is damaged: it is not readable as a PDF. Another copy of it is needed."
        ) from error
    if not texts:
        raise Unreadable(f"{name} is damaged: it has no pages. Another copy of it is needed.")
    if not any(texts.values()):
        raise Unreadable(
            f"{name} holds no text: its pages are blank, or scanned images, which cannot be read. "
            "A copy with text is needed, or the pages as PNG or JPEG."
        )
    text = "\n\n".join(f"[page {page} of {total}]\n{text}" for page, text in texts.items())
    title = str(reader.metadata.title or "") if reader.metadata else ""
    return Document(
        text, title=clean(title), pages=total, notes=_notes(texts), left_out=_unread(chosen, texts)
    )


def _page_texts(reader: Any, pages: list[int]) -> dict[int, str]:
    """The text of the pages by number: of as many as can be read before time runs short."""
    texts: dict[int, str] = {}
    for page in pages:
        texts[page] = clean(reader.pages[page - 1].extract_text()).strip()
        if time.process_time() > _SECONDS:
            break
    return texts


def _notes(texts: dict[int, str]) -> list[str]:
    blank = [str(page) for page, text in texts.items() if not text]
    if not blank:
        return []
    return [
        f"No text on page {', '.join(blank[:20])}{', …' if len(blank) > 20 else ''}: blank, or "
        "scanned images, which cannot be read."
    ]


def _unread(chosen: list[int], texts: dict[int, str]) -> list[str]:
    if len(chosen) == len(texts):
        return []
    return [
        f"read up to page {chosen[len(texts) - 1]}; ask for more with `pages`, for example "
        f'"{chosen[len(texts)]}-{chosen[min(len(chosen), 2 * len(texts)) - 1]}"'
    ]


def _chosen(pages: str, total: int, name: str) -> list[int]:
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


def read_html(data: bytes, name: str) -> Document:
    """The main text of a web page as Markdown, with its title and date."""
    import trafilatura
    from lxml import etree, html  # type: ignore[import-untyped]

    try:
        tree = html.fromstring(data)
        text = trafilatura.extract(data, output_format="markdown", include_links=True) or ""
        metadata = trafilatura.extract_metadata(tree)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        raise Unreadable(f"{name} holds no text.") from error
    title = metadata.title or tree.findtext(".//title") or ""
    text = text or _all_text(tree)
    if not text.strip():
        raise Unreadable(f"{name} holds no text; it may be drawn by scripts only.")
    date = metadata.date or ""
    return Document(clean(text), title=" ".join(clean(title).split()), date=date)


def _all_text(tree: Any) -> str:
    """What is left when no main text can be told from the rest."""
    for node in tree.xpath("//script|//style|//noscript|//head"):
        node.drop_tree()
    lines = (" ".join(line.split()) for line in tree.text_content().splitlines())
    return "\n".join(line for line in lines if line)
