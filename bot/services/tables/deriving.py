"""Derived tables: helpers of the tools that make a table from tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from bot.services.tables import tables
from bot.services.tables.session import quoted_name
from bot.toolkit.artifacts import Artifact, Artifacts
from bot.toolkit.tool import ToolResult

Handle = Annotated[str, Field(description="Handle tbl_… of a table.")]
Limit = Annotated[int | None, Field(ge=1, le=200, description="Rows to show.")]


async def having(artifacts: Artifacts, handle: str, *columns: str) -> Artifact:
    """Return the table. Raises ToolError, listing its columns, if one of `columns` is missing."""
    table = await artifacts.find(handle)
    tables.with_columns(table, columns)
    return table


async def answered(
    artifacts: Artifacts,
    sql: str,
    handles: Sequence[str],
    *,
    notes: Sequence[str] = (),
    left_out: Sequence[str] = (),
    limit: int | None = None,
    compact: bool = False,
) -> ToolResult:
    """Run one SELECT over the tables, save all rows under a new handle, and show the first ones.

    `notes` are for the reader of this result; `left_out` is repeated for every table derived from it.
    """
    result = await tables.query(artifacts, sql, handles, left_out=left_out)
    text = await tables.shown(artifacts, result, notes=notes, limit=limit, compact=compact)
    sources = tables.sources([await artifacts.find(each) for each in dict.fromkeys(handles)])
    return ToolResult(text, sources, (result.handle,))


def key(table: str, column: str) -> str:
    """Return SQL for a key column of the table alias, normalised for comparison: text, trimmed, lower
    case."""
    return f"lower(trim({table}.{quoted_name(column)}::VARCHAR))"


def literal(value: object) -> str:
    """Return a value as an SQL string literal."""
    return "'" + str(value).replace("'", "''") + "'"
