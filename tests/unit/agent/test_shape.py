"""The loop stays small, frozen in its state, and ignorant of what is around it."""

from __future__ import annotations

import ast
from dataclasses import fields
from pathlib import Path

import pytest
from pydantic import ValidationError

from bot.agent import loop
from bot.agent.events import Recorded
from bot.agent.phases import Phases
from bot.agent.state import LoopState, Transition
from bot.core.chain import Item
from bot.dev.model import Script, call, finish, text
from tests.unit.agent.harness import ANSWER, bench

SOURCE = Path(loop.__file__).read_text("utf-8")
PHASES = (
    "assemble",
    "reason",
    "dispatch",
    "end_with_refusal",
    "take_outputs",
    "continue_after_cut",
    "take_text",
    "retry_empty",
)
POLICY = ("budget", "compact", "approval", "slack", "redis", "evaluat")


LIBRARIES = ("slack", "redis", "openai", "aiohttp", "docket", "bot.slack", "bot.store", "bot.runs")


def test_the_loop_reads_on_two_or_three_screens() -> None:
    """A1 A7: no policy is named in its code, and nothing is imported that it could be handed."""
    tree = ast.parse(SOURCE)
    nodes = list(ast.walk(tree))
    names = {node.id.lower() for node in nodes if isinstance(node, ast.Name)}
    names |= {node.attr.lower() for node in nodes if isinstance(node, ast.Attribute)}
    assert len(SOURCE.splitlines()) <= 150
    assert [name for name in names for word in POLICY if word in name] == []
    imported = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    ours = [name for name in imported if name.startswith("bot.")]
    assert ours
    assert [name for name in ours if not (name + ".").startswith("bot.agent.")] == []


def test_a_turn_is_four_phases_and_the_decision_is_there_to_read() -> None:
    """A3 A5: one `while`; assemble, reason and dispatch are called once, in that order, and what a
    response means is decided in the loop itself."""
    tree = ast.parse(SOURCE)
    assert sum(isinstance(node, ast.While) for node in ast.walk(tree)) == 1
    called = [
        (node.lineno, node.func.attr)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ]
    names = [name for _, name in sorted(called)]
    assert [name for name in names if name in PHASES] == list(PHASES)


@pytest.mark.parametrize(
    "path", sorted(Path(loop.__file__).parent.rglob("*.py")), ids=lambda path: path.stem
)
def test_nothing_around_the_loop_knows_where_it_runs(path: Path) -> None:
    """A7: no module of the agent imports Slack, a store or a client of a service."""
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    imported = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    imported += [
        alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names
    ]
    assert [name for name in imported if name.startswith(LIBRARIES)] == []


async def test_state_is_replaced_whole_with_a_reason() -> None:
    """A4: nothing is changed in place; each step says why the loop went on. What is stored can be read
    again, with nothing lost but what the ledger holds."""
    with pytest.raises(ValidationError):
        LoopState().turn = 1  # type: ignore[misc]
    async with bench(Script([call("add", {"a": 1, "b": 1}), finish(ANSWER)])) as place:
        await place.run()
    steps = [event.state.transition for event in place.of(Recorded)]
    assert Transition.TOOLS_ANSWERED in steps
    last = place.saved[-1].state
    stored = LoopState.model_validate_json(last.model_dump_json())
    assert stored.replace(new_items=last.new_items) == last


@pytest.mark.parametrize("stateless", [False, True])
async def test_nothing_of_a_run_lives_beside_its_state(stateless: bool) -> None:
    """A4 B4: what is given to the phases cannot be changed by them, and each state that is kept
    knows what was added until then."""
    assert {field.name for field in fields(Phases)} == {"deps", "began"}
    assert Phases.__dataclass_params__.frozen  # type: ignore[attr-defined]
    script = Script([call("add", {"a": 1, "b": 1}), text("Two."), finish(ANSWER)])
    async with bench(script, stateless=stateless) as place:
        ended = await place.run()
    added: list[Item] = []
    for recorded in place.saved[1:]:
        added += recorded.entry.items
        assert list(recorded.state.new_items) == added
        assert list(recorded.state.conversation[1:]) == (added if stateless else [])
    assert list(ended.new_items) == added
