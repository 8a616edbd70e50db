"""Tables: saved as artifacts, queried with DuckDB, described for the model.

Every description has a head line `handle: tbl_… · 4 rows × 2 columns · source: …`, a line
`columns: a BIGINT, …`, then CSV or a profile. The model relies on this format.
"""

# ruff: noqa: S608 - the names in these statements are quoted, the values our own

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.core.answers import Source
from bot.core.context import current_request
from bot.core.errors import ToolError
from bot.core.text.cells import cell_text as cell_text
from bot.core.text.cells import clean as clean
from bot.core.text.cells import csv_text as csv_text
from bot.services.tables import table_profile
from bot.services.tables.session import PARQUET as PARQUET
from bot.services.tables.session import Measured, Session, opened
from bot.services.tables.session import columns_line as columns_line
from bot.services.tables.session import quoted_name as quoted_name
from bot.toolkit.artifacts import Artifact, Artifacts, Column, gaps_of

_SHOWN_ROWS = 50
_ROWS_WHEN_SCARCE = 15
_SCARCE = 0.7
_FIRST_ROWS = 5


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows of a table; `total` is the number of all its rows."""

    columns: tuple[Column, ...]
    rows: list[tuple[Any, ...]]
    total: int

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def csv(self) -> str:
        """The rows as CSV with a header; all times of a column have one form."""
        return "\n".join([csv_text(self.names, ()), *self.csv_rows])

    @property
    def csv_rows(self) -> list[str]:
        """Each row as CSV; a row whose text has line breaks is several lines long."""
        columns = list(zip(*self.rows, strict=True))
        evened = zip(*map(_in_one_form, columns), strict=True)
        return [csv_text(row, ()) for row in evened]


def _in_one_form(cells: Sequence[Any]) -> Sequence[Any]:
    """Write the time 00:00:00 too if other cells of the column have a time."""
    texts = [cell_text(each) if isinstance(each, datetime) else "" for each in cells]
    if all(" " not in text for text in texts):
        return cells
    return [
        each.isoformat(sep=" ") if text else each for each, text in zip(cells, texts, strict=True)
    ]


def head(table: Artifact, notes: Sequence[str] = ()) -> list[str]:
    """Return the lines with which every tool describes a table: handle, size and source, columns,
    what it lacks of its source, and `notes`."""
    url = f" <{table.source_url}>" if table.source_url else ""
    size = f"{table.rows or 0:,} rows × {len(table.columns)} columns"
    return [
        f"handle: {table.handle} · {size} · source: {table.source_title or table.name}{url}",
        f"columns: {columns_line(table.columns)}",
        *table.gap_notes,
        *(f"note: {each}" for each in notes),
    ]


async def save_table(
    artifacts: Artifacts,
    data: bytes,
    *,
    name: str,
    title: str = "",
    url: str | None = None,
    left_out: Sequence[str] = (),
) -> Artifact:
    """Save Parquet `data` as a table artifact with its columns and number of rows."""
    async with opened(artifacts) as session:
        measured = await session.measure(data)
    return await _kept(artifacts, measured, name=name, title=title, url=url, left_out=left_out)


async def save_rows(
    artifacts: Artifacts,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    name: str,
    left_out: Sequence[str] = (),
) -> Artifact:
    """Save rows of Python values as a table artifact; text stays text, ISO dates become dates."""
    async with opened(artifacts) as session:
        measured = await session.write(list(columns), rows)
    return await _kept(artifacts, measured, name=name, left_out=left_out)


async def _kept(
    artifacts: Artifacts,
    measured: Measured,
    *,
    name: str,
    title: str = "",
    url: str | None = None,
    left_out: Sequence[str] = (),
) -> Artifact:
    return await artifacts.save(
        measured.data,
        name=name,
        media_type=PARQUET,
        prefix="tbl",
        rows=measured.rows,
        columns=measured.columns,
        source_title=title or name,
        source_url=url,
        left_out=[*left_out, *(f"{name}: {each}" for each in measured.notes)],
    )


async def query(
    artifacts: Artifacts, sql: str, handles: Sequence[str], *, left_out: Sequence[str] = ()
) -> Artifact:
    """Run one SELECT over the tables and save all rows of its result.

    The result's `left_out` has that of the tables and the given one. Raises ToolError, also for a
    result that is too large to save.
    """
    async with opened(artifacts, handles) as session:
        measured = await session.select(clean(sql))
    sources = dict.fromkeys(table.source_title or table.name for table in session.tables)
    urls = {table.source_url for table in session.tables}
    return await _kept(
        artifacts,
        measured,
        name="query result",
        title=", ".join(sources),
        url=urls.pop() if len(urls) == 1 else None,
        left_out=[*gaps_of(*session.tables), *left_out],
    )


async def rows_of_query(
    artifacts: Artifacts, sql: str, handles: Sequence[str]
) -> list[tuple[Any, ...]]:
    """Run a statement of the bot and return all rows, without saving them."""
    async with opened(artifacts, handles) as session:
        return await session.rows(sql)


def sources(asked: Sequence[Artifact]) -> tuple[Source, ...]:
    """Return the sources of a query over these tables."""
    return tuple(
        Source(
            title=each.source_title or each.name,
            url=each.source_url,
            supports="The figures queried from it.",
        )
        for each in asked
    )


async def rows_of(
    artifacts: Artifacts,
    handle: str,
    *,
    offset: int = 0,
    limit: int = _SHOWN_ROWS,
    fields: Sequence[str] | None = None,
) -> Rows:
    """Return up to `limit` rows of a table from `offset` (0 is the first), with the columns `fields`
    (None for all). Raises ToolError for a column that does not exist.
    """
    async with opened(artifacts, [handle]) as session:
        table = with_columns(session.tables[0], fields)
        return await _rows(session, table, offset, limit)


def with_columns(table: Artifact, fields: Sequence[str] | None) -> Artifact:
    """Return `table` with only the columns `fields`, in its own order. Raises ToolError."""
    if fields is None:
        return table
    wanted = {each.casefold() for each in fields}
    kept = tuple(each for each in table.columns if each.name.casefold() in wanted)
    if missing := wanted - {each.name.casefold() for each in kept}:
        raise ToolError(
            f"There is no column {', '.join(sorted(missing))}. "
            f"Columns: {columns_line(table.columns)}"
        )
    return table.model_copy(update={"columns": kept})


async def _rows(session: Session, table: Artifact, offset: int, limit: int) -> Rows:
    # Types without a plain Python form (time zones, nested values) are cast to text by DuckDB.
    selected = ", ".join(
        quoted_name(column.name)
        if column.type in _PLAIN or column.type.startswith("DECIMAL")
        else f"{quoted_name(column.name)}::VARCHAR AS {quoted_name(column.name)}"
        for column in table.columns
    )
    rows = await session.rows(
        f"SELECT {selected} FROM {quoted_name(table.handle)} LIMIT {limit} OFFSET {offset}"
    )
    return Rows(table.columns, rows, table.rows or 0)


_PLAIN = frozenset(
    {"BOOLEAN", "VARCHAR", "DOUBLE", "FLOAT", "DATE", "TIMESTAMP", "TIME", "HUGEINT"}
    | {f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "BIG")}
    | {"INTEGER", "UINTEGER"}
)


async def shown(
    artifacts: Artifacts,
    table: Artifact,
    *,
    notes: Sequence[str] = (),
    limit: int | None = None,
    compact: bool = False,
) -> str:
    """Return head, notes and, unless `compact`, the first `limit` rows of a table as CSV: by default
    50, and 15 when the model's context runs short."""
    lines = head(table, notes)
    if compact:
        return "\n".join(lines)
    scarce = current_request().usage_ratio > _SCARCE
    limit = limit or (_ROWS_WHEN_SCARCE if scarce else _SHOWN_ROWS)
    found = await rows_of(artifacts, table.handle, limit=limit)
    parts = [*lines, found.csv]
    if found.total > len(found.rows):
        parts.append(
            f"[rows 1–{len(found.rows)} of {found.total:,} shown; read_artifact with offset "
            f"{len(found.rows)} reads on, query_table narrows]"
        )
    return "\n".join(parts)


async def describe(
    artifacts: Artifacts,
    table: Artifact,
    *,
    notes: Sequence[str] = (),
    fields: Sequence[str] | None = None,
    compact: bool = False,
) -> str:
    """Return head, notes and, unless `compact`, a profile of each column and the first 5 rows as CSV.

    `fields` limits it to these columns. Raises ToolError for a column that does not exist.
    """
    table = with_columns(table, fields)
    unprofiled = len(table.columns) - table_profile.MOST_COLUMNS
    if unprofiled > 0:
        more = f"the profile has the first {table_profile.MOST_COLUMNS} columns; {unprofiled:,} have none"
        notes = [*notes, f"{more}: name some as fields"]
    lines = head(table, notes)
    if compact:
        return "\n".join(lines)
    async with opened(artifacts, [table.handle]) as session:
        profile = await table_profile.profile(session, table)
        first = await _rows(session, table, 0, _FIRST_ROWS)
    return "\n".join(
        [
            *lines,
            "profile:",
            csv_text(table_profile.HEADING, profile),
            f"first {len(first.rows)} rows:",
            first.csv,
        ]
    )
