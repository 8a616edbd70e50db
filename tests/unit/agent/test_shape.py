"""The loop stays small, frozen in its state, and ignorant of what is around it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from pydantic import ValidationError

from bot.agent import loop
from bot.agent.events import Recorded
from bot.agent.state import LoopState, Transition
from bot.local.model import Script, call, finish
from tests.unit.agent.harness import ANSWER, bench

SOURCE = Path(loop.__file__).read_text("utf-8")
POLICY = ("budget", "compact", "nudge", "approval", "slack", "redis", "evaluat")


def test_the_loop_reads_on_two_or_three_screens() -> None:
    """A1 A7: no policy is named in its code, and nothing is imported that it could be handed."""
    tree = ast.parse(SOURCE)
    names = {node.id.lower() for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert len(SOURCE.splitlines()) <= 250
    assert [name for name in names for word in POLICY if word in name] == []
    imported = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    ours = [name for name in imported if name.startswith("bot.")]
    assert ours
    assert [name for name in ours if not name.startswith("bot.agent.")] == []


async def test_state_is_replaced_whole_with_a_reason() -> None:
    """A4: nothing is changed in place; each step says why the loop went on."""
    with pytest.raises(ValidationError):
        LoopState().turn = 1  # type: ignore[misc]
    async with bench(Script([call("add", {"a": 1, "b": 1}), finish(ANSWER)])) as place:
        await place.run()
    steps = [event.state.transition for event in place.of(Recorded)]
    assert Transition.TOOLS_ANSWERED in steps
    last = place.saved[-1].state
    assert LoopState.model_validate_json(last.model_dump_json()) == last
