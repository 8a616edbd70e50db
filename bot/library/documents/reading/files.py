"""The job that reads an untrusted file: `input` in the process's folder becomes text or Parquet."""

from __future__ import annotations

import dataclasses
import resource
from pathlib import Path
from typing import Any

from bot.library.documents.results import Document, Sheet, Unreadable
from bot.library.isolated import Refused

_MAX_TEXT, _MAX_LINES = 32_000_000, 2_000_000
"""Limits of a document's text in characters and lines: it is saved and searched as a whole."""


def read(kind: str, name: str, sheet: str | None, pages: str | None) -> dict[str, Any]:
    """Read the file. Return {"document": {…}}, its text written to `text` as UTF-8, or {"tables": [{name, notes, left_out}, …]}; the table
    with index 2 is written to `2.parquet`. Raises Refused with a sentence about the file."""
    try:
        return _write_result(_read_input(kind, name, sheet, pages), name)
    except PermissionError:
        # A reader needs neither network nor other programs; a file that makes it try is hostile.
        raise Refused(
            "The file made its reader do what no reader needs; it was not read."
        ) from None
    except Unreadable as error:
        raise Refused(str(error)) from None
    except Exception as error:
        from bot.library.documents.reading.tabular import MAX_ROW_BYTES, is_too_large

        if not is_too_large(error):
            raise
        most, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
        raise Refused(
            f"{name} is too large: a table may have {most:,} bytes, and a row of it {MAX_ROW_BYTES:,}. "
            "Ask for a part of it."
        ) from None


def _read_input(
    kind: str, name: str, sheet: str | None, pages: str | None
) -> list[Sheet] | Document:
    """Read `input` with the reader for its kind. Raises Unreadable.

    Readers are imported only when needed: the libraries of some take half a second.
    """
    data = Path("input").read_bytes()
    content: list[Sheet] | Document | Sheet
    match kind:
        case "csv":
            from bot.library.documents.reading.delimited import read_delimited

            content = read_delimited(data, name, Path("0.parquet"))
        case "json":
            from bot.library.documents.reading.records import read_json

            content = read_json(data, name)
        case "xlsx":
            from bot.library.documents.reading.office import read_workbook

            content = read_workbook(data, name, sheet)
        case "docx":
            from bot.library.documents.reading.word import read_word

            content = read_word(data, name)
        case "pdf":
            from bot.library.documents.reading.pages import read_pdf

            content = read_pdf(data, name, pages)
        case "mail":
            from bot.library.documents.reading.pages import read_mail

            content = read_mail(data, name)
        case "html":
            from bot.library.documents.reading.pages import read_html

            content = read_html(data, name)
        case "parquet":
            content = _checked_parquet(name, Path("0.parquet"))
        case _:
            content = _text(data, name)
    return [content] if isinstance(content, Sheet) else content


def _text(data: bytes, name: str) -> Document:
    from bot.library.documents.reading.text import decode

    text, encoding = decode(data)
    if not text.strip():
        raise Unreadable(f"{name} is empty.")
    return Document(text, notes=[encoding] * bool(encoding))


def _checked_parquet(name: str, to: Path) -> Sheet:
    """Write a copy of the table to `to`, so that no other process opens a file from outside. NaN and
    infinity become NULL, because every sum with them is NaN or infinite."""
    import duckdb

    from bot.library.documents.reading.tabular import connect, is_too_large, write_finite

    try:
        with connect() as connection:
            notes = write_finite(connection, "read_parquet('input')", to)
            return Sheet("", [], [], notes=notes, is_written=True)
    except duckdb.Error as error:
        if is_too_large(error):
            raise
        raise Unreadable(f"{name} is damaged: it is not readable as Parquet.") from error


def _write_result(found: list[Sheet] | Document, name: str) -> dict[str, Any]:
    """Write the sheets that their reader has not written; return the result of the job."""
    if isinstance(found, Document):
        lines = len(found.text.splitlines())
        if len(found.text) > _MAX_TEXT or lines > _MAX_LINES:
            raise Unreadable(
                f"{name} holds {len(found.text):,} characters of text in {lines:,} lines, which is "
                "more than can be read. Ask for a part of it."
            )
        Path("text").write_text(found.text, encoding="utf-8", errors="surrogatepass")
        return {"document": dataclasses.asdict(found) | {"text": ""}}
    from bot.library.documents.reading.tabular import write_parquet

    for index, sheet in enumerate(found):
        if not sheet.is_written:
            write_parquet(sheet, Path(f"{index}.parquet"))
    return {
        "tables": [
            {"name": sheet.name, "notes": sheet.notes, "left_out": sheet.left_out}
            for sheet in found
        ]
    }
