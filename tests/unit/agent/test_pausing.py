"""A call that waits for a person's decision: the run pauses, and goes on from where it stood (D6)."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from pydantic import BaseModel

from bot.agent.events import Paused, RunEnded, SavePoint, ToolStarted
from bot.agent.hooks.chain import Approved, Hooks, Permission, Undecided
from bot.agent.state import LoopState
from bot.core.context import current_request
from bot.core.outcome import RunStatus, StopReason
from bot.dev.model import Script, call, calls, finish
from bot.toolkit.tool import Tool
from tests.unit.agent.harness import ANSWER, Bench, bench, with_interrupt


@dataclass
class Approver(Hooks):
    """Somebody who is asked about what is sensitive; `said` is what they decided, by call."""

    said: dict[str, Permission] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def before_tool(self, tool: Tool, arguments: BaseModel) -> Permission:
        if not tool.sensitive:
            return None
        self.asked.append(current_request().idempotency_key)
        return self.said.get(tool.name, Undecided())


class Objecting(Hooks):
    async def before_tool(self, tool: Tool, arguments: BaseModel) -> Permission:
        return "Not on Fridays."


async def pause(place: Bench) -> Paused:
    """Run until it waits."""
    events = [event async for event in place.stream()]
    assert not place.of(RunEnded)
    assert isinstance(events[-1], Paused)
    return events[-1]


def launching() -> Script:
    return Script([call("launch", {}), finish(ANSWER)])


async def test_a_run_pauses_and_goes_on_with_the_result() -> None:
    """D6: nothing ended, nothing was sent; approved, it is one run with one result."""
    person = Approver()
    async with bench(launching(), hooks=(person,)) as place:
        paused = await pause(place)
        assert place.gate.log == []
        assert place.of(ToolStarted) == []
        assert len(place.api.requests) == 1
        state = LoopState.model_validate_json(place.states[-1].model_dump_json())
        assert state.open is not None
        assert state.open.begun == ()
        assert paused.call_ids == tuple(c["call_id"] for c in state.open.response.calls)
        person.said["launch"] = Approved()
        ended = await place.resume()
    assert place.gate.log == ["launched"]
    assert list(place.outputs().values()) == ["launched"]
    assert ended.status is RunStatus.SUCCESS
    assert len(set(person.asked)) == 1  # the same call has the same name after the pause


async def test_nobody_has_decided_yet() -> None:
    """D6: woken early, it pauses again; it asks the model nothing meanwhile."""
    person = Approver()
    async with bench(launching(), hooks=(person,)) as place:
        await pause(place)
        with pytest.raises(AssertionError, match="must end with RunEnded"):
            await place.resume()
        assert isinstance(place.events[-1], Paused)
        assert len(place.api.requests) == 1


async def test_a_refusal_is_the_output() -> None:
    """D6: the model reads who refused and why, and the run ends well."""
    person = Approver()
    async with bench(launching(), hooks=(person,)) as place:
        await pause(place)
        person.said["launch"] = "Ada denied this."
        ended = await place.resume()
    assert place.gate.log == []
    assert list(place.outputs().values()) == ["Ada denied this."]
    assert ended.status is RunStatus.SUCCESS


async def test_what_stands_before_is_done_once_and_what_stands_behind_waits() -> None:
    """D6 B2: the order of changes holds through the pause, and every call has one output."""
    person = Approver()
    reply = calls(
        ("add", {"a": 1, "b": 1}),
        ("change", {"name": "first"}),
        ("launch", {}),
        ("change", {"name": "last"}),
        ("add", {"a": 2, "b": 2}),
    )
    async with bench(Script([reply, finish(ANSWER)]), hooks=(person,)) as place:
        await pause(place)
        assert "change first" in place.gate.log
        assert "change last" not in place.gate.log
        before = list(place.gate.log)
        person.said["launch"] = Approved()
        await place.resume()
    assert place.gate.log[: len(before)] == before
    assert [line for line in place.gate.log if line.startswith(("change", "launch"))] == [
        "change first",
        "launched",
        "change last",
    ]
    assert list(place.outputs().values()) == ["2", "changed first", "launched", "changed last", "4"]


async def test_stop_while_it_waits() -> None:
    """H1 B2: the run goes on only to end; what was done keeps its output."""
    person = Approver()
    reply = calls(("change", {"name": "x"}), ("launch", {}), ("change", {"name": "y"}))
    async with bench(Script([reply, finish(ANSWER)]), hooks=(person,)) as place:
        await pause(place)
        place.parts.interrupt.request()
        ended = await place.resume()
        assert (ended.status, ended.stop_reason) == (
            RunStatus.CANCELLED,
            StopReason.CANCELLED_TOOLS,
        )
        with_interrupt(place)
        await place.run("Never mind", ended.state)
        sent = list(place.outputs().values())
    assert sent[0] == "changed x"
    assert [text.partition(" ")[0] for text in sent[1:]] == ["Cancelled", "Cancelled"]
    assert place.gate.log == ["change x"]


async def test_another_hook_may_still_object() -> None:
    """D6: a veto counts more than anybody's yes, and nobody is bothered with it where the hooks that ask
    come last."""
    person = Approver({"launch": Approved()})
    for hooks in ((person, Objecting()), (Objecting(), unasked := Approver())):
        async with bench(launching(), hooks=hooks) as place:
            await place.run()
        assert list(place.outputs().values()) == ["Not on Fridays."]
        assert place.gate.log == []
    assert unasked.asked == []


async def test_no_objection_is_no_approval() -> None:
    """D6: a sensitive call needs a clear yes; hooks that say nothing are not enough."""
    async with bench(launching(), hooks=(Hooks(),)) as place:
        await place.run()
    assert "approval" in next(iter(place.outputs().values()))
    assert place.gate.log == []


async def test_killed_between_the_yes_and_the_call() -> None:
    """Window 13: the yes is asked for again, the call is made once, and never after it was begun."""
    person = Approver({"launch": Approved()})
    async with bench(launching(), hooks=(person,)) as place:
        stream = place.stream()
        async for event in stream:
            if isinstance(event, SavePoint) and event.state.open and event.state.open.begun:
                break
        await stream.aclose()
        assert place.gate.log == []
        await place.resume()
    assert place.gate.log == []
    assert next(iter(place.outputs().values())).startswith("Unknown")


async def test_a_dry_run_asks_nobody() -> None:
    """D6: what would have been done is said, and no person is asked for their yes."""
    person = Approver()
    async with bench(launching(), hooks=(person,), dry_run=True) as place:
        await place.run()
    assert person.asked == []
    assert next(iter(place.outputs().values())).startswith("Dry run: not done.")
