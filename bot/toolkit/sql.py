"""Databases, as tools see them."""

from __future__ import annotations

from typing import Any, Protocol

from pydantic import BaseModel


class Selection(BaseModel):
    """The result of a query: at most the limit's rows; `truncated` when there were more."""

    columns: list[str]
    rows: list[tuple[Any, ...]]
    truncated: bool


class Databases(Protocol):
    """The databases that the operator configured, by name, for reading only."""

    async def schema(self, query: str | None = None, *, compact: bool = False) -> str:
        """Return each database's dialect, description, tables and columns, at most 50 tables each.

        `query` keeps the tables whose names or columns have its words; `compact` leaves out columns.
        """

    async def query(self, database: str, sql: str, limit: int | None = None) -> Selection:
        """Run one SELECT. Raises ToolError, saying what is allowed or what the database said."""
