"""JSON and JSON lines: a table when it is a list of records, a document otherwise."""

from __future__ import annotations

import json
from typing import Any

from bot.parsing.results import Cell, Document, Sheet, Unreadable
from bot.parsing.tabular import column_names
from bot.parsing.text import clean, decode


def read_json(data: bytes, name: str) -> Sheet | Document:
    """A list of objects (also as the only list in an object, or one object a line) is a table;
    nested values in it stay JSON text."""
    text, _ = decode(data)
    if not text.strip():
        raise Unreadable(f"{name} is empty.")
    try:
        value = _parse(text)
    except json.JSONDecodeError as error:
        raise Unreadable(
            f"{name} is not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        ) from error
    except RecursionError:
        raise Unreadable(f"{name} is nested too deeply to be read.") from None
    records = _records(value)
    if records is None:
        return Document(clean(json.dumps(value, ensure_ascii=False, indent=2)))
    return _sheet(name, records)


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2 or error.msg != "Extra data":
            raise
        return [json.loads(line) for line in lines]


def _records(value: Any) -> list[dict[str, Any]] | None:
    if isinstance(value, dict):
        lists = [each for each in value.values() if isinstance(each, list)]
        value = lists[0] if len(lists) == 1 else None
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        return value
    return None


def _sheet(name: str, records: list[dict[str, Any]]) -> Sheet:
    keys = list(dict.fromkeys(key for record in records for key in record))
    rows = [[_cell(record.get(key)) for key in keys] for record in records]
    return Sheet(name, column_names(keys, len(keys)), rows, typed=True)


def _cell(value: Any) -> Cell:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
