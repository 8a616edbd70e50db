"""Stop at any moment, and a run that is left in mid-work and taken up again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bot.agent.events import (
    Emitting,
    Recorded,
    RunEnded,
    RunStarted,
    ToolEnded,
    ToolStarted,
    TurnStarted,
    emit,
)
from bot.core.outcome import RunStatus, StopReason
from bot.dev.model import Script, call, calls, finish
from tests.unit.agent.harness import ANSWER, Bench, bench, with_interrupt


async def test_stop_while_the_model_streams() -> None:
    """H1a: the stream is dropped, the chain stays at its parent, the next message works."""
    script = Script([finish(ANSWER)])
    async with bench(script) as place:
        place.api.faults.fail("hang", times=1)
        async for event in place.stream("First"):
            if isinstance(event, TurnStarted):
                await stop_soon(place)
        ended = place.events[-1]
        assert isinstance(ended, RunEnded)
        assert (ended.status, ended.stop_reason) == (
            RunStatus.CANCELLED,
            StopReason.CANCELLED_STREAMING,
        )
        with_interrupt(place)
        again = await place.run("Second", ended.state)
    assert again.status is RunStatus.SUCCESS
    assert [item["content"] for item in place.api.requests[-1].body["input"]] == ["First", "Second"]


async def test_stop_before_any_tool_ran() -> None:
    """H1b: nothing is begun any more, not even a change; the chain stays at its parent, and the next
    message works. The record says what became of the calls (B4)."""
    script = Script([calls(("add", {"a": 1, "b": 1}), ("change", {"name": "x"})), finish(ANSWER)])
    async with bench(script) as place:
        async for event in place.stream("First"):
            if isinstance(event, Recorded) and event.entry.response_id:
                place.parts.interrupt.request()
        ended = place.events[-1]
        assert isinstance(ended, RunEnded)
        assert ended.status is RunStatus.CANCELLED
        assert ended.stop_reason is StopReason.CANCELLED_TOOLS
        assert place.gate.log == []
        assert len(place.api.requests) == 1
        assert len([i for i in ended.new_items if i.get("type") == "function_call_output"]) == 2
        with_interrupt(place)
        again = await place.run("Second", ended.state)
    assert again.status is RunStatus.SUCCESS
    body = place.api.requests[-1].body
    assert "previous_response_id" not in body
    assert [item["content"] for item in body["input"]] == ["First", "Second"]


async def test_stop_while_tools_run() -> None:
    """H1c: answered at once; what was done keeps its result, the rest is marked; then on."""
    script = Script([calls(("add", {"a": 1, "b": 1}), ("wait", {"name": "w"})), finish(ANSWER)])
    async with bench(script) as place:
        async for event in place.stream("First"):
            if isinstance(event, ToolEnded):
                await place.gate.entered.wait()
                place.parts.interrupt.request()
        ended = place.events[-1]
        assert isinstance(ended, RunEnded)
        assert (ended.status, ended.stop_reason) == (
            RunStatus.CANCELLED,
            StopReason.CANCELLED_TOOLS,
        )
        assert place.gate.log[-1] == "end w"
        with_interrupt(place)
        again = await place.run("Second", ended.state)
    assert again.status is RunStatus.SUCCESS
    assert list(place.outputs().values()) == ["2", "Cancelled by the user before it finished."]


async def test_a_change_that_stop_or_time_cut_off_may_have_happened() -> None:
    """H1c: the model is told so, each step that began has its end, and the record names the change;
    a change behind it was not begun, and is not in doubt."""
    reply = calls(("rebuild", {"name": "x"}), ("change", {"name": "y"}))
    async with bench(Script([reply, finish(ANSWER)])) as place:
        async for event in place.stream("First"):
            if isinstance(event, ToolStarted):
                asyncio.get_running_loop().call_later(0.1, place.parts.interrupt.request)
        ended = place.of(RunEnded)[0]
        with_interrupt(place)
        await place.run("Second", ended.state)
    assert place.gate.log == ["rebuild x"]
    first, second = place.outputs(1).values()
    assert first.startswith("Stopped by the user while it ran. It may have happened or not.")
    assert second == "Cancelled by the user before it finished."
    [end] = [each for each in place.of(ToolEnded) if each.tool == "rebuild"]
    assert (end.ok, end.unknown, end.title) == (False, True, "Rebuild x")
    assert [each.title for each in ended.state.unknown] == ["Rebuild x"]


async def test_a_change_cut_off_by_the_runs_time_may_have_happened() -> None:
    """H1c G2: as with Stop; the model hears it before it gives its result."""
    script = Script([call("rebuild", {"name": "x"}), finish(ANSWER)])
    async with bench(script, run_seconds=0.4) as place:
        ended = await place.run()
    [output] = place.outputs().values()
    assert output.startswith("Stopped while it ran: the time for this task is up. It may have")
    assert [each.unknown for each in place.of(ToolEnded)] == [True]
    assert [each.title for each in ended.state.unknown] == ["Rebuild x"]


@pytest.mark.parametrize("tool", ["wait", "rebuild"])
async def test_each_step_that_began_has_its_end(tool: str) -> None:
    """H1 I4: nobody looks at a step that runs for ever after Stop."""
    async with bench(Script([calls((tool, {"name": "a"}), ("wait", {"name": "b"}))])) as place:
        async for event in place.stream("First"):
            if isinstance(event, ToolStarted):
                asyncio.get_running_loop().call_later(0.1, place.parts.interrupt.request)
    begun = [each.call_id for each in place.of(ToolStarted)]
    assert begun
    assert sorted(begun) == sorted(each.call_id for each in place.of(ToolEnded))


async def test_leaving_early_stops_everything_and_leaves_a_valid_chain() -> None:
    """A2 I3: break out in mid-tool; the tool is cancelled; another worker runs the read-only call
    again and goes on, without asking the model again."""
    script = Script([call("wait", {"name": "w"}), finish(ANSWER)])
    async with bench(script) as place:
        await leave_when(place, ToolStarted)
        assert place.gate.log == ["begin w", "end w"]
        place.gate.open.set()
        ended = await place.resume()
    assert ended.status is RunStatus.SUCCESS
    assert list(place.outputs().values()) == ["w"]
    assert len(place.api.requests) == 2


async def test_a_change_that_was_begun_is_never_made_again() -> None:
    """I3 B2: killed after a change was begun; the model is told that nobody knows its outcome, and
    what was done before keeps its output."""
    reply = calls(("add", {"a": 1, "b": 1}), ("change", {"name": "x"}), ("add", {"a": 2, "b": 2}))
    async with bench(Script([reply, finish(ANSWER)])) as place:
        await leave_when(place, ToolEnded, "change")
        ended = await place.resume()
    assert place.gate.log == ["add 1 1", "change x", "add 2 2"]
    first, unknown, last = place.outputs().values()
    assert (first, last) == ("2", "4")
    assert unknown.startswith("Unknown: the bot was interrupted")
    assert ended.status is RunStatus.SUCCESS


async def test_a_change_that_was_not_begun_is_made_after_all() -> None:
    """I3: killed right before; it happens once."""
    async with bench(Script([call("change", {"name": "x"}), finish(ANSWER)])) as place:
        await leave_when(place, Recorded)
        ended = await place.resume()
    assert place.gate.log == ["change x"]
    assert list(place.outputs().values()) == ["changed x"]
    assert ended.status is RunStatus.SUCCESS


async def leave_when(place: Bench, kind: type, tool: str = "") -> None:
    """Drop the run, as a crash would, at the first event of a kind (of a tool)."""
    stream = place.stream("First")
    async for event in stream:
        if isinstance(event, kind) and tool in ("", getattr(event, "tool", "")):
            if isinstance(event, ToolStarted):
                await place.gate.entered.wait()
            break
    await stream.aclose()


async def stop_soon(place: Any) -> None:
    """Ask to stop once the request has reached the service."""

    async def when_received() -> None:
        await place.api.until(lambda: place.api.requests)
        place.parts.interrupt.request()

    place.stopper = asyncio.create_task(when_received())


async def test_who_is_cancelled_while_a_run_is_left_stays_cancelled() -> None:
    """A2: what a run has to put away when it is left is awaited by its consumer, and can be cut off."""
    begun, putting_away = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        try:
            await emit(RunStarted("m"))
        finally:
            putting_away.set()
            await begun.wait()

    async def consumer() -> None:
        loop = Emitting(work())
        assert await anext(loop) == RunStarted("m")
        await loop.leave()

    task = asyncio.create_task(consumer())
    await putting_away.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("bug", [False, True])
async def test_the_cleanup_of_a_run_does_not_replace_why_it_is_left(bug: bool) -> None:
    """A2: whoever left it because another worker has the thread must not post a failure."""
    done = []

    async def work() -> None:
        try:
            await emit(RunStarted("m"))
        finally:
            try:
                await emit(RunStarted("n"))  # nobody asks for it
            finally:
                done.append(await asyncio.sleep(0, "cleanup"))
                if bug:
                    raise ValueError("a bug of the cleanup")

    loop = Emitting(work())
    assert await anext(loop) == RunStarted("m")
    await loop.leave()
    assert done == ["cleanup"]
