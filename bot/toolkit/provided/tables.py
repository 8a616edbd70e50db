"""The table service for tools: tables are artifacts that SQL queries and the model reads about.

Handles of tables begin with `tbl_`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Protocol

from pydantic import Field

from bot.library.documents import cells as sql
from bot.library.documents.cells import cell_text, clean, csv_text
from bot.library.documents.cells import literal as literal
from bot.toolkit.provided.artifacts import Artifact, Column
from bot.toolkit.tool import ToolResult

TABLE_TYPE = "application/vnd.apache.parquet"
"""Media type of an artifact that is a table."""

ROWS_TYPE = "application/vnd.bot.rows+json"
"""Media type of an artifact that is a table of few rows as JSON, which is cheap to save."""

TableHandle = Annotated[str, Field(description="Handle tbl_… of a table.")]
RowLimit = Annotated[int | None, Field(ge=1, le=200, description="Rows to show.")]

_NAMED_COLUMNS = 100


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a table, or the first of them; `total` is the number of all rows."""

    columns: tuple[Column, ...]
    rows: list[tuple[Any, ...]]
    total: int

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    @property
    def csv(self) -> str:
        """The rows as CSV under a header; the times of a column have the same form."""
        return "\n".join([csv_text(self.names, ()), *self.csv_rows])

    @property
    def csv_rows(self) -> list[str]:
        """Each row as CSV; text with line breaks makes it several lines."""
        columns = list(zip(*self.rows, strict=True))
        uniform = zip(*map(_with_uniform_times, columns), strict=True)
        return [csv_text(row, ()) for row in uniform]


def _with_uniform_times(cells: Sequence[Any]) -> Sequence[Any]:
    """Return the cells of a column; midnight keeps its time if another cell has a time."""
    texts = [cell_text(each) if isinstance(each, datetime) else "" for each in cells]
    if all(" " not in text for text in texts):
        return cells
    return [
        each.isoformat(sep=" ") if text else each for each, text in zip(cells, texts, strict=True)
    ]


def is_table(artifact: Artifact) -> bool:
    """Return whether an artifact is a table."""
    return artifact.media_type in (TABLE_TYPE, ROWS_TYPE)


class Tables(Protocol):
    """The tables of the current request's thread. Methods raise ToolError for a handle of no table."""

    async def find(self, handle: str, *columns: str) -> Artifact:
        """Return the metadata of a table. Raises ToolError if it lacks one of `columns`."""

    async def save(
        self,
        columns: Sequence[str],
        rows: Sequence[Sequence[object]],
        *,
        name: str,
        left_out: Sequence[str] = (),
    ) -> Artifact:
        """Save rows of Python values as a table. Text stays text, ISO dates become dates."""

    async def save_rows(
        self, columns: Sequence[Column], rows: Sequence[Sequence[object]], *, name: str
    ) -> Artifact:
        """Save a few rows as a table whose columns have these types: VARCHAR, BIGINT or TIMESTAMP.
        Cheaper than `save`, which finds out the types."""

    async def rows(
        self,
        handle: str,
        *,
        offset: int = 0,
        limit: int = 50,
        fields: Sequence[str] | None = None,
    ) -> Rows:
        """Return up to `limit` rows after the first `offset`, with the columns `fields` or all."""

    async def select(self, sql: str, handles: Sequence[str]) -> list[tuple[Any, ...]]:
        """Return all rows of a SELECT that the tool wrote. Nothing is saved."""

    async def query(
        self,
        sql: str,
        handles: Sequence[str],
        *,
        notes: Sequence[str] = (),
        left_out: Sequence[str] = (),
        limit: int | None = None,
        compact: bool = False,
        checked: bool = False,
    ) -> ToolResult:
        """Run one SELECT, which the model may have written, over the tables `handles`.

        The result is saved as a table and shown as by `shown`. `notes` are for the reader of this
        result; the sentences of `left_out` are repeated by everything that is made of it. If `checked`, notes say what people overlook: rows that a
        join drops or counts twice, spellings of one group, periods that are missing or not whole.
        """

    async def test_hypothesis(
        self, handle: str, kind: str, columns: Sequence[str], by: str | None = None
    ) -> ToolResult:
        """Test a hypothesis on columns of a table, by the groups of the column `by`. Each result is
        saved and shown as a table. Raises ToolError for columns that cannot be tested so."""

    async def shown(
        self,
        table: Artifact,
        *,
        notes: Sequence[str] = (),
        limit: int | None = None,
        compact: bool = False,
    ) -> str:
        """Return the text for a table: handle, size, source, columns and notes, then its first rows.

        There are 50 rows by default, 15 when context runs short, and none with `compact`.
        """

    async def describe(
        self,
        table: Artifact,
        *,
        notes: Sequence[str] = (),
        fields: Sequence[str] | None = None,
        compact: bool = False,
    ) -> str:
        """Return the same lines, then, unless `compact`, a profile of each column and 5 rows."""


def quoted_name(name: str) -> str:
    """Return `name` as an SQL identifier, cleaned as the columns of tables are."""
    return sql.quoted_name(clean(name))


def columns_line(columns: Sequence[Column]) -> str:
    """Return up to 100 columns on one line: `region VARCHAR, amount DOUBLE`."""
    line = ", ".join(f"{column.name} {column.type}" for column in columns[:_NAMED_COLUMNS])
    more = len(columns) - _NAMED_COLUMNS
    return f"{line}, … ({more} more)" if more > 0 else line
