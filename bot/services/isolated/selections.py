"""What the jobs on databases have in common: results that are bounded, and schemas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bot.services.isolated import Refused

MOST_BYTES = 32_000_000
"""About as much of a result as is taken, by the size of its cells."""


def taken(columns: list[str], rows: Iterable[tuple[Any, ...]], limit: int) -> dict[str, Any]:
    """Return the first `limit` of `rows`, fewer when they get too large. Takes one row more than
    that from the database and no further one; `truncated` when there were more. Raises Refused when
    not even the first row is small enough."""
    kept: list[tuple[Any, ...]] = []
    size = 0
    for row in rows:
        size += sum(len(cell) if isinstance(cell, str | bytes) else 8 for cell in row)
        if size > MOST_BYTES and not kept:
            raise Refused(
                f"One row has more than {MOST_BYTES:,} bytes. Select fewer columns, or a part of a "
                "long value with substr."
            )
        if len(kept) == limit or size > MOST_BYTES:
            return {"columns": columns, "rows": kept, "truncated": True}
        kept.append(row)
    return {"columns": columns, "rows": kept, "truncated": False}


def tables_of(
    columns: Iterable[tuple[str, str, str]], references: Mapping[tuple[str, str], str]
) -> list[tuple[str, list[str]]]:
    """Return each table with its columns as `customer_id INTEGER → customers.id`; `columns` are
    (table, column, type) and `references` what the foreign key of (table, column) points to."""
    tables: dict[str, list[str]] = {}
    for table, column, kind in columns:
        target = references.get((table, column))
        shown = f"{column} {kind}".strip() + (f" → {target}" if target else "")
        tables.setdefault(table, []).append(shown)
    return sorted(tables.items())
