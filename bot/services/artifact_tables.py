"""Tables: saved as artifacts, queried with DuckDB, described for the model.

Every description has a head line `handle: tbl_… · 4 rows × 2 columns · source: …`, a line
`columns: a BIGINT, …`, then CSV or a profile. The model relies on this format.
"""

# ruff: noqa: S608 - the names in these statements are quoted, the values our own

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot.core.answers import Source
from bot.core.context import current_request
from bot.core.errors import ToolError

# ruff: noqa: S608 - the names in these statements are quoted
from bot.library.documents.cells import cell_text, clean, csv_text
from bot.services.table_session import MeasuredTable, Session, open_session
from bot.toolkit.provided.artifacts import Artifact, Artifacts, Column, gaps_of
from bot.toolkit.provided.tables import ROWS_TYPE, TABLE_TYPE, Rows, columns_line, quoted_name
from bot.toolkit.tool import ToolResult

_PROFILE_HEADING = ["column", "type", "nulls", "distinct", "min", "max", "mean", "median", "values"]
_MAX_PROFILED = 100
_LISTED_VALUES = 12
_NUMBERS = (
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER"),
    *("UBIGINT", "UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL"),
)
"""How the names of types of numbers begin."""


async def _profile(session: Session, table: Artifact) -> list[list[object]]:
    """Return a row under `_PROFILE_HEADING` for each of the first 100 columns."""
    columns = table.columns[:_MAX_PROFILED]
    return [await _profile_column(session, table.handle, column) for column in columns]


async def _profile_column(session: Session, handle: str, column: Column) -> list[object]:
    name = quoted_name(column.name)
    numbers = f"{name}::DOUBLE" if column.type.startswith(_NUMBERS) else "NULL::DOUBLE"
    [(nulls, distinct, low, high, mean, median)] = await session.rows(
        f"SELECT count(*) - count({name}), count(DISTINCT {name}), min({name})::VARCHAR, "
        f"max({name})::VARCHAR, avg({numbers}), median({numbers}) FROM {quoted_name(handle)}"
    )
    values = await _distinct_texts(session, handle, name) if column.type == "VARCHAR" else []
    listed = " | ".join(values) if len(values) <= _LISTED_VALUES else ""
    ends = _shorten(low), _shorten(high)
    averages = (None if each is None else f"{each:.6g}" for each in (mean, median))
    return [column.name, column.type, nulls, distinct, *ends, *averages, listed]


async def _distinct_texts(session: Session, handle: str, name: str) -> list[str]:
    """Return the different texts of a column, up to one more than a profile lists."""
    rows = await session.rows(
        f"SELECT DISTINCT {name} FROM {quoted_name(handle)} WHERE {name} IS NOT NULL "
        f"ORDER BY 1 LIMIT {_LISTED_VALUES + 1}"
    )
    return [_shorten(value) for (value,) in rows]


def _shorten(value: str | None) -> str:
    text = cell_text(value)
    return text if len(text) <= 40 else f"{text[:39]}…"


_SHOWN_ROWS = 50
_ROWS_WHEN_SCARCE = 15
_SCARCE = 0.7
_FIRST_ROWS = 5
_LONGEST_CELL = 200

_PLAIN_TYPES = frozenset(
    {"BOOLEAN", "VARCHAR", "DOUBLE", "FLOAT", "DATE", "TIMESTAMP", "TIME", "HUGEINT"}
    | {f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "BIG")}
    | {"INTEGER", "UINTEGER"}
)


@dataclass(frozen=True, slots=True)
class ArtifactTables:
    """The tables among `artifacts`; see `bot.toolkit.provided.tables.Tables`."""

    artifacts: Artifacts

    async def find(self, handle: str, *columns: str) -> Artifact:
        """See `Tables.find`; the error lists the columns."""
        table = await self.artifacts.find(handle)
        _with_columns(table, columns)
        return table

    async def save(
        self,
        columns: Sequence[str],
        rows: Sequence[Sequence[object]],
        *,
        name: str,
        left_out: Sequence[str] = (),
    ) -> Artifact:
        """See `Tables.save`."""
        async with open_session(self.artifacts) as session:
            measured = await session.write(list(columns), rows)
        return await self._save(measured, name=name, left_out=left_out)

    async def save_rows(
        self, columns: Sequence[Column], rows: Sequence[Sequence[object]], *, name: str
    ) -> Artifact:
        """See `Tables.save_rows`."""
        names = [column.name for column in columns]
        return await self.artifacts.save(
            json.dumps([dict(zip(names, row, strict=True)) for row in rows]).encode(),
            name=name,
            media_type=ROWS_TYPE,
            prefix="tbl",
            rows=len(rows),
            columns=tuple(columns),
            source_title=name,
        )

    async def save_parquet(
        self,
        data: bytes,
        *,
        name: str,
        title: str = "",
        url: str | None = None,
        left_out: Sequence[str] = (),
        raw_sha256: str = "",
    ) -> Artifact:
        """Save Parquet `data` as a table with its columns and number of rows."""
        async with open_session(self.artifacts) as session:
            measured = await session.measure(data)
        return await self._save(
            measured, name=name, title=title, url=url, left_out=left_out, raw_sha256=raw_sha256
        )

    async def _save(
        self,
        measured: MeasuredTable,
        *,
        name: str,
        title: str = "",
        url: str | None = None,
        left_out: Sequence[str] = (),
        raw_sha256: str = "",
    ) -> Artifact:
        return await self.artifacts.save(
            measured.data,
            name=name,
            media_type=TABLE_TYPE,
            prefix="tbl",
            rows=measured.rows,
            columns=measured.columns,
            source_title=title or name,
            source_url=url,
            left_out=[*left_out, *(f"{name}: {each}" for each in measured.notes)],
            raw_sha256=raw_sha256,
        )

    async def rows(
        self,
        handle: str,
        *,
        offset: int = 0,
        limit: int = _SHOWN_ROWS,
        fields: Sequence[str] | None = None,
    ) -> Rows:
        """See `Tables.rows`. Raises ToolError for a column that does not exist."""
        async with open_session(self.artifacts, [handle]) as session:
            table = _with_columns(session.tables[0], fields)
            return await _rows(session, table, offset, limit)

    async def select(self, sql: str, handles: Sequence[str]) -> list[tuple[Any, ...]]:
        """See `Tables.select`."""
        async with open_session(self.artifacts, handles) as session:
            return await session.rows(sql)

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
        """See `Tables.query`. The result's `left_out` has that of the tables and the given one.

        Raises ToolError, also for a result that is too large to save.
        """
        async with open_session(self.artifacts, handles) as session:
            measured = await session.select(clean(sql))
            notes = [*notes, *(await session.checks(clean(sql)) if checked else ())]
        sources = dict.fromkeys(table.source_title or table.name for table in session.tables)
        urls = {table.source_url for table in session.tables}
        result = await self._save(
            measured,
            name="query result",
            title=", ".join(sources),
            url=urls.pop() if len(urls) == 1 else None,
            left_out=[*gaps_of(*session.tables), *left_out],
        )
        text = await self.shown(result, notes=notes, limit=limit, compact=compact)
        return ToolResult(text, tuple(map(_source, session.tables)), (result.handle,))

    async def test_hypothesis(
        self, handle: str, kind: str, columns: Sequence[str], by: str | None = None
    ) -> ToolResult:
        """See `Tables.test_hypothesis`."""
        async with open_session(self.artifacts, [handle]) as session:
            table = _with_columns(session.tables[0], [*columns, *filter(None, [by])])
            results, notes = await session.test_hypothesis(kind, columns, by)
            measured = [
                await session.write([*rows[0]], [[*row.values()] for row in rows])
                for rows in results
            ]
        texts, handles = list[str](), list[str]()
        for result in measured:
            saved = await self._save(
                result,
                name=kind,
                title=table.source_title or table.name,
                url=table.source_url,
                left_out=gaps_of(table),
            )
            handles.append(saved.handle)
            texts.append(await self.shown(saved, notes=notes if not texts else ()))
        return ToolResult("\n".join(texts), (_source(table),), tuple(handles))

    async def shown(
        self,
        table: Artifact,
        *,
        notes: Sequence[str] = (),
        limit: int | None = None,
        compact: bool = False,
    ) -> str:
        """See `Tables.shown`."""
        lines = _head(table, notes)
        if compact:
            return "\n".join(lines)
        scarce = current_request().usage_ratio > _SCARCE
        limit = limit or (_ROWS_WHEN_SCARCE if scarce else _SHOWN_ROWS)
        found = await self.rows(table.handle, limit=limit)
        parts = [*lines, found.csv]
        if found.total > len(found.rows):
            parts.append(
                f"[rows 1–{len(found.rows)} of {found.total:,} shown; read_artifact with offset "
                f"{len(found.rows)} reads on, query_table narrows]"
            )
        return "\n".join(parts)

    async def describe(
        self,
        table: Artifact,
        *,
        notes: Sequence[str] = (),
        fields: Sequence[str] | None = None,
        compact: bool = False,
    ) -> str:
        """See `Tables.describe`. Raises ToolError for a column that does not exist."""
        table = _with_columns(table, fields)
        unprofiled = len(table.columns) - _MAX_PROFILED
        if unprofiled > 0:
            more = f"the profile has the first {_MAX_PROFILED} columns; {unprofiled:,} have none"
            notes = [*notes, f"{more}: name some as fields"]
        lines = _head(table, notes)
        if compact:
            return "\n".join(lines)
        async with open_session(self.artifacts, [table.handle]) as session:
            profile = await _profile(session, table)
            first = await _rows(session, table, 0, _FIRST_ROWS)
        return "\n".join(
            [
                *lines,
                "profile:",
                csv_text(_PROFILE_HEADING, profile),
                f"first {len(first.rows)} rows:",
                replace(first, rows=[tuple(map(_cut, row)) for row in first.rows]).csv,
            ]
        )


def _cut(cell: object) -> object:
    """Return a cell of a description; a long text is cut, with its length."""
    if not isinstance(cell, str) or len(cell) <= _LONGEST_CELL:
        return cell
    return f"{cell[:_LONGEST_CELL]}… ({len(cell):,} characters)"


def _head(table: Artifact, notes: Sequence[str]) -> list[str]:
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


def _source(table: Artifact) -> Source:
    title = table.source_title or table.name
    return Source(title=title, url=table.source_url, supports="The figures queried from it.")


def _with_columns(table: Artifact, fields: Sequence[str] | None) -> Artifact:
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
        if column.type in _PLAIN_TYPES or column.type.startswith("DECIMAL")
        else f"{quoted_name(column.name)}::VARCHAR AS {quoted_name(column.name)}"
        for column in table.columns
    )
    rows = await session.rows(
        f"SELECT {selected} FROM {quoted_name(table.handle)} LIMIT {limit} OFFSET {offset}"
    )
    return Rows(table.columns, rows, table.rows or 0)
