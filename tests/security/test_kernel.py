"""Isolated processes are closed by the kernel: what code that took one over can still do (A7, row 27)."""

from __future__ import annotations

import pytest

from bot.services.processes.isolation import IsolatedLimits, isolated


@pytest.mark.parametrize("network", [False, True])
async def test_libraries_work_under_the_filter(network: bool) -> None:
    """reliability 27: the filter refuses nothing that the work itself needs."""
    limits = IsolatedLimits(memory=2**31, cpu=100, seconds=100)
    async with isolated("tests.support.workloads", limits, network=network) as process:
        assert await process.call("run") == {}
