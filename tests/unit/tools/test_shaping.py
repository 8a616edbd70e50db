"""Tables in another shape: right figures, and what did not fit is said."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio

from bot.core.errors import ToolError
from bot.services.artifact_documents import ArtifactDocuments
from bot.services.artifact_tables import ArtifactTables
from bot.toolkit import Artifact, ToolResult
from tools import comparing, shaping


@pytest_asyncio.fixture(loop_scope="module")
async def sales(tables: ArtifactTables) -> Artifact:
    rows = [
        ["North", "2024", 1, "2024-01-03"],
        ["South", "2024", 2, "2024-03-09"],
        ["North", "2025", 3.5, "2025-01-01"],
        ["north ", "2025's", 4, None],
    ]
    columns = ["region", "year", "amount", "day"]
    return await tables.save(columns, rows, name="sales.csv")


@pytest_asyncio.fixture(loop_scope="module")
async def heads(tables: ArtifactTables) -> Artifact:
    rows = [["NORTH", "Ada"], ["West", "Ben"]]
    return await tables.save(["region", "head"], rows, name="heads.csv")


def body(result: ToolResult) -> list[str]:
    """The rows below head, columns and notes."""
    lines = result.content.splitlines()
    told = [n for n, line in enumerate(lines) if line.startswith(("columns: ", "note: "))]
    return lines[told[-1] + 2 :]


async def test_a_pivot_has_a_column_for_each_value(tables: ArtifactTables, sales: Artifact) -> None:
    """Values with quotes in them are values."""
    result = await shaping.pivot_table(sales.handle, ["region"], "year", "amount", tables)
    assert body(result) == ["North,1.0,3.5,,4.5", "South,2.0,,,2.0", "north ,,,4.0,4.0"]
    assert "2025's DOUBLE" in result.content


async def test_a_pivot_across_too_many_values_says_what_to_do(tables: ArtifactTables) -> None:
    rows = [[n, "x", 1] for n in range(70)]
    table = await tables.save(["id", "kind", "n"], rows, name="t")
    with pytest.raises(ToolError, match="more than 60 different values"):
        await shaping.pivot_table(table.handle, ["kind"], "id", "n", tables)


async def test_a_join_says_what_found_no_partner(
    tables: ArtifactTables, sales: Artifact, heads: Artifact
) -> None:
    """What people overlook: rows that vanish, and keys that multiply rows."""
    result = await shaping.join_tables(sales.handle, heads.handle, "region", "region", tables)
    assert "rows without a partner: 1 of the first, 1 of the second" in result.content
    assert "empty: 2 of the first, 0 of the second" in result.content
    assert sum("Ada" in line for line in body(result)) == 3


async def test_two_versions_are_compared(tables: ArtifactTables, heads: Artifact) -> None:
    rows = [["NORTH", "Eve", 1], ["East", "Ben", 2]]
    newer = await tables.save(["region", "head", "x"], rows, name="new.csv")
    result = await comparing.compare_tables(heads.handle, newer.handle, "region", tables)
    assert body(result) == [
        "East,added,,,head: Ben",
        "NORTH,changed,head,Ada,Eve",
        "West,removed,,head: Ben,",
    ]
    assert f"columns only in {newer.handle}: x" in result.content


async def test_files_of_several_months_become_one(tables: ArtifactTables, heads: Artifact) -> None:
    rows = [["Ada", "East", 1]]
    other = await tables.save(["head", "region", "x"], rows, name="may.csv")
    result = await shaping.combine_tables([heads.handle, other.handle], tables)
    assert body(result)[-1] == "may.csv,East,Ada,1"
    assert "not in every table, empty there: x" in result.content


async def test_duplicates_are_found_however_they_are_written(
    tables: ArtifactTables, sales: Artifact
) -> None:
    result = await comparing.find_duplicates(sales.handle, ["region"], tables)
    assert body(result) == ["north,3"]


async def test_totals_have_a_row_for_each_period(tables: ArtifactTables, sales: Artifact) -> None:
    """Also where there is nothing: a gap that is left out looks like growth."""
    result = await shaping.totals_over_time(sales.handle, "day", "amount", "month", tables)
    assert body(result)[:3] == ["2024-01-01,1.0,", "2024-02-01,,", "2024-03-01,2.0,"]
    assert body(result)[-1] == "2025-01-01,3.5,"
    yearly = await shaping.totals_over_time(sales.handle, "day", "amount", "year", tables)
    assert body(yearly) == ["2024-01-01,3.0,", "2025-01-01,3.5,16.7"]


async def test_figures_of_the_conversation_become_a_table(tables: ArtifactTables) -> None:
    made = await shaping.make_table(
        "rates", "city,rate\nRome,1.5\nOslo,2", ArtifactDocuments(tables.artifacts)
    )
    [handle] = made.handles
    assert [(c.name, c.type) for c in (await tables.artifacts.find(handle)).columns] == [
        ("city", "VARCHAR"),
        ("rate", "DOUBLE"),
    ]


async def test_a_column_that_is_not_there_is_named(tables: ArtifactTables, sales: Artifact) -> None:
    with pytest.raises(ToolError, match=r"no column town\. Columns: region"):
        await comparing.find_duplicates(sales.handle, ["town"], tables)


def _days(first: str, last: str, step: int = 1) -> list[list[object]]:
    start, end = date.fromisoformat(first), date.fromisoformat(last)
    return [[start + timedelta(days=n), 1] for n in range(0, (end - start).days + 1, step)]


@pytest.mark.parametrize(
    ("rows", "every", "said"),
    [
        (_days("2024-01-01", "2024-05-15"), "month", ["last period (2024-05-01)"]),
        (_days("2024-01-20", "2024-05-31"), "month", ["first period (2024-01-01)"]),
        (_days("2023-01-01", "2024-06-30"), "year", ["last period (2024-01-01)"]),
        (_days("2024-01-01", "2024-06-30"), "quarter", []),
        (_days("2024-01-01", "2024-06-24", 7), "month", []),
        ([[f"2024-{month:02}", 1] for month in range(1, 7)], "month", []),
        ([[f"2024-{month:02}", 1] for month in range(1, 8)], "quarter", ["(2024-07-01)"]),
        ([[f"2024-{month:02}-28", 1] for month in range(1, 13)], "year", []),
        ([[year, 1] for year in range(2018, 2025)], "year", []),
        ([[datetime.now(UTC).date() - timedelta(days=400 * n), 1] for n in range(3)], "year", ["has not ended yet"]),
    ],
)  # fmt: skip
async def test_growth_against_a_part_of_a_period_is_said(
    tables: ArtifactTables, rows: list[list[object]], every: Any, said: list[str]
) -> None:
    """V19: a month of half its days is no fall in sales; a whole one is not called a part."""
    handle = (await tables.save(["day", "n"], rows, name="t")).handle

    result = await shaping.totals_over_time(handle, "day", "n", every, tables)

    assert all(each in result.content for each in said)
    assert result.content.count("is not whole") == len(said)
