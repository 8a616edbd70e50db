"""The tool that compares two tables."""

# ruff: noqa: S608 - the names in these statements are quoted, the values our own or escaped

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bot.toolkit import Artifact, Compact, Provided, Reads, Tables, ToolError, ToolResult, tool
from bot.toolkit.provided.tables import RowLimit, literal, quoted_name


@tool(
    group="data",
    summary="Compare two versions of a table: rows that came, went and changed",
    safety=Reads(foreign=True),
    title="Compare two tables",
    narrowing=("compact", "limit"),
    timeout=60.0,
)
async def compare_tables(
    before: Annotated[str, Field(description="Handle tbl_… of the older version.")],
    after: Annotated[str, Field(description="Handle tbl_… of the newer version.")],
    key: Annotated[str, Field(description="Column that names a row in both; without repetitions.")],
    tables: Provided[Tables],
    limit: RowLimit = None,
    compact: Compact = False,
) -> ToolResult:
    """List each difference: key, what happened (added, removed, changed), column, old and new value; of
    a row that came or went all it holds. Columns that only one version has are named, not compared."""
    old, new = (
        await tables.find(before, key),
        await tables.find(after, key),
    )
    for version in (before, after):
        await _unique(tables, version, key)
    only = [*_only_in(old, new), *_only_in(new, old)]
    common = [
        column.name for column in old.columns if column.name in _names(new) and column.name != key
    ]
    sql = _differences(before, after, key, common)
    handles = [before, after]
    return await tables.query(sql, handles, notes=only, limit=limit, compact=compact)


def _differences(before: str, after: str, key: str, columns: list[str]) -> str:
    """Return SQL with one row per added or removed row and per changed cell of `columns`."""
    old, new = f"b.{quoted_name(key)}", f"a.{quoted_name(key)}"
    joined = (
        f"{quoted_name(before)} b FULL JOIN {quoted_name(after)} a "
        f"ON {old}::VARCHAR = {new}::VARCHAR"
    )
    shown_key = f"coalesce({old}, {new})::VARCHAR AS key"
    parts = [
        f"SELECT {shown_key}, CASE WHEN {old} IS NULL THEN 'added' ELSE 'removed' END AS what, NULL::VARCHAR AS field, "
        f"CASE WHEN {new} IS NULL THEN {_row('b', columns)} END AS old, "
        f"CASE WHEN {old} IS NULL THEN {_row('a', columns)} END AS new FROM {joined} "
        f"WHERE {old} IS NULL OR {new} IS NULL"
    ]
    for column in columns:
        was, is_now = f"b.{quoted_name(column)}::VARCHAR", f"a.{quoted_name(column)}::VARCHAR"
        parts.append(
            f"SELECT {shown_key}, 'changed', {literal(column)}, {was}, {is_now} FROM {joined} "
            f"WHERE {old} IS NOT NULL AND {new} IS NOT NULL AND {was} IS DISTINCT FROM {is_now}"
        )
    return f"{' UNION ALL '.join(parts)} ORDER BY 2, 1, 3"


def _row(version: str, columns: list[str]) -> str:
    """Return SQL for a row as text, "name: Desk, price: 200"; NULL without columns."""
    cells = [
        f"{literal(f'{column}: ')} || {version}.{quoted_name(column)}::VARCHAR"
        for column in columns
    ]
    return f"concat_ws(', ', {', '.join(cells)})" if cells else "NULL::VARCHAR"


def _names(table: Artifact) -> set[str]:
    return {column.name for column in table.columns}


def _only_in(table: Artifact, other: Artifact) -> list[str]:
    missing = [column.name for column in table.columns if column.name not in _names(other)]
    return [f"columns only in {table.handle}: {', '.join(missing)}"] if missing else []


async def _unique(tables: Tables, handle: str, key: str) -> None:
    name = quoted_name(key)
    sql = f"SELECT count(*) - count(DISTINCT {name}::VARCHAR) FROM {quoted_name(handle)}"
    [(others,)] = await tables.select(sql, [handle])
    if others:
        raise ToolError(
            f"{key} does not name one row in {handle}: {others:,} rows repeat a value or have none. "
            "Use another column, or make a key of several with query_table."
        )
