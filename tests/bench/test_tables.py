"""What a query costs for running in a process of its own, as a ratio in one run."""

from __future__ import annotations

import statistics
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from bot.library.documents.reading.tabular import connect
from bot.library.isolated.pool import warm_processes
from bot.services.artifact_tables import ArtifactTables
from bot.testing.artifacts import MemoryArtifacts
from bot.testing.conversation import asked
from tools.tables import query_table

pytestmark = [pytest.mark.bench, pytest.mark.timeout(300)]


async def test_a_warm_query_takes_at_most_twice_as_long_as_inside_the_bot(tmp_path: Path) -> None:
    """S2: the price of a process that can be killed. The other side opens, asks, counts and shows
    with DuckDB inside this process, as the tool once did."""
    rows = [[f"region {n % 7}", n * 1.5, f"2026-01-{n % 28 + 1:02}"] for n in range(2_000)]
    artifacts = MemoryArtifacts()
    with asked():
        async with warm_processes():
            table = await ArtifactTables(artifacts).save(["region", "n", "day"], rows, name="s.csv")
            sql = f"SELECT region, sum(n) AS total FROM {table.handle} GROUP BY 1 ORDER BY 2 DESC"
            (tmp_path / table.handle).write_bytes(await artifacts.read(table.handle))

            async def inside() -> None:
                for statement in (
                    f"COPY ({sql}) TO '{tmp_path}/result.parquet' (FORMAT parquet)",
                    f"SELECT count(*) FROM '{tmp_path}/result.parquet'",
                    f"SELECT * FROM '{tmp_path}/result.parquet' LIMIT 50",
                ):
                    with connect(threads=2) as connection:
                        source = f"read_parquet('{tmp_path / table.handle}')"
                        connection.execute(f"CREATE VIEW {table.handle} AS FROM {source}")
                        connection.execute(statement).fetchall()

            async def isolated() -> None:
                await query_table(sql, [table.handle], ArtifactTables(artifacts))

            ratio = await median(isolated) / await median(inside)
    assert ratio <= 2.0


async def median(work: Callable[[], Awaitable[None]]) -> float:
    """Seconds that `work` takes at the median, once it is warm."""
    taken = []
    for _ in range(25):
        began = time.perf_counter()
        await work()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken[5:])
