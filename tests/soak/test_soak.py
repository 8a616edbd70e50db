"""The short form: `pytest -m bench tests/soak`. `python -m tests.soak` is the long one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak.soak import growth, soak, write

pytestmark = [pytest.mark.bench, pytest.mark.timeout(300)]


async def test_nothing_grows(tmp_path: Path) -> None:
    """(reliability, how it is shown) Memory, tasks and open files stay as they are while questions are
    answered and things go wrong; what Redis keeps is bounded for each run."""
    samples = await soak(300, tmp_path, lambda _: None)
    write(samples, tmp_path)
    assert growth(samples, "memory") < 0.05
    assert growth(samples, "tasks") < 0.5
    assert growth(samples, "files") < 0.25
    assert samples[-1].redis_keys < 40 * samples[-1].runs
    assert (tmp_path / "soak.png").stat().st_size > 10_000
