"""The storm, for as long as CI has time: `python -m tests.faults --storm` is the whole of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.storm import storm

QUESTIONS, TURNS = 15, 3


@pytest.mark.timeout(240)
async def test_nothing_is_lost_or_doubled_in_a_short_storm(tmp_path: Path) -> None:
    """(R1, R2, reliability 16, 17, promise) Processes are killed every few seconds, Redis stands still
    now and then, and one question kills each worker that takes it up, until it is given up."""
    found = await storm(1, QUESTIONS, tmp_path, turns=TURNS)
    assert len(found.asked) >= QUESTIONS
    assert (found.lost, found.doubled, found.given_up, found.disordered) == ([], [], [], [])
    assert found.killed_by["killer-0"]
