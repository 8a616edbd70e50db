"""What bounds a run, and how one that reaches a bound ends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bot.core.outcome import RunStatus, StopReason
from bot.dev.model import Script, call, calls, finish, refusal
from tests.unit.agent.harness import ANSWER, bench


async def test_the_last_turn_forces_the_result() -> None:
    """C5: told before, forced at the end, and marked partial because it did not end by itself."""
    script = Script([*(call("add", {"a": n, "b": 1}) for n in range(3)), finish(ANSWER)])
    async with bench(script, turns=4) as place:
        ended = await place.run()
    assert ended.stop_reason is StopReason.MAX_TURNS
    assert ended.status is RunStatus.PARTIAL
    assert ended.result is not None
    last = place.api.requests[-1].body
    assert last["tool_choice"] == {"type": "function", "name": "complete_task"}
    assert "last turn" in str(last["input"])
    assert len(place.api.requests) == 4


async def test_the_model_is_told_once_when_a_limit_comes_near() -> None:
    """C5: how much is left, as help for planning, not as a reprimand, and not every turn."""
    script = Script([*(call("add", {"a": n, "b": 1}) for n in range(6)), finish(ANSWER)])
    async with bench(script, turns=8) as place:
        await place.run()
    told = [
        n
        for n, each in enumerate(place.api.requests)
        if "Left for this question: 25% of the turns." in str(each.body["input"])
    ]
    assert told == [6]


async def test_a_refused_last_call_takes_nothing_away() -> None:
    """C6: as a last call that fails: the reason is the guard's, and what was done is told."""
    script = Script([call("add", {"a": 1, "b": 1}), refusal("I can't.")])
    async with bench(script, tokens=1) as place:
        ended = await place.run()
    assert (ended.status, ended.stop_reason) == (RunStatus.PARTIAL, StopReason.TOKEN_BUDGET)
    assert ended.done == ("1 + 1",)


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"tokens": 100}, StopReason.TOKEN_BUDGET),
        ({"cost": 0.0001}, StopReason.COST_BUDGET),
    ],
)
async def test_a_budget_ends_the_run_with_one_last_call(
    limits: dict[str, Any], reason: StopReason
) -> None:
    """G1 C6 E1: what was found is asked for once; never more than one call beyond the budget."""
    async with bench(Script([call("add", {"a": 1, "b": 1}), finish(ANSWER)]), **limits) as place:
        ended = await place.run()
    assert ended.stop_reason is reason
    assert ended.status is RunStatus.PARTIAL
    assert ended.result is not None
    assert len(place.api.requests) == 2


async def test_a_last_call_that_fails_leaves_what_was_done() -> None:
    """C6 C7: partial, with the titles of what went well, in the place of a result."""
    async with bench(Script([call("add", {"a": 1, "b": 1})]), tokens=100) as place:
        place.api.faults.fail("clean_eof", times=3, skip=1)
        ended = await place.run()
    assert (ended.status, ended.stop_reason) == (RunStatus.PARTIAL, StopReason.TOKEN_BUDGET)
    assert ended.error is not None
    assert ended.result is None
    assert ended.done == ("1 + 1",)


async def test_the_time_of_a_run_ends_its_tools_too() -> None:
    """G2 B2 C6: a tool in mid-run is stopped, its call answered, and the result asked for once."""
    script = Script([calls(("add", {"a": 1, "b": 1}), ("wait", {"name": "w"})), finish(ANSWER)])
    async with bench(script, run_seconds=0.5) as place:
        ended = await place.run()
    assert (ended.status, ended.stop_reason) == (RunStatus.PARTIAL, StopReason.RUN_TIMEOUT)
    told = "Stopped before it finished: the time for this task is up."
    assert list(place.outputs().values()) == ["2", told]
    assert place.gate.log[-1] == "end w"


_ALL: dict[str, Any] = {
    "turns": 1,
    "tokens": 1,
    "cost": 1e-9,
    "failed_turns": 1,
}


@pytest.mark.parametrize(
    ("passed", "reason"),
    [
        ((), StopReason.MAX_TURNS),
        (("turns",), StopReason.TOKEN_BUDGET),
        (("turns", "tokens"), StopReason.COST_BUDGET),
        (("turns", "tokens", "cost"), StopReason.TOOL_ERRORS),
    ],
)
async def test_guards_are_asked_in_their_order(passed: tuple[str, ...], reason: StopReason) -> None:
    """G1 G3: where several have tripped, the run ends for the first: turns, tokens, money."""
    limits = {name: limit for name, limit in _ALL.items() if name not in passed}
    if "turns" in limits:
        limits["turns"] = 2
    fails = 2 if reason is StopReason.TOOL_ERRORS else 1  # one more than the limit
    script = Script([*[call("fail", {"how": "tool"})] * fails, finish(ANSWER)])
    async with bench(script, **limits) as place:
        ended = await place.run()
    assert ended.stop_reason is reason
    assert len(place.api.requests) == fails + 1


async def test_a_context_that_stays_full_ends_the_run_with_one_last_call() -> None:
    """E3 C6: after the offer was passed over, and there was nothing to shorten."""
    script = Script([*[call("add", {"a": 1, "b": 1})] * 2, finish(ANSWER)])
    async with bench(script, context_ratio=0.0001) as place:
        ended = await place.run()
    assert (ended.status, ended.stop_reason) == (RunStatus.PARTIAL, StopReason.CONTEXT_FULL)
    script.assert_done()


@pytest.mark.parametrize("limits", [{"tokens": 100}, {"turns": 2}])
async def test_the_last_call_runs_nothing_but_the_result(limits: dict[str, Any]) -> None:
    """C5 C6: a service that does not force the result may return anything; no change is made."""
    both = calls(("change", {"name": "x"}), ("complete_task", ANSWER))
    script = Script([call("add", {"a": 1, "b": 1}), replace(both, disobey=True)])
    async with bench(script, **limits) as place:
        ended = await place.run()
    assert place.gate.log == ["add 1 1"]
    assert ended.result is not None
    outputs = [each["output"] for each in ended.state.pending if "output" in each]
    assert outputs[-2:] == ["Not run: this was the last call.", "Accepted."]


async def test_three_turns_of_failed_calls_are_not_the_end() -> None:
    """G3: the fourth is."""
    fail = call("fail", {"how": "tool"})
    async with bench(Script([*[fail] * 3, finish(ANSWER)])) as place:
        assert (await place.run()).status is RunStatus.SUCCESS
    async with bench(Script([*[fail] * 4, finish(ANSWER)])) as place:
        assert (await place.run()).stop_reason is StopReason.TOOL_ERRORS
