"""What people see of a call while it runs, in the tool's own words (22.3)."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.builtin.subagents import Report, dispatch_subagent, with_subagents
from bot.agent.calls.call import Toolbox
from bot.agent.events import FromSubagent, ToolEnded, ToolProgress, ToolStarted
from bot.dev.model import Script, ScriptBook, call, calls, finish
from bot.toolkit import progress, tool
from bot.toolkit.catalogue import Catalogue
from bot.toolkit.progress import current_progress, paced_progress, safe_progress
from tests.unit.agent.harness import ANSWER, Bench, bench


@asynccontextmanager
async def with_tool(function: Callable[..., Any], **settings: Any) -> AsyncGenerator[Bench]:
    """The model calls the tool once, then finishes."""
    made = tool(group="g", summary="s", core=True, **settings)(function).tool
    async with bench(Script([calls((made.name, {})), finish(ANSWER)])) as place:
        toolbox = Toolbox(Catalogue.of([made]), {}, place.artifacts)
        place.parts = replace(place.parts, toolbox=toolbox)
        yield place


async def reported(function: Callable[..., Any], **settings: Any) -> list[ToolProgress]:
    """The progress of one call, which is told between its start and its end."""
    async with with_tool(function, **settings) as place:
        await place.run()
    told: list[ToolProgress] = place.of(ToolProgress)
    places = {kind: place.events.index(place.of(kind)[0]) for kind in (ToolStarted, ToolEnded)}
    assert all(places[ToolStarted] < place.events.index(each) < places[ToolEnded] for each in told)
    return told


async def test_an_async_tool_awaits_it() -> None:
    """22.3: it is shown before the tool goes on, with the share that is done."""

    async def ask() -> str:
        "Ask."
        await progress("asking the CRM", 0.3)
        return "Asked."

    [told] = await reported(ask)
    assert (told.tool, told.text, told.share) == ("ask", "asking the CRM", 0.3)
    assert told.line == "30 % · asking the CRM"


async def test_a_plain_function_calls_it_in_its_thread() -> None:
    """22.3: without await; the line is told on the event loop."""

    def ask() -> str:
        "Ask."
        progress("asking the CRM")
        return "Asked."

    [told] = await reported(ask)
    assert told.line == "asking the CRM"


async def test_code_in_another_task_reports_for_the_call() -> None:
    """22.10: an MCP client's callback runs in a task of the session, not of the call."""

    async def ask() -> str:
        "Ask."
        report = current_progress()
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, report, "step 2 of 4", 0.5)
        await asyncio.sleep(0)
        return "Asked."

    [told] = await reported(ask)
    assert told.line == "50 % · step 2 of 4"


async def test_a_sub_agents_call_reports_to_the_card_of_its_dispatch() -> None:
    """I4: as its start and its end do."""

    async def ask() -> str:
        "Ask."
        await progress("asking the CRM")
        return "Asked."

    made = tool(group="g", summary="s", core=True)(ask).tool
    report = Report(summary="All.", findings=[], gaps=[]).model_dump()
    script = ScriptBook(
        {
            "1+1?": [
                call("acquire_tools", {"names": ["dispatch_subagent"]}),
                call("dispatch_subagent", {"goal": "look it up", "tools": []}),
                finish(ANSWER),
            ],
            "look it up": [call("ask", {}), finish(report)],
        }
    )
    async with bench(script) as place:
        catalogue = Catalogue.of([made]).with_own(dispatch_subagent.tool)
        parts = replace(place.parts, toolbox=Toolbox(catalogue, {}, place.artifacts))
        place.parts = with_subagents(parts)
        await place.run()
    inner = [each.event for each in place.of(FromSubagent)]
    assert [each.line for each in inner if isinstance(each, ToolProgress)] == ["asking the CRM"]
    assert place.of(ToolProgress) == []


async def test_a_tool_that_reports_all_the_time_is_told_at_a_pace() -> None:
    """22.3: the newest line counts, and the last one is told even if the tool then says nothing."""
    told: list[str] = []
    all_told = asyncio.Event()
    seconds, pace = 0.3, 0.1

    def tell(text: str, _share: float | None) -> None:
        told.append(text)
        if text == "all rows":
            all_told.set()

    def hammer() -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            progress(f"row {time.monotonic()}")
        progress("all rows")

    began = time.monotonic()
    with paced_progress(tell, pace):
        await asyncio.to_thread(hammer)
        async with asyncio.timeout(5):
            await all_told.wait()
    assert len(told) <= (time.monotonic() - began) / pace + 1


async def test_a_thread_that_was_left_behind_shows_nothing_more() -> None:
    """22.3: its call ended with a timeout; its card must not change any more."""
    free, done = threading.Event(), threading.Event()

    def hang() -> str:
        "Hang."
        progress("begun")
        free.wait(5)
        progress("still there")
        done.set()
        return ""

    async with with_tool(hang, timeout=0.05) as place:
        await place.run()
        free.set()
        await asyncio.to_thread(done.wait, 5)
        await asyncio.sleep(0)
    assert [each.line for each in place.of(ToolProgress)] == ["begun"]


async def test_outside_a_run_it_does_nothing() -> None:
    """22.3: a tool's own script or notebook calls the same function."""
    await progress("asking the CRM", 0.3)
    progress("asking the CRM")


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan"), float("inf"), "30 %"])
async def test_a_share_that_is_none_is_left_out(share: Any) -> None:
    """22.3: MCP servers report more than all, and divide by nothing."""
    told: list[tuple[str, float | None]] = []
    with paced_progress(lambda *line: told.append(line)):
        await progress(f"asking {share}", share)
    assert told == [(f"asking {share}", None)]


ODD = ("x" * 10_000, "a\x1b[2Jb\x00", "a\nb\r\n\tc\u2028d", "\u202eabc", "\ud800")


@given(st.text() | st.sampled_from(ODD))
def test_a_line_is_one_short_line(text: str) -> None:
    """22.3 S14: whatever a tool hands over."""
    line, _ = safe_progress(text, None)
    assert len(line) <= 80
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]", line)
    line.encode()


def test_a_line_holds_no_secret() -> None:
    """S14: a tool may report the address that it calls."""
    line, _ = safe_progress("GET /?password=hunter22secret&x=1", None)
    assert "hunter22secret" not in line
