"""The edges of the loop (§8): each hook does what its contract says, and no more."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from bot.agent import prompts
from bot.agent.calls.call import Toolbox
from bot.agent.events import RunEnded, ToolStarted
from bot.agent.hooks.chain import (
    Addition,
    Approved,
    Block,
    Go,
    Hooks,
    Permission,
    Prevent,
    ToolCheck,
    Verdict,
)
from bot.agent.state import LoopState
from bot.core.chain import Item
from bot.core.outcome import RunStatus, StopReason
from bot.dev.model import Script, call, calls, finish, text
from bot.model.types import ModelRequest, ModelResponse
from bot.toolkit import Changes, ToolError, tool
from bot.toolkit.catalogue import Catalogue
from bot.toolkit.tool import Services, Tool, ToolResult
from tests.unit.agent.harness import ANSWER, bench


class Noting(Hooks):
    """Notes which edges were passed, in order."""

    def __init__(self) -> None:
        self.passed: list[str] = []

    async def on_run_start(self, state: LoopState) -> None:
        self.passed.append("run_start")

    async def on_turn_start(self, state: LoopState) -> Sequence[Item]:
        self.passed.append(f"turn_start {state.turn}")
        return ()

    async def after_response(self, state: LoopState, response: ModelResponse) -> Sequence[Item]:
        self.passed.append("after_response")
        return ()

    async def before_tool(self, tool: Tool, arguments: BaseModel) -> str | None:
        self.passed.append(f"before {tool.name}")
        return None

    async def after_tool(self, tool: Tool, arguments: BaseModel, result: ToolResult) -> str:
        self.passed.append(f"after {tool.name} {result.content}")
        return ""

    async def on_stop(self, state: LoopState, result: BaseModel) -> Verdict:
        self.passed.append("stop")
        return Go()

    async def on_failure(self, ended: RunEnded) -> None:
        self.passed.append("failure")

    async def on_run_end(self, ended: RunEnded) -> None:
        self.passed.append("run_end")


async def test_every_edge_is_passed_in_its_place() -> None:
    """§8: from the start of a run to its end."""
    noting = Noting()
    async with bench(
        Script([call("add", {"a": 1, "b": 1}), finish(ANSWER)]), hooks=(noting,)
    ) as place:
        await place.run()
    assert sorted(noting.passed[2:4]) == ["after_response", "before add"]
    assert noting.passed[:2] == ["run_start", "turn_start 0"]
    assert noting.passed[4:6] == ["after add 2", "turn_start 1"]
    assert sorted(noting.passed[6:8]) == ["after_response", "stop"]
    assert noting.passed[8:] == ["run_end"]


async def test_a_failure_of_the_service_goes_to_failure_hooks_only() -> None:
    """H4: stop hooks never see it."""
    noting = Noting()
    async with bench(Script([]), hooks=(noting,)) as place:
        place.api.faults.fail("quota", times=1)
        await place.run()
    assert noting.passed == ["run_start", "turn_start 0", "failure", "run_end"]


class Objecting(Hooks):
    """Sends the first results back."""

    def __init__(self, times: int, verdict: Verdict) -> None:
        self.left = times
        self.verdict = verdict

    async def on_stop(self, state: LoopState, result: BaseModel) -> Verdict:
        self.left -= 1
        return self.verdict if self.left >= 0 else Go()


async def test_a_stop_hook_sends_a_result_back_without_costing_a_turn() -> None:
    """H4 B2: its words are the output of the call, and the run goes on to a better result."""
    hook = Objecting(1, Block("Name a source first."))
    async with bench(Script([finish(ANSWER), finish(ANSWER)]), hooks=(hook,)) as place:
        ended = await place.run()
    assert list(place.outputs().values()) == ["Name a source first."]
    assert ended.status is RunStatus.SUCCESS
    assert ended.state.turn == 1


async def test_a_second_result_in_one_response_does_not_get_round_a_stop_hook() -> None:
    """H4 C1: what was sent back stays so, however often the model gave it at once."""
    hook = Objecting(1, Block("Name a source first."))
    twice = calls(("complete_task", ANSWER), ("complete_task", ANSWER))
    async with bench(Script([twice, finish(ANSWER)]), hooks=(hook,)) as place:
        ended = await place.run()
    first, second = place.outputs().values()
    assert first == "Name a source first."
    assert second.startswith("Not read:")
    assert ended.status is RunStatus.SUCCESS
    assert len(place.api.requests) == 2


async def test_a_stop_hook_that_never_agrees_is_bounded() -> None:
    """H4 G3: eight times, and the last result stands, marked partial."""
    hook = Objecting(1_000, Block("More."))
    script = Script([finish(ANSWER) for _ in range(40)])
    async with bench(script, hooks=(hook,)) as place:
        ended = await place.run()
    assert (ended.status, ended.stop_reason) == (RunStatus.PARTIAL, StopReason.STOP_HOOK)
    assert ended.result is not None
    assert len(place.api.requests) == 9


async def test_a_stop_hook_ends_the_run() -> None:
    """H4 C7: the result stands, marked partial."""
    async with bench(Script([finish(ANSWER)]), hooks=(Objecting(1, Prevent()),)) as place:
        ended = await place.run()
    assert (ended.status, ended.stop_reason) == (RunStatus.PARTIAL, StopReason.STOP_HOOK)
    assert ended.result is not None


async def test_an_overflow_is_shortened_once_even_when_a_result_was_sent_back() -> None:
    """E4 H4: what was used up stays used up; a hook's objection starts nothing afresh, and the run
    ends with the result that was sent back."""
    hook = Objecting(1, Block("Name a source first."))
    script = Script([call("add", {"a": 1, "b": 1}), text("They added."), finish(ANSWER)])
    async with bench(script, hooks=(hook,)) as place:
        place.api.faults.fail("context_length", times=1, skip=1)
        place.api.faults.fail("context_length", times=1, skip=3)
        ended = await place.run()
    assert hook.left == 0
    assert (ended.status, ended.stop_reason) == (RunStatus.PARTIAL, StopReason.STOP_HOOK)
    assert len(place.api.requests) == 5


class Vetoing(Hooks):
    """Lets nothing be changed, and reads what was written."""

    def __init__(self, why: str = "Not on Fridays.") -> None:
        self.why = why

    async def before_tool(self, tool: Tool, arguments: BaseModel) -> str | None:
        return self.why if tool.mutates else None

    async def after_tool(self, tool: Tool, arguments: BaseModel, result: ToolResult) -> str:
        return "checked: 1 warning"


@pytest.mark.parametrize("why", ["Not on Fridays.", ""])
async def test_a_veto_is_the_output_and_the_tool_does_not_run(why: str) -> None:
    """D6: decided before the tool runs, by code; also when it does not say why."""
    async with bench(
        Script([call("change", {"name": "x"}), finish(ANSWER)]), hooks=(Vetoing(why),)
    ) as place:
        await place.run()
    assert list(place.outputs().values()) == [why]
    assert place.gate.log == []


async def test_what_an_after_tool_hook_says_is_appended() -> None:
    """D10: so that the model can correct itself."""
    async with bench(
        Script([call("add", {"a": 1, "b": 1}), finish(ANSWER)]), hooks=(Vetoing(),)
    ) as place:
        await place.run()
    assert list(place.outputs().values()) == ["2\nchecked: 1 warning"]


class Unlinking(Hooks):
    """Lets nobody link to what the tools found, or breaks."""

    def __init__(self, *, breaks: bool) -> None:
        self.breaks = breaks

    async def after_tool(self, tool: Tool, arguments: BaseModel, result: ToolResult) -> Addition:
        if self.breaks:
            raise RuntimeError("after_tool")
        return Addition("checked", unlinked=result.addresses)


@pytest.mark.parametrize("breaks", [False, True])
async def test_what_an_after_tool_hook_forbids_is_no_link(breaks: bool) -> None:
    """§8 (reliability 11): links are its decision, and there are none when it fails."""
    links = []
    for hooks in ((), (Unlinking(breaks=breaks),)):
        script = Script([call("big", {"lines": 1}), finish(ANSWER)])
        async with bench(script, hooks=hooks) as place:
            ended = await place.run()
        links.append(ended.state.links)
    assert links == [("https://big.example/x",), ()]


class Doubling(Hooks):
    """Has calls made with other arguments, and notes those that it is given."""

    def __init__(self) -> None:
        self.given: list[int] = []

    async def before_tool(self, tool: Tool, arguments: BaseModel) -> Permission:
        a = arguments.model_dump()["a"]
        self.given.append(a)
        return arguments.model_copy(update={"a": 2 * a})


async def test_a_before_tool_hook_may_replace_the_arguments() -> None:
    """§8: once, and all are asked about the arguments with which the call is made."""
    first, second = Doubling(), Doubling()
    script = Script([call("add", {"a": 1, "b": 1}), finish(ANSWER)])
    async with bench(script, hooks=(first, second)) as place:
        await place.run()
    assert (first.given, second.given) == ([1, 2, 4], [2, 4])
    assert list(place.outputs().values()) == ["5"]
    records = [record.replaced for save in place.saved for record in save.entry.calls]
    assert [*filter(None, records)] == ['{"a": 4, "b": 1}'], "what people are shown of the call"


PLACES = {"general": "C1", "sales": "C2"}
SENT: list[str] = []


async def _bound(call: Any, services: Services) -> Any:
    place = PLACES.get(call.place, call.place)
    if place not in PLACES.values():
        raise ToolError(f"there is no {place}.")
    return call.model_copy(update={"place": place})


@tool(
    group="g", summary="Sends", core=True, title="Send to {place}",
    safety=Changes(sensitive=True, check=_bound),
)  # fmt: skip
async def send(place: str) -> str:
    "Sends."
    SENT.append(place)
    return "sent"


class Elsewhere(Hooks):
    """A hook of a package, which has calls made at another place."""

    def __init__(self, place: str) -> None:
        self.place = place

    async def before_tool(self, tool: Tool, arguments: BaseModel) -> Permission:
        return arguments.model_copy(update={"place": self.place})


class Approving(Hooks):
    """Approves what it notes."""

    def __init__(self) -> None:
        self.approved: list[str] = []

    async def before_tool(self, tool: Tool, arguments: BaseModel) -> Permission:
        self.approved.append(arguments.model_dump()["place"])
        return Approved("U1")


@pytest.mark.parametrize(
    ("place", "approved", "output"),
    [
        ("sales", ["C2"], "sent"),
        ("sa\u200bles", ["C2"], "sent"),
        ("nowhere", [], "Not done: there is no nowhere."),
        (7, [], "Not done: a check of send changed its arguments to such as it does not take."),
    ],
)
async def test_what_a_package_makes_of_a_call_is_checked_approved_shown_and_done(
    place: Any, approved: list[str], output: str
) -> None:
    """§8 D6: a hook behind the check replaces the arguments: the tool checks and binds these too."""
    SENT.clear()
    approving = Approving()
    hooks = (ToolCheck({}), Elsewhere(place), approving)
    script = Script([call("send", {"place": "general"}), finish(ANSWER)])
    async with bench(script, hooks=hooks) as run:
        run.parts = replace(
            run.parts, toolbox=Toolbox(Catalogue.of([send.tool]), {}, run.artifacts)
        )
        events = [event async for event in run.stream()]
    assert list(run.outputs().values()) == [output]
    assert approving.approved == SENT == approved
    [title] = [e.title for e in events if isinstance(e, ToolStarted) and e.tool == "send"]
    assert title == {"nowhere": "Send to nowhere", 7: "Send to C1"}.get(place, "Send to C2")


class Beside(Hooks):
    """Works beside the tools."""

    def __init__(self, gate: asyncio.Event) -> None:
        self.gate = gate

    async def after_response(self, state: LoopState, response: ModelResponse) -> Sequence[Item]:
        await self.gate.wait()
        return (prompts.note("Noticed on the side."),)


async def test_an_after_response_hook_runs_beside_the_tools() -> None:
    """H5: it starts before dispatch, and what it says goes out with the next request."""
    gate = asyncio.Event()
    script = Script([call("add", {"a": 1, "b": 1}), finish(ANSWER)])
    async with bench(script, hooks=(Beside(gate),)) as place:
        async for event in place.stream():
            if isinstance(event, ToolStarted):
                gate.set()
    last = place.api.requests[-1].body["input"]
    assert [item.get("content") for item in last] == [None, "Noticed on the side."]
    gate.set()


class Adding(Hooks):
    """Puts a word into what is sent."""

    async def transform_context(self, request: ModelRequest) -> ModelRequest:
        return replace(request, instructions=request.instructions + "\nBe brief.")

    async def should_stop_after_turn(self, state: LoopState) -> StopReason | None:
        return StopReason.STOP_HOOK


async def test_context_is_transformed_and_a_turn_can_be_the_last() -> None:
    """§8: the one hook whose result is taken back; and bounded runs, such as evaluations."""
    script: Any = Script([call("add", {"a": 1, "b": 1}), finish(ANSWER)])
    async with bench(script, hooks=(Adding(),)) as place:
        ended = await place.run()
    assert place.api.requests[0].body["instructions"].endswith("Be brief.")
    assert (ended.status, ended.stop_reason) == (RunStatus.PARTIAL, StopReason.STOP_HOOK)


class Broken(Hooks):
    """Raises wherever it can only look on."""

    async def after_response(self, state: LoopState, response: ModelResponse) -> Sequence[Item]:
        raise RuntimeError("after_response")

    async def after_tool(self, tool: Tool, arguments: BaseModel, result: ToolResult) -> str:
        raise RuntimeError("after_tool")

    async def on_failure(self, ended: RunEnded) -> None:
        raise RuntimeError("on_failure")

    async def on_run_end(self, ended: RunEnded) -> None:
        raise RuntimeError("on_run_end")


async def test_a_hook_that_raises_loses_nothing() -> None:
    """D10 H5: a change that was made is told as made, and the answer is given."""
    script = Script([call("change", {"name": "x"}), finish(ANSWER)])
    async with bench(script, hooks=(Broken(),)) as place:
        ended = await place.run()
    assert list(place.outputs().values()) == ["changed x"]
    assert (ended.status, ended.stop_reason) == (RunStatus.SUCCESS, StopReason.COMPLETED)


async def test_a_hook_that_raises_does_not_hide_a_failure() -> None:
    """H4 H5: failure hooks are only notified."""
    async with bench(Script([]), hooks=(Broken(),)) as place:
        place.api.faults.fail("quota", times=1)
        ended = await place.run()
    assert ended.stop_reason is StopReason.MODEL_ERROR


class Slow(Hooks):
    """Waits for ever at one edge, and says when it does."""

    def __init__(self, edge: str) -> None:
        self.edge = edge
        self.waits = asyncio.Event()

    async def _wait(self, edge: str) -> None:
        if edge == self.edge:
            self.waits.set()
            await asyncio.Event().wait()

    async def on_stop(self, state: LoopState, result: BaseModel) -> Verdict:
        await self._wait("on_stop")
        return Go()

    async def on_run_start(self, state: LoopState) -> None:
        await self._wait("on_run_start")

    async def on_turn_start(self, state: LoopState) -> Sequence[Item]:
        await self._wait("on_turn_start")
        return ()

    async def before_tool(self, tool: Tool, arguments: BaseModel) -> str | None:
        await self._wait("before_tool")
        return None

    async def after_tool(self, tool: Tool, arguments: BaseModel, result: ToolResult) -> str:
        await self._wait("after_tool")
        return ""

    async def should_stop_after_turn(self, state: LoopState) -> StopReason | None:
        await self._wait("should_stop_after_turn")
        return None

    async def transform_context(self, request: ModelRequest) -> ModelRequest:
        await self._wait("transform_context")
        return request

    async def after_response(self, state: LoopState, response: ModelResponse) -> Sequence[Item]:
        await self._wait("after_response")
        return ()


EDGES = (
    "on_run_start", "transform_context", "on_turn_start", "after_response", "before_tool",
    "after_tool", "should_stop_after_turn", "on_stop",
)  # fmt: skip


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("stops", [1, 2])
async def test_stop_does_not_wait_for_a_hook(edge: str, stops: int) -> None:
    """H1: it is answered at once, pressed once or twice, and wins over a result that is judged."""
    hook = Slow(edge)
    script = Script([call("add", {"a": 1, "b": 1}), finish(ANSWER)])
    async with bench(script, hooks=(hook,)) as place:

        async def stop() -> None:
            await hook.waits.wait()
            for _ in range(stops):
                await asyncio.sleep(0.05)
                place.parts.interrupt.request()

        stopping = asyncio.create_task(stop())
        async with asyncio.timeout(5):
            ended = await place.run()
        await stopping
    assert ended.status is RunStatus.CANCELLED


@pytest.mark.parametrize("edge", EDGES)
async def test_the_time_of_a_run_bounds_its_hooks(edge: str) -> None:
    """H1 G2: a result stands, judged or not; else there is one last call."""
    script = Script([call("add", {"a": 1, "b": 1}), finish(ANSWER)])
    early = edge in ("on_run_start", "on_turn_start", "transform_context")
    script = Script([finish(ANSWER)]) if early else script
    async with bench(script, hooks=(Slow(edge),), run_seconds=0.4, turn_seconds=0.4) as place:
        async with asyncio.timeout(5):
            ended = await place.run()
    assert ended.status in (RunStatus.SUCCESS, RunStatus.PARTIAL)
    assert ended.result is not None


class Impatient(Hooks):
    """Gives up on something by itself."""

    async def on_turn_start(self, state: LoopState) -> Sequence[Item]:
        raise TimeoutError


async def test_a_hooks_own_timeout_is_a_bug_and_not_the_time_of_the_run() -> None:
    """H1: what a hook raises is told loudly, whatever it is."""
    async with bench(Script([finish(ANSWER)]), hooks=(Impatient(),)) as place:
        with pytest.raises(TimeoutError):
            await place.run()
