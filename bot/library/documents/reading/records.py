"""JSON and JSON lines: a list of records becomes a table, anything else a document."""

from __future__ import annotations

import json
import re
from typing import Any

from bot.library.documents.cells import clean
from bot.library.documents.reading.numerals import join_some
from bot.library.documents.reading.tabular import column_names
from bot.library.documents.reading.text import decode, shortened
from bot.library.documents.results import Cell, Document, Sheet, Unreadable

_MAX_NOTE = 500
_ITEM_WORDS = "hits?|found|results?|records?|items?|rows?|match(?:es)?|elements?|entries"
_TOTAL = re.compile(
    rf"(?:total|num|count)[_-]?(?:count|{_ITEM_WORDS})?|(?:{_ITEM_WORDS})[_-]?(?:total|count)?",
    re.IGNORECASE,
)
_NEXT = re.compile(r"next|cursor|continu|more|scroll|truncated|partial|incomplete", re.IGNORECASE)


def read_json(data: bytes, name: str) -> Sheet | Document:
    """Return a table for a list of objects, else a document. The list may be the only list in an
    object, or JSON lines. Nested values in cells stay JSON text. Raises Unreadable."""
    text, _ = decode(data)
    if not text.strip():
        raise Unreadable(f"{name} is empty.")
    try:
        value = _parse(text)
    except json.JSONDecodeError as error:
        raise Unreadable(
            f"{name} is not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        ) from error
    except ValueError:
        raise Unreadable(f"{name} holds a number of too many digits to be read.") from None
    except RecursionError:
        raise Unreadable(f"{name} is nested too deeply to be read.") from None
    records, other_fields = _records(value)
    if records is None:
        return Document(clean(json.dumps(value, ensure_ascii=False, indent=2)))
    sheet = _table(name, records)
    if other_fields:
        sheet.notes.append(f"Beside the rows the file says: {_quote_fields(other_fields)}")
    if more := {
        key: field
        for key, field in other_fields.items()
        if _has_more_pages(key, field, len(records))
    }:
        sheet.left_out.append(f"it is a page of {len(records):,} rows; {_quote_fields(more)}")
    return sheet


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2 or error.msg != "Extra data":
            raise
        return [json.loads(line) for line in lines]


def _records(value: Any) -> tuple[list[dict[str, Any]] | None, dict[str, Any]]:
    """Return the records in `value` (None when it is no table) and the other fields beside them."""
    other_fields: dict[str, Any] = {}
    if isinstance(value, dict):
        other_fields = {key: field for key, field in value.items() if not isinstance(field, list)}
        lists = [each for each in value.values() if isinstance(each, list)]
        value = lists[0] if len(lists) == 1 else None
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return value, other_fields
    return None, {}


def _has_more_pages(key: str, value: Any, rows: int) -> bool:
    """Return whether `key`, or a key inside its object, says that more pages of rows exist: a total
    above `rows`, or a next page."""
    if isinstance(value, dict):
        return any(
            _has_more_pages(inner, inner_value, rows) for inner, inner_value in value.items()
        )
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and _TOTAL.fullmatch(key):
        return value > rows
    return bool(_NEXT.search(key)) and bool(value)


def _quote_fields(other_fields: dict[str, Any]) -> str:
    fields = [
        f"{key}: {json.dumps(field, ensure_ascii=False)}" for key, field in other_fields.items()
    ]
    return shortened(clean(", ".join(fields)), _MAX_NOTE)


def _table(name: str, records: list[dict[str, Any]]) -> Sheet:
    keys = list(dict.fromkeys(key for record in records for key in record))
    rows = [[_cell(record.get(key)) for key in keys] for record in records]
    names = column_names(keys, len(keys))
    renamed = [f"{key!r} as {name}" for key, name in zip(keys, names, strict=True) if key != name]
    notes = [f"Names of columns that had to be changed: {join_some(renamed)}."] * bool(renamed)
    return Sheet(name, names, rows, typed=True, notes=notes)


def _cell(value: Any) -> Cell:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
