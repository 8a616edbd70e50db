"""The same files read by others: csv, json, email, calamine, pyarrow, mammoth, pdfminer, html.parser and
pandas. Packages are imported where they are used: only the full form installs all of them."""

from __future__ import annotations

import csv
import email
import email.header
import email.message
import fnmatch
import io
import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from typing import Any

Rows = list[list[Any]]
_SEEN = Path(__file__).with_name("known.toml")


def rows_of(data: bytes, name: str) -> dict[str, Rows]:
    """All rows by sheet, the header among them and nothing left out: text of CSV files, typed cells
    of the others."""
    match PurePosixPath(name).suffix.lower():
        case ".xlsx" | ".xlsm":
            return _workbook(data)
        case ".json" | ".jsonl" | ".ndjson":
            return {"": _records(json_value(data))}
        case ".parquet":
            import pyarrow.parquet as pq

            table = pq.read_table(io.BytesIO(data))
            cells = [column.to_pylist() for column in table.columns]
            return {"": [table.column_names, *map(list, zip(*cells, strict=True))]}
        case _:
            text = decoded(data, name)
            reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text))
            return {"": list(reader)}


def words_of(data: bytes, name: str) -> str:
    """Return the text of a document."""
    match PurePosixPath(name).suffix.lower():
        case ".docx":
            import mammoth

            return str(mammoth.extract_raw_text(io.BytesIO(data)).value)
        case ".pdf":
            from pdfminer.high_level import extract_text

            return str(extract_text(io.BytesIO(data)))
        case ".eml":
            return "\n".join(_mail(email.message_from_bytes(data)))
        case _:
            return _page(data).text


def page_rows(data: bytes) -> list[list[str]]:
    """Return the cells of the rows of a web page's tables, without blank ones and without rows that
    hold a table."""
    return [[cell for cell in row if cell] for row in _page(data).rows]


def json_value(data: bytes) -> Any:
    """Return what a JSON file says, a list for one with a value in each line."""
    text = data.decode(json.detect_encoding(data))
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]


def _mail(message: email.message.Message) -> Iterator[str]:
    """Yield the main headers, the text for people, and the names of attached files."""
    for each in ("From", "To", "Cc", "Date", "Subject"):
        yield _plain(message[each] or "")
    texts: dict[str, str] = {}
    for part in message.walk():
        if name := part.get_filename():
            yield _plain(name)
        elif part.get_content_type() in {"text/plain", "text/html"}:
            payload: Any = part.get_payload(decode=True)
            charset = part.get_content_charset() or "utf-8"
            texts.setdefault(part.get_content_type(), payload.decode(charset, "replace"))
    if "text/plain" in texts:
        yield texts["text/plain"]
    elif "text/html" in texts:
        yield _page(texts["text/html"].encode()).text


def _plain(header: str) -> str:
    return str(email.header.make_header(email.header.decode_header(header)))


class _Page(HTMLParser):
    """The text that a browser shows of a web page, and the rows of its tables."""

    _HIDDEN = frozenset(["script", "style", "title", "noscript", "template"])
    _INLINE = frozenset(["a", "b", "em", "font", "i", "small", "span", "strong", "sub", "sup", "u"])

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.rows: list[list[str]] = []
        self._open: list[list[str]] = []  # the last row of each table that has not ended
        self._hidden = 0
        self._in_cell = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._hidden += tag in self._HIDDEN
        self.text += " " * (tag not in self._INLINE)
        if tag == "table":
            for row in self._open:  # with a table in it
                row.clear()
            self._open = [[] for _ in range(len(self._open) + 1)]
        elif tag == "tr":
            self._start_row()
        elif tag in {"td", "th"} and self._open:
            self._open[-1].append("")
            self._in_cell = True
        elif self._open and self._open[-1] and tag not in self._INLINE:
            self._open[-1][-1] += " "

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in self._HIDDEN and self._hidden > 0
        self._in_cell &= tag not in {"td", "th"}
        if tag == "tr":  # cells may follow without another one
            self._start_row()
        if tag == "table" and self._open:
            self._open.pop()

    def _start_row(self) -> None:
        if self._open:
            self._open[-1] = []
            self.rows.append(self._open[-1])

    def handle_data(self, data: str) -> None:
        if self._hidden:
            return
        self.text += data
        if self._in_cell and self._open and self._open[-1]:
            self._open[-1][-1] += data


def _page(data: bytes) -> _Page:
    page = _Page()
    declared = re.search(rb"charset=[\"']?([\w-]+)", data[:4096])
    try:
        page.feed(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        page.feed(data.decode(declared[1].decode() if declared else "cp1252", "replace"))
    return page


def decoded(data: bytes, name: str) -> str:
    """Return the text of a file: in the encoding that a person saw it has, if it has been looked at."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16")
    seen = tomllib.loads(_SEEN.read_text("utf-8"))["encodings"]
    found = [encoding for file, encoding in seen.items() if fnmatch.fnmatch(name, file)]
    if found:
        return data.decode(found[0])
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        from charset_normalizer import from_bytes

        return str(from_bytes(data).best())


def _delimiter(text: str) -> str:
    """Return the one that makes most rows of one width."""

    def even(delimiter: str) -> int:
        widths = Counter(map(len, csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)))
        return max((count for width, count in widths.items() if width > 1), default=0)

    usual_limit = csv.field_size_limit(10_000_000)
    try:
        return max(",;\t|", key=even)
    finally:
        csv.field_size_limit(usual_limit)


def _workbook(data: bytes) -> dict[str, Rows]:
    from python_calamine import CalamineWorkbook

    book = CalamineWorkbook.from_object(io.BytesIO(data))
    return {
        name: book.get_sheet_by_name(name).to_python(skip_empty_area=False)
        for name in book.sheet_names
    }


def _records(value: Any) -> Rows:
    """Return the objects of a list, or of the one list in an object; [] where there are none."""
    if isinstance(value, dict):
        lists = [each for each in value.values() if isinstance(each, list)]
        value = lists[0] if len(lists) == 1 else None
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        return []
    keys = list(dict.fromkeys(key for each in value for key in each))
    return [keys, *([each.get(key) for key in keys] for each in value)]


def profile(data: bytes, name: str) -> dict[str, tuple[int, str, float]]:
    """What pandas says of each column of a CSV file: values that are there, type and sum; nothing
    where it is not installed, or cannot read the file."""
    try:
        import pandas as pd
    except ImportError:
        return {}

    text = decoded(data, name)
    try:
        frame = pd.read_csv(io.StringIO(text), sep=_delimiter(text), low_memory=False)
    except pd.errors.ParserError:
        return {}  # it reads no rows of other widths
    return {
        str(column): (
            int(cells.notna().sum()),
            str(cells.dtype),
            float(cells.sum()) if cells.dtype.kind in "iuf" else 0.0,
        )
        for column, cells in frame.items()
    }
