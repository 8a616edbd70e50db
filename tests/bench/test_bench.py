"""The goals, as ratios in one run; `pytest -m bench`."""

from __future__ import annotations

import pytest

from tests.bench.measure import (
    COLUMNS,
    FIGURES,
    MORE_FOR_FIGURES,
    Column,
    measured,
    tracing_seconds,
)
from tests.bench.memory import growth, per_waiting_run

pytestmark = [pytest.mark.bench, pytest.mark.timeout(300)]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.name)
async def test_a_run_costs_less_than_a_bare_loop(column: Column) -> None:
    """Goal: the bot as it is composed, beside 30 lines on the SDK in the same rounds: the loop with
    all default hooks and the shipped tools, and a whole run with its records in Redis; and little
    more with outputs full of figures."""
    cpu = await measured(column, rounds=3, runs=50)
    figures = await measured(column, characters=FIGURES, rounds=3, runs=50)
    for name, goal in column.goals.items():
        assert cpu[name].share <= goal
        assert figures[name].share <= MORE_FOR_FIGURES * cpu[name].share


@pytest.mark.parametrize("characters", [200, 2_000])
async def test_filling_in_and_tracing_cost_little(characters: int) -> None:
    """evidence 4: 2 ms for an answer with six references and four typed figures, and 5 ms for each
    100 kB of outputs, inside a whole run."""
    seconds = await tracing_seconds(characters, runs=15)
    assert seconds <= 0.002 + 0.005 * (24 * characters / 100_000)


async def test_a_waiting_run_is_small() -> None:
    """Goal: a thousand waiting runs fit in half a gigabyte, with room."""
    assert await per_waiting_run(1_000) < 500_000


async def test_memory_is_flat_over_two_thousand_runs() -> None:
    """Goal: runs leave nothing behind; what little a process takes more is the allocator's."""
    more, objects = await growth(2_000)
    assert more < 20_000_000
    assert objects < 0.1
