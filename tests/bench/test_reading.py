"""What reading a text table by our rules costs, as a ratio to DuckDB's own reader in the same run."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.library.documents.reading.delimited import read_delimited
from bot.library.documents.reading.tabular import connect

pytestmark = [pytest.mark.bench, pytest.mark.timeout(300)]


def long(rows: int) -> str:
    """Return six columns: a number, a word, a day, an amount, a count and a text in quotes."""
    lines = (
        f"{n},{'north' if n % 2 else 'south'},2026-{n % 12 + 1:02}-{n % 28 + 1:02},{n % 997}.{n % 90 + 10},"
        f'{n % 50},"order {n}, of customer {n % 997}"'
        for n in range(rows)
    )
    return "\n".join(["id,region,day,amount,pieces,text", *lines])


def wide(rows: int) -> str:
    """Return 500 columns of numbers."""
    line = ",".join(f"{n}.5" for n in range(500))
    return "\n".join([",".join(f"c_{n}" for n in range(500)), *[line] * rows])


@pytest.mark.parametrize(
    ("text", "most"), [(long(100_000), 6), (wide(1_000), 5)], ids=["long", "wide"]
)
def test_reading_by_rules_costs_a_small_multiple_of_reading(
    tmp_path: Path, text: str, most: float
) -> None:
    """Issue 19, row 6: two statements for each column, or a Python loop over quoted rows, cost far more."""
    (tmp_path / "source.csv").write_text(text)

    def plainly() -> None:
        with connect() as connection:
            source = f"read_csv('{tmp_path}/source.csv', parallel = false)"
            connection.execute(f"COPY (FROM {source}) TO '{tmp_path}/plain.parquet'")

    def by_rules() -> None:
        read_delimited(text.encode(), "data.csv", tmp_path / "0.parquet")

    ratio = min(cpu(by_rules) for _ in range(3)) / min(cpu(plainly) for _ in range(3))
    assert ratio <= most


_CHILD = """
import asyncio, resource, sys
from pathlib import Path
from bot.services import artifact_documents as documents
asyncio.run(documents.read(Path(sys.argv[1]).read_bytes(), "csv", name="data.csv"))
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3), used.ru_utime + used.ru_stime)
"""


@pytest.mark.parametrize(("make", "rows"), [(long, 1_000_000), (wide, 10_000)])
def test_a_reading_process_stays_within_its_bounds(
    tmp_path: Path, make: Callable[[int], str], rows: int
) -> None:
    """Issue 19, row 6: a million rows by six columns, and 500 columns: 600 MB and 10 s of two cores."""
    (tmp_path / "source.csv").write_text(make(rows))
    command = [sys.executable, "-c", _CHILD, str(tmp_path / "source.csv")]
    megabytes, seconds = map(float, subprocess.check_output(command).split())
    assert megabytes < 600
    assert seconds < 20


def cpu(work: Callable[[], object]) -> float:
    """Return the seconds of CPU that `work` takes."""
    before = time.process_time()
    work()
    return time.process_time() - before
