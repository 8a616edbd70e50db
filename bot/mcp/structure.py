"""Structured results of MCP servers: the table in them, and whether the text repeats it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_LEAST_ROWS, _MAX_COLUMNS, _MAX_ROWS = 3, 100, 100_000
_MAX_REPEATED = 4_000_000  # characters of text that are compared with the structure


@dataclass(frozen=True, slots=True)
class StructuredTable:
    """The one table of a structured result: a list of flat objects.

    `rest` is all that is beside it.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    rest: Mapping[str, Any]


def table_in(structured: Mapping[str, Any] | None) -> StructuredTable | None:
    """Return the table in a structured result; None if there is none, or more than one."""
    lists = [key for key, value in (structured or {}).items() if _is_table(value)]
    if structured is None or len(lists) != 1:
        return None
    objects: list[dict[str, Any]] = structured[lists[0]]
    columns = list(dict.fromkeys(name for each in objects for name in each))
    if not 0 < len(columns) <= _MAX_COLUMNS:
        return None
    rows = [[each.get(name) for name in columns] for each in objects]
    rest = {key: value for key, value in structured.items() if key != lists[0]}
    return StructuredTable(columns, rows, rest)


def repeats(texts: Sequence[str], structured: Mapping[str, Any]) -> bool:
    """Return whether the texts repeat the structure as JSON: whole, or item by item."""
    if not texts or sum(map(len, texts)) > _MAX_REPEATED:
        return False
    try:
        said = [json.loads(text) for text in texts]
    except (ValueError, RecursionError):
        return False
    inner = list(structured.values())
    wholes = (structured, inner[0] if len(inner) == 1 else None)
    return said in wholes or (len(said) == 1 and said[0] in wholes)


def _is_table(value: object) -> bool:
    return (
        isinstance(value, list)
        and _LEAST_ROWS <= len(value) <= _MAX_ROWS
        and all(isinstance(each, dict) and all(map(_is_cell, each.values())) for each in value)
    )


def _is_cell(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)
