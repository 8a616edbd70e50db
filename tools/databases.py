"""Read-only tools for the databases of the organisation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, cast

from pydantic import Field

from bot.toolkit import (
    Compact,
    Databases,
    Provided,
    Query,
    Reads,
    Source,
    Tables,
    Text,
    ToolResult,
    tool,
)


async def _schema(services: Mapping[type, object]) -> str:
    return await cast(Databases, services[Databases]).schema()


_QUERY = Text("Query {database}: {purpose}")


def _title(arguments: Any) -> str:
    purpose = arguments.purpose or arguments.sql
    return _QUERY(database=arguments.database, purpose=purpose)


@tool(
    group="databases",
    summary="The configured databases with their tables and columns",
    title="List the databases",
    narrowing=("compact", "query"),
)
async def list_databases(
    databases: Provided[Databases],
    query: Annotated[
        Query, Field(description="Words; only tables with all of them in their names or columns.")
    ] = None,
    compact: Annotated[Compact, Field(description="Only the names of the tables.")] = False,
) -> str:
    """List the databases, their SQL dialects, tables and columns."""
    return await databases.schema(query, compact=compact)


@tool(
    group="databases",
    summary="SQL SELECT on a configured database",
    safety=Reads(foreign=True),
    timeout=330.0,
    title=_title,
    on_acquired=_schema,
    narrowing=("compact", "limit"),
)
async def query_database(
    database: Annotated[str, Field(description="Name of a database as listed.")],
    sql: Annotated[str, Field(description="One SELECT in that database's dialect.")],
    databases: Provided[Databases],
    tables: Provided[Tables],
    limit: Annotated[
        int | None, Field(ge=1, description="Most rows to take; the database has its own limit.")
    ] = None,
    purpose: Annotated[  # noqa: ARG001 - the card shows it
        str | None, Field(description="What it finds out, in a few words for those who watch.")
    ] = None,
    compact: Annotated[Compact, Field(description="Only its handle and columns, no rows.")] = False,
) -> ToolResult:
    """Run one read-only SELECT on a database. Aggregate there rather than fetch rows, but for an
    export select all of its rows, without a limit. The result has all of them under a handle tbl_…,
    which share_file makes a file of; up to 50 are shown."""
    result = await databases.query(database, sql, limit)
    cut = f"database {database}: only the first {len(result.rows):,} rows of a query that has more"
    table = await tables.save(
        result.columns,
        result.rows,
        name=f"database {database}",
        left_out=[cut] if result.truncated else [],
    )
    text = await tables.shown(table, compact=compact)
    if result.truncated:
        text += f"\n[cut: there are more than these {len(result.rows):,} rows; aggregate or filter]"
    source = Source(title=f"Database {database}", url=None, supports="The figures queried from it.")
    return ToolResult(text, (source,), (table.handle,))
