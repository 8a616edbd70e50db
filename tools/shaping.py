"""Tools that reshape tables: pivot, join, combine, totals over time.

SQL can do this too, but without the checks that people forget.
"""

# ruff: noqa: S608 - the names in these statements are quoted, the values our own or escaped

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bot.toolkit import (
    Artifact,
    Compact,
    Documents,
    Plural,
    Provided,
    Reads,
    Tables,
    ToolError,
    ToolResult,
    tool,
)
from bot.toolkit.provided.tables import RowLimit, TableHandle, comparable, literal, quoted_name

_MOST_COLUMNS = 60
_MOST_TABLES = 20

_How = Annotated[
    Literal["sum", "avg", "count", "min", "max", "median"],
    Field(description="How values that fall together are made one."),
]


_COMBINE = Plural("Combine {count} table", "Combine {count} tables")


@tool(
    group="data",
    summary="Pivot a table: one row for each group, one column for each value of another column",
    safety=Reads(foreign=True),
    title="Pivot {handle} by {across}",
    narrowing=("compact", "limit"),
    timeout=60.0,
)
async def pivot_table(
    handle: TableHandle,
    rows: Annotated[list[str], Field(min_length=1, description="Columns whose values name rows.")],
    across: Annotated[str, Field(description="Column whose values become columns; 60 at most.")],
    value: Annotated[str, Field(description="Column with the values of the cells.")],
    tables: Provided[Tables],
    how: _How = "sum",
    limit: RowLimit = None,
    compact: Compact = False,
) -> ToolResult:
    """Make a cross table, with a column `total`. The result has a handle of its own."""
    table = await tables.find(handle, *rows, across, value)
    values, blank = await _values(tables, table, across)
    if len(values) > _MOST_COLUMNS:
        raise ToolError(
            f"{across} has more than {_MOST_COLUMNS} different values. Group them first, with "
            "query_table, or pivot by another column."
        )
    names = ", ".join(map(quoted_name, rows))
    cells = [
        f"{how}({quoted_name(value)}) FILTER (WHERE {quoted_name(across)}::VARCHAR = {literal(cell)})"
        f" AS {quoted_name(cell)}"
        for cell in values
    ]
    total = f"{how}({quoted_name(value)}) AS total"
    sql = (
        f"SELECT {', '.join([names, *cells, total])} FROM {quoted_name(handle)} "
        f"GROUP BY {names} ORDER BY {names}"
    )
    notes = [f"rows without {across}, which count in total alone: {blank:,}"] if blank else []
    return await tables.query(sql, [handle], notes=notes, limit=limit, compact=compact)


@tool(
    group="data",
    summary="Join two tables by a key, and say what did not match",
    safety=Reads(foreign=True),
    title="Join two tables",
    narrowing=("compact", "limit"),
    timeout=60.0,
)
async def join_tables(
    left: Annotated[str, Field(description="Handle tbl_… of the first table.")],
    right: Annotated[str, Field(description="Handle tbl_… of the second table.")],
    left_key: Annotated[str, Field(description="Key column of the first table.")],
    right_key: Annotated[str, Field(description="Key column of the second table.")],
    tables: Provided[Tables],
    kind: Annotated[
        Literal["inner", "left", "full"], Field(description="Which rows without a match stay.")
    ] = "left",
    limit: RowLimit = None,
    compact: Compact = False,
) -> ToolResult:
    """Join on equal keys, compared as text without spaces around and in any case. Says how many
    rows of either side have no partner, and whether keys occur twice, which multiplies rows."""
    await tables.find(left, left_key)
    await tables.find(right, right_key)
    keys = comparable("l", left_key), comparable("r", right_key)
    both = f"{quoted_name(left)} l {{kind}} JOIN {quoted_name(right)} r ON {keys[0]} = {keys[1]}"
    checks = await tables.select(
        f"SELECT (SELECT count(*) FROM {both.format(kind='ANTI')}), "
        f"(SELECT count(*) FROM {quoted_name(right)} r ANTI JOIN {quoted_name(left)} l "
        f"ON {keys[0]} = {keys[1]}), "
        f"(SELECT count(*) - count(DISTINCT {keys[0]}) FROM {quoted_name(left)} l), "
        f"(SELECT count(*) - count(DISTINCT {keys[1]}) FROM {quoted_name(right)} r)",
        [left, right],
    )
    sql = f"SELECT l.*, r.* FROM {both.format(kind=kind.upper())}"
    unmatched_left, unmatched_right, twice_left, twice_right = checks[0]
    notes = [
        f"rows without a partner: {unmatched_left:,} of the first, {unmatched_right:,} of the second",
        f"rows whose key is there already or empty: {twice_left:,} of the first, "
        f"{twice_right:,} of the second",
    ]
    return await tables.query(sql, [left, right], notes=notes, limit=limit, compact=compact)


@tool(
    group="data",
    summary="Put tables of the same kind below each other (files of several months)",
    safety=Reads(foreign=True),
    title=lambda arguments: _COMBINE(len(arguments.handles)),
    narrowing=("compact", "limit"),
    timeout=60.0,
)
async def combine_tables(
    handles: Annotated[
        list[str], Field(min_length=2, max_length=_MOST_TABLES, description="Handles tbl_….")
    ],
    tables: Provided[Tables],
    limit: RowLimit = None,
    compact: Compact = False,
) -> ToolResult:
    """Stack tables; columns are matched by name, and `from_table` says where a row came from."""
    tables_read = [await tables.find(handle) for handle in dict.fromkeys(handles)]
    parts = [
        f"SELECT {literal(table.name)} AS from_table, * FROM {quoted_name(table.handle)}"
        for table in tables_read
    ]
    everywhere = set.intersection(*({c.name for c in table.columns} for table in tables_read))
    missing = sorted({c.name for table in tables_read for c in table.columns} - everywhere)
    notes = [f"not in every table, empty there: {', '.join(missing)}"] if missing else []
    sql = " UNION ALL BY NAME ".join(parts)
    return await tables.query(sql, handles, notes=notes, limit=limit, compact=compact)


@tool(
    group="data",
    summary="Totals of a table by day, week, month, quarter or year, with the change",
    safety=Reads(foreign=True),
    title="Totals of {value} by {every}",
    timeout=60.0,
)
async def totals_over_time(
    handle: TableHandle,
    time: Annotated[str, Field(description="Column with a date or time.")],
    value: Annotated[str, Field(description="Column with numbers; with how = count any column.")],
    every: Annotated[
        Literal["day", "week", "month", "quarter", "year"], Field(description="Length of a period.")
    ],
    tables: Provided[Tables],
    how: _How = "sum",
) -> ToolResult:
    """Make one row for each period, also for those without data, with the change to the one before
    in percent. Weeks begin on Monday. A first or last period that is not whole is noted."""
    table = await tables.find(handle, time, value)
    moment = f"date_trunc('{every}', {_moment(quoted_name(time))})"
    left_out = await _without_period(tables, table, time, moment)
    step = "INTERVAL 3 MONTH" if every == "quarter" else f"INTERVAL 1 {every.upper()}"
    sql = (
        f"WITH found AS (SELECT {moment} AS period, {how}({quoted_name(value)}) AS value "
        f"FROM {quoted_name(handle)} WHERE {moment} IS NOT NULL GROUP BY 1), "
        "periods AS (SELECT unnest(generate_series(min(period), max(period), "
        f"{step})) AS period FROM found) "
        "SELECT period::DATE AS period, value, round((value - lag(value) OVER (ORDER BY period)) "
        "* 100.0 / abs(nullif(lag(value) OVER (ORDER BY period), 0)), 1) AS change_percent "
        "FROM periods LEFT JOIN found USING (period) ORDER BY period"
    )
    notes = await _not_whole(tables, handle, moment, _moment(quoted_name(time)), step)
    return await tables.query(sql, [handle], notes=notes, left_out=left_out)


async def _not_whole(tables: Tables, handle: str, period: str, moment: str, step: str) -> list[str]:
    """Return notes on a first and a last period of which the table has a part only.

    That is so where more days are missing than lie between the days that the table has, nearly all
    of them, and in a period that has not ended yet.
    """
    sql = (
        f"WITH days AS (SELECT DISTINCT ({moment})::DATE AS day, ({period})::DATE AS start "
        f"FROM {quoted_name(handle)} WHERE {moment} IS NOT NULL), "
        "gaps AS (SELECT *, day - lag(day) OVER (ORDER BY day) AS gap FROM days), "
        "ends AS (SELECT min(day) AS first, max(day) AS last, min(start) AS first_start, "
        f"max(start) AS last_start, (max(start) + {step})::DATE AS ending, "
        "1.15 * quantile_cont(gap, 0.95) AS usual FROM gaps) "
        "SELECT first, last, first_start, last_start, first - first_start + 1 > usual, "
        "ending - last > usual, current_date >= last_start AND current_date < ending FROM ends"
    )
    [(first, last, first_start, last_start, is_late, is_early, is_running)] = await tables.select(
        sql, [handle]
    )
    notes = []
    if is_late:
        notes.append(
            f"the first period ({first_start}) is not whole: its data begin on {first}; the change "
            "after it compares with a part of a period"
        )
    if is_early or is_running:
        why = " and it has not ended yet" if is_running else ""
        notes.append(
            f"the last period ({last_start}) is not whole: its data end on {last}{why}; its change "
            "compares a part with a whole period"
        )
    return notes


def _moment(column: str) -> str:
    """Return SQL that reads a column as a timestamp, NULL where it cannot.

    It reads dates and times (text in ISO 8601), years as numbers or text, 2024-05 and 2024-Q2.
    """
    text = f"trim({column}::VARCHAR)"
    return (
        rf"CASE WHEN regexp_full_match({text}, '[12]\d{{3}}(\.0)?') "
        f"THEN make_date(left({text}, 4)::INTEGER, 1, 1)::TIMESTAMP "
        rf"WHEN regexp_full_match({text}, '\d{{4}}-(0[1-9]|1[0-2])') "
        f"THEN try_cast({text} || '-01' AS TIMESTAMP) "
        rf"WHEN regexp_full_match({text}, '\d{{4}}-?Q[1-4]') "
        f"THEN make_date(left({text}, 4)::INTEGER, right({text}, 1)::INTEGER * 3 - 2, 1)::TIMESTAMP "
        rf"WHEN regexp_matches({text}, '^\d{{4}}-\d\d-\d\d') "
        f"THEN try_cast({text} AS TIMESTAMP) END"
    )


async def _without_period(tables: Tables, table: Artifact, time: str, moment: str) -> list[str]:
    """Return a sentence on rows without a readable time. Raises ToolError if all lack one."""
    name = quoted_name(time)
    sql = (
        f"SELECT count(*), count({moment}), count({name}), "
        f"min({name}::VARCHAR) FILTER (WHERE {moment} IS NULL) FROM {quoted_name(table.handle)}"
    )
    [(rows, read, filled, example)] = await tables.select(sql, [table.handle])
    if filled and not read:
        raise ToolError(
            f"No value of {time} is a date, month, quarter or year that can be read, as {example}. "
            f"Make a column of dates with query_table: strptime({name}, '%d/%m/%Y')."
        )
    if rows == read:
        return []
    unread = (
        f"{filled - read:,} with a {time} that is no date (as {example})" if filled > read else ""
    )
    blank = f"{rows - filled:,} without {time}" if rows > filled else ""
    parts = ", ".join(filter(None, [unread, blank]))
    return [f"{table.name}: {rows - read:,} of {rows:,} rows are in no period: {parts}"]


@tool(
    group="data",
    summary="Make a table of figures that stand in the conversation, to query or chart them",
    safety=Reads(calculates=True),
    title="Make a table: {name}",
    timeout=60.0,
)
async def make_table(
    name: Annotated[str, Field(min_length=1, max_length=100, description="What it holds.")],
    content: Annotated[
        str,
        Field(min_length=1, max_length=100_000, description="CSV with commas and a header line."),
    ],
    documents: Provided[Documents],
) -> ToolResult:
    """Keep rows as a table under a handle tbl_…. Only figures that a person or a tool gave: never
    make them up."""
    document = await documents.read(content.encode(), "csv", name=name)
    return await documents.save(document, name=name)


async def _values(tables: Tables, table: Artifact, column: str) -> tuple[list[str], int]:
    """Return the sorted distinct values of a column as text, and the number of rows without one.

    Numbers in text sort as numbers. There is at most one value more than a pivot can have columns.
    """
    name = quoted_name(column)
    sql = (
        f"SELECT {name}::VARCHAR, count(*) FROM {quoted_name(table.handle)} GROUP BY {name} "
        f"ORDER BY {name} IS NULL DESC, try_cast({name}::VARCHAR AS DOUBLE), {name} "
        f"LIMIT {_MOST_COLUMNS + 2}"
    )
    selection = await tables.select(sql, [table.handle])
    return [value for value, _ in selection if value is not None], sum(
        count for value, count in selection if value is None
    )
