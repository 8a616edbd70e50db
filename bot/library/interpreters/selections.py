"""Bounded results and schema descriptions, shared by the database jobs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bot.library.isolated import Refused

MAX_BYTES = 32_000_000
"""Limit of a result, by the approximate size of its cells."""

_MAX_ROW = 3_000_000
"""Limit of a row, which is one item of the reply."""


def bounded_result(
    columns: list[str], rows: Iterable[tuple[Any, ...]], limit: int
) -> dict[str, Any]:
    """Return {columns, rows, truncated} with the first `limit` of `rows`, fewer if they are large.

    Fetches one row more, to learn whether the result is `truncated`. Raises Refused when a row alone
    is too large.
    """
    kept: list[tuple[Any, ...]] = []
    size = 0
    for row in rows:
        row_size = sum(len(cell) if isinstance(cell, str | bytes) else 8 for cell in row)
        size += row_size
        if row_size > _MAX_ROW:
            raise Refused(
                f"One row has more than {_MAX_ROW:,} bytes. Select fewer columns, or a part of a "
                "long value with substr."
            )
        if len(kept) == limit or size > MAX_BYTES:
            return {"columns": columns, "rows": kept, "truncated": True}
        kept.append(row)
    return {"columns": columns, "rows": kept, "truncated": False}


def describe_tables(
    columns: Iterable[tuple[str, str, str]], references: Mapping[tuple[str, str], str]
) -> list[tuple[str, list[str]]]:
    """Return each table with its columns, written like `customer_id INTEGER → customers.id`.

    `columns` are (table, column, type); `references` maps (table, column) to the target of its
    foreign key.
    """
    tables: dict[str, list[str]] = {}
    for table, column, kind in columns:
        target = references.get((table, column))
        shown = f"{column} {kind}".strip() + (f" → {target}" if target else "")
        tables.setdefault(table, []).append(shown)
    return sorted(tables.items())
