"""File kinds: which reader a file needs, judged by its bytes, name and media type."""

from __future__ import annotations

import codecs
import io
import re
import zipfile
from collections import Counter
from pathlib import PurePosixPath
from typing import Literal

from bot.library.documents.results import Unreadable

Kind = Literal["text", "csv", "json", "xlsx", "docx", "pdf", "html", "mail", "parquet"]

_BY_SUFFIX: dict[str, Kind] = {
    **dict.fromkeys((".txt", ".md", ".markdown", ".log", ".yaml", ".yml", ".xml"), "text"),
    **dict.fromkeys((".csv", ".tsv", ".tab"), "csv"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "json"),
    **dict.fromkeys((".xlsx", ".xlsm"), "xlsx"),
    **dict.fromkeys((".html", ".htm"), "html"),
    ".docx": "docx",
    ".eml": "mail",
    ".pdf": "pdf",
    ".parquet": "parquet",
}
_BY_MEDIA_TYPE: dict[str, Kind] = {
    "application/pdf": "pdf",
    "text/csv": "csv",
    "text/tab-separated-values": "csv",
    "application/json": "json",
    "message/rfc822": "mail",
    "text/html": "html",
    "application/xhtml+xml": "html",
}
_KIND_IF_TEXT: dict[Kind | None, Kind] = {"xlsx": "csv", "docx": "text"}
"""Kinds that are zip archives, and the kind of a file with such a name that is plain text."""
_UNSUPPORTED = {
    **dict.fromkeys((".pptx", ".pptm", ".ppsx"), "a PowerPoint presentation"),
    **dict.fromkeys((".odt", ".ods", ".odp"), "an OpenDocument file"),
    **dict.fromkeys((".pages", ".numbers", ".key"), "an Apple iWork file"),
    ".epub": "an e-book",
    ".xlsb": "a binary Excel workbook",
}
_ALTERNATIVES = {
    **dict.fromkeys(_UNSUPPORTED, "Ask for it as PDF."),
    **dict.fromkeys((".ods", ".numbers", ".xlsb"), "Ask for it as .xlsx or CSV."),
    **dict.fromkeys((".odt", ".pages"), "Ask for it as .docx or PDF."),
}
_READABLE = "txt, md, csv, tsv, json, xlsx, docx, pdf, html, eml and parquet"
_IMAGES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"II*\x00", b"MM\x00*", b"BM")
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_TEXT_KINDS: frozenset[Kind | None] = frozenset({"text", "csv", "json", "html", "mail"})
_ZIP = b"PK\x03\x04"
_SHOWN_TO_MODELS = {".png", ".jpg", ".jpeg", ".gif", ".webp"}
"""Image formats that models accept; others, such as HEIC, are not shown to them."""
_OLD_OFFICE = (b"\xd0\xcf\x11\xe0", b"{\\rtf")


def kind_of(name: str, media_type: str, data: bytes) -> Kind:
    """Return the kind of a file, by its first bytes, then its name, then its media type.

    Raises Unreadable for a file that cannot be read, with the formats that can.
    """
    if not data:
        raise Unreadable(f"{name} is empty (0 bytes): another copy of it is needed.")
    suffix = PurePosixPath(name.lower()).suffix
    if data.startswith(_IMAGES) or media_type.startswith("image/"):
        if suffix not in _SHOWN_TO_MODELS:
            raise Unreadable(
                f"{name} is an image in a format that models do not take: it is needed as PNG or JPEG."
            )
        raise Unreadable(
            f"{name} is an image, not a document. Where you can see images, those of this thread are "
            "shown to you; else ask what it shows."
        )
    if data.startswith(_OLD_OFFICE):
        raise Unreadable(
            f"{name} is protected by a password or in an old Office format (.xls, .doc, .rtf, .ppt, "
            ".msg). Ask for it as .xlsx, .docx, PDF or .eml, without a password."
        )
    if data.startswith(b"%PDF-"):
        return "pdf"
    if data.startswith(b"PAR1"):
        return "parquet"
    kind = _BY_SUFFIX.get(suffix) or _BY_MEDIA_TYPE.get(media_type.split(";")[0].strip().lower())
    if data.startswith(_ZIP):
        kind = _kind_of_archive(name, suffix, kind, data)
    elif kind in _KIND_IF_TEXT and _is_text(data):  # some programs give a CSV this name
        kind = _KIND_IF_TEXT[kind]
    kind = kind or (None if b"\x00" in data[:4096] else "text")
    if kind is None or (kind in _TEXT_KINDS and _is_binary(data)):
        why = ": it is not text despite its name" if kind else ""
        raise Unreadable(f"{name} cannot be read{why}. These can: {_READABLE}.")
    return kind


def _is_binary(data: bytes) -> bool:
    """Return whether the beginning has many control characters and is not UTF-16, in which every
    second byte of plain text is zero."""
    start = data[:4096]
    zeros = Counter(at % 2 for at, byte in enumerate(start) if not byte)
    is_utf16 = start.startswith(_UTF16) or (len(zeros) == 1 and zeros.total() * 3 > len(start))
    return not is_utf16 and len(_CONTROLS.findall(start)) * 10 > len(start)


def _kind_of_archive(name: str, suffix: str, kind: Kind | None, data: bytes) -> Kind:
    if what := _UNSUPPORTED.get(suffix):
        raise Unreadable(
            f"{name} is {what}, which is not a supported format. {_ALTERNATIVES[suffix]}"
        )
    found = _office_kind(data) or (kind if kind in _KIND_IF_TEXT else None)
    if found is None:
        raise Unreadable(f"{name} is an archive, which is not opened: the files in it are needed.")
    return found


def _is_text(data: bytes) -> bool:
    try:
        return "\x00" not in data.decode()
    except UnicodeDecodeError:
        return False


def _office_kind(data: bytes) -> Kind | None:
    """Return the Office kind of a zip archive by the names of its parts, whatever its own name is."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = archive.namelist()
    except (zipfile.BadZipFile, ValueError, OSError):
        return None
    if any(each.startswith("word/document") for each in parts):
        return "docx"
    return "xlsx" if any(each.startswith("xl/workbook") for each in parts) else None
