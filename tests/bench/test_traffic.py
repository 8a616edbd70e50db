"""How much of Redis a process and a question take: the same on every machine, so part of every run."""

from __future__ import annotations

import pytest

from tests.bench.traffic import traffic


@pytest.mark.timeout(120)
async def test_redis_is_asked_little() -> None:
    """Goal: at most 10 commands a second while idle, and 120 for a question in Slack with two tools;
    a question is held to about what it takes now."""
    found = await traffic(idle_seconds=4, questions=2)
    assert found.idle <= 10
    assert found.question <= 49
    assert found.inside <= 141
