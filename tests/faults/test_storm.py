"""The storm, for as long as CI has time: `python -m tests.faults --storm` is the whole of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.storm import restored_storm, storm

QUESTIONS, TURNS = 15, 3


@pytest.mark.timeout(240)
async def test_nothing_is_lost_or_doubled_in_a_short_storm(tmp_path: Path) -> None:
    """(R1, R2, reliability 16, 17, promise) Processes are killed every few seconds, Redis stands still
    now and then, and one question kills each worker that takes it up, until it is given up."""
    found = await storm(1, QUESTIONS, tmp_path, turns=TURNS)
    assert len(found.asked) >= QUESTIONS
    assert (found.lost, found.doubled, found.given_up, found.disordered) == ([], [], [], [])
    assert found.killed_by["killer-0"]


@pytest.mark.timeout(240)
async def test_a_backup_made_in_a_storm_brings_back_no_answer_twice(tmp_path: Path) -> None:
    """(reliability 25, 28) Redis loses everything, the backup is restored, and people go on asking: each
    question that Slack shows has one answer."""
    found = await restored_storm(1, 12, tmp_path, turns=2)
    assert len(found.asked) >= 12
    assert (found.lost, found.doubled, found.given_up) == ([], [], [])
    assert found.answered_since
    assert found.open_when_lost
