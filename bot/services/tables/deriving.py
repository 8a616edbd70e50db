"""Tables made of tables: what the tools that make them have in common."""

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
    """The table, if it has these columns; raises ToolError with those that there are."""
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
    """Keep the rows of one SELECT over the tables under a handle of their own, and show them. `notes`
    are for the reader of this result; what is `left_out` is said of everything made of it, too."""
    result = await tables.query(artifacts, sql, handles, left_out=left_out)
    text = await tables.shown(artifacts, result, notes=notes, limit=limit, compact=compact)
    sources = tables.sources([await artifacts.find(each) for each in dict.fromkeys(handles)])
    return ToolResult(text, sources, (result.handle,))


def key(table: str, column: str) -> str:
    """A column of the table with that alias, in a form in which keys are compared: as text without
    spaces around, in one case."""
    return f"lower(trim({table}.{quoted_name(column)}::VARCHAR))"


def literal(value: object) -> str:
    """A value as text in a statement."""
    return "'" + str(value).replace("'", "''") + "'"
