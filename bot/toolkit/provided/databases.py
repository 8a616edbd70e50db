"""The database service for tools."""

from __future__ import annotations

from typing import Any, Protocol

from pydantic import BaseModel


class Selection(BaseModel):
    """The result of a query. `truncated` says that the query had more rows than the limit."""

    columns: list[str]
    rows: list[tuple[Any, ...]]
    truncated: bool


class Databases(Protocol):
    """Read-only access, by name, to the databases that the operator configured."""

    async def schema(self, query: str | None = None, *, compact: bool = False) -> str:
        """Return each database's dialect, description, tables and columns, at most 50 tables each.

        `query` selects tables whose names or columns have its words; `compact` omits columns.
        """

    async def query(self, database: str, sql: str, limit: int | None = None) -> Selection:
        """Run one SELECT. Raises ToolError with what is allowed, or with the database's message."""
