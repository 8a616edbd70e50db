"""Tools that query, describe and make tables."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from bot.toolkit import (
    Compact,
    Documents,
    Fields,
    Provided,
    Reads,
    Tables,
    Text,
    ToolError,
    ToolResult,
    tool,
)

_REPLACED = {
    "pivot_table": "PIVOT tbl_x ON month USING sum(n) GROUP BY region.",
    "join_tables": "SELECT * FROM tbl_x JOIN tbl_y ON tbl_x.id = tbl_y.id; its notes say what has no "
    "partner.",
    "combine_tables": "SELECT 'may' AS from_table, * FROM tbl_x UNION ALL BY NAME SELECT 'june', * FROM "
    "tbl_y.",
    "totals_over_time": "SELECT date_trunc('month', day) AS month, sum(n) FROM tbl_x GROUP BY 1 ORDER "
    "BY 1; lag() gives the month before, and its notes say which months are missing or not whole.",
    "find_duplicates": "SELECT lower(trim(email)) AS email, count(*) AS n FROM tbl_x GROUP BY 1 HAVING "
    "n > 1 ORDER BY n DESC.",
}
"""Tools that are gone, with SQL for what they did."""

_QUERY = Text("Query: {purpose}")


def _query_title(arguments: Any) -> str:
    return _QUERY(purpose=arguments.purpose or arguments.sql)


@tool(
    group="data",
    summary="SQL over tables (files, query results) by handle",
    safety=Reads(foreign=True),
    offered_with=("table",),
    title=_query_title,
    narrowing=("compact", "limit"),
    timeout=60.0,
    replaces=_REPLACED,
)
async def query_table(
    sql: Annotated[
        str,
        Field(
            description="SELECT region, sum(n) FROM tbl_x GROUP BY 1, or PIVOT tbl_x ON month USING sum(n) "
            "GROUP BY region."
        ),
    ],
    handles: Annotated[list[str], Field(min_length=1, description="Handles of its tables: tbl_x.")],
    tables: Provided[Tables],
    purpose: Annotated[  # noqa: ARG001 - the card shows it
        str | None, Field(description="What it finds out, in a few words.")
    ] = None,
    limit: Annotated[int | None, Field(ge=1, le=200, description="Rows to show.")] = None,
    compact: Annotated[Compact, Field(description="No rows, only handle and columns.")] = False,
) -> ToolResult:
    """Query tables with one DuckDB SELECT or PIVOT.

    A table is its handle or its quoted file name ("sales.csv"). Quote columns with spaces.
    Text dates: strptime(col, '%d/%m/%Y'); text numbers: try_cast(replace(col, ',', '') AS DOUBLE).
    Beyond sums: corr, regr_slope, stddev_samp, stddev_pop, quantile_cont, skewness, lgamma, window
    functions, range, WITH RECURSIVE, UNION ALL BY NAME. -x^2 is (-x)^2. All rows are saved under a new
    handle, for share_file too; 50 are shown.
    """
    return await tables.query(sql, handles, limit=limit, compact=compact, checked=True)


@tool(
    group="data",
    summary="Columns, types, ranges and first rows of a table",
    safety=Reads(foreign=True),
    title="Describe {handle}",
    narrowing=("compact", "fields"),
    timeout=60.0,
)
async def describe_table(
    handle: Annotated[str, Field(description="Handle tbl_… of a table.")],
    tables: Provided[Tables],
    fields: Fields = None,
    compact: Annotated[Compact, Field(description="Only names and types of the columns.")] = False,
) -> ToolResult:
    """Profile a table: each column's type, nulls, distinct values, least and greatest value, and
    the first 5 rows."""
    table = await tables.find(handle)
    text = await tables.describe(table, fields=fields, compact=compact)
    return ToolResult(text, handles=(handle,))


_TEST = Text("Test {columns}: {test}")


def _test_title(arguments: Any) -> str:
    columns = ", ".join([*arguments.columns, *filter(None, [arguments.by])])
    return _TEST(columns=columns, test=arguments.test.replace("_", " "))


@tool(
    group="data",
    summary="Statistical test on columns: p-values, correlation, regression",
    safety=Reads(foreign=True),
    title=_test_title,
    timeout=60.0,
)
async def statistical_test(
    handle: Annotated[str, Field(description="Handle tbl_… of a table.")],
    test: Annotated[
        Literal[
            "pearson",
            "spearman",
            "welch",
            "student",
            "paired",
            "anova",
            "mann_whitney",
            "chi_squared",
            "shapiro",
            "ks",
            "regression",
        ],
        Field(
            description="pearson, spearman: correlation of each pair. welch, student, mann_whitney, "
            "anova, ks: groups. paired: two columns. chi_squared: two columns of categories. shapiro: is "
            "each normal. regression: the first column by the others."
        ),
    ],
    columns: Annotated[
        list[str], Field(min_length=1, max_length=20, description="Columns of numbers.")
    ],
    tables: Provided[Tables],
    by: Annotated[
        str | None,
        Field(description="Column whose values are the groups; without it each column is a group."),
    ] = None,
) -> ToolResult:
    """Test a hypothesis, two-sided: statistic, degrees of freedom, p_value, n and what it assumes, as a
    table whose figures you refer to. Filter and compute columns with query_table first."""
    if test in ("chi_squared", "paired", "regression", "pearson", "spearman"):
        named = len(columns) + (by is not None and test == "chi_squared")
        if named < 2:
            raise ToolError(f"{test} needs two columns or more.")
    return await tables.test_hypothesis(handle, test, columns, by)


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
