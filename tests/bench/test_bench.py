"""The goals, as ratios in one run; `pytest -m bench`."""

from __future__ import annotations

import pytest

from tests.bench.measure import cpu_ratio
from tests.bench.memory import growth, per_waiting_run
from tests.bench.traffic import traffic

pytestmark = [pytest.mark.bench, pytest.mark.timeout(300)]


@pytest.mark.parametrize(("concurrency", "stream"), [(1, False), (50, False), (50, True)])
async def test_a_turn_costs_half_of_a_bare_loop(concurrency: int, stream: bool) -> None:
    """Goal: our CPU per turn is at most half of what a bare loop on the SDK takes."""
    ratio, _ = await cpu_ratio(concurrency=concurrency, stream=stream, rounds=3, runs=50)
    assert ratio <= 0.5


async def test_a_turn_with_the_whole_history_costs_a_seventh_of_a_bare_loop() -> None:
    """Goal: stateless, where the SDK transforms the whole conversation every time."""
    ratio, _ = await cpu_ratio(concurrency=1, stream=False, stateless=True, rounds=3, runs=20)
    assert ratio <= 0.15


async def test_a_waiting_run_is_small() -> None:
    """Goal: a thousand waiting runs fit in half a gigabyte, with room."""
    assert await per_waiting_run(1_000) < 500_000


async def test_memory_is_flat_over_two_thousand_runs() -> None:
    """Goal: runs leave nothing behind; what little a process takes more is the allocator's."""
    more, objects = await growth(2_000)
    assert more < 20_000_000
    assert objects < 0.1


async def test_redis_is_asked_little() -> None:
    """Goal: what many deployments share one Redis with, measured on `bot serve` itself."""
    found = await traffic()
    assert found.idle <= 10
    assert found.question <= 120
