"""Attached files: shown, downloaded, and the first rows of spreadsheets as text."""

import codecs
import csv
import io
import itertools
from dataclasses import dataclass
from urllib.parse import quote

from aiohttp import web

from bot.dev.page.render.text import clean
from bot.dev.workspace import File, Workspace

PREVIEW_ROWS, PREVIEW_COLUMNS, PREVIEW_BYTES = 8, 12, 64_000


@dataclass(frozen=True)
class Sheet:
    """The beginning of a CSV file; `more` is how many further rows were left out, at least."""

    header: list[str]
    rows: list[list[str]]
    more: int


class SheetPreviews:
    """File id → Sheet, for CSV and TSV files whose beginning can be read; made when asked for."""

    def __init__(self, ws: Workspace) -> None:
        self._files = ws.state.files

    def __contains__(self, file_id: object) -> bool:
        return isinstance(file_id, str) and self._sheet(file_id) is not None

    def __getitem__(self, file_id: str) -> Sheet | None:
        return self._sheet(file_id)

    def _sheet(self, file_id: str) -> Sheet | None:
        file = self._files.get(file_id)
        if file is None or not file.content or not file.name.lower().endswith((".csv", ".tsv")):
            return None
        text = _decoded(file.content[:PREVIEW_BYTES])
        delimiter = "\t" if file.name.lower().endswith(".tsv") else _delimiter(text)
        try:
            lines = [
                row[:PREVIEW_COLUMNS] for row in csv.reader(io.StringIO(text), delimiter=delimiter)
            ]
        except csv.Error:
            return None
        lines = [row for row in lines if row]
        if len(lines) < 2:
            return None
        shown = list(itertools.islice(lines[1:], PREVIEW_ROWS))
        return Sheet(lines[0], shown, len(lines) - 1 - len(shown))


def _decoded(content: bytes) -> str:
    """As UTF-8, or what spreadsheet programs write otherwise; the last character may be cut."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", "replace")
    try:
        return codecs.getincrementaldecoder("utf-8-sig")().decode(content)
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _delimiter(text: str) -> str:
    first = text.partition("\n")[0]
    return max(",;\t|", key=first.count)


def _image_type(content: bytes) -> str | None:
    """The type of an image that a browser decodes without running anything: SVG is not one."""
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return "image/webp"
    starts = {
        b"\x89PNG\r\n\x1a\n": "image/png",
        b"\xff\xd8\xff": "image/jpeg",
        b"GIF8": "image/gif",
    }
    return next((kind for start, kind in starts.items() if content.startswith(start)), None)


def file_response(file: File, *, download: bool) -> web.Response:
    """The bytes of a file: images inline, everything else as a download nobody may sniff."""
    content = file.content or b""
    image = _image_type(content)
    name = quote(clean(file.name), safe="")
    inline = image is not None and not download
    return web.Response(
        body=content,
        content_type=image or "application/octet-stream",
        headers={
            "Content-Disposition": "inline" if inline else f"attachment; filename*=UTF-8''{name}"
        },
    )
