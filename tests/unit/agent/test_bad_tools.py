"""Tools that misbehave in every way we know (issue 3, bad input): the run goes on, others are not
held up, and operators can read why."""

from __future__ import annotations

import _thread
import asyncio
import logging
import sys
import threading
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from bot.agent.builtin.complete_task import NAME as COMPLETE
from bot.agent.calls.call import Toolbox
from bot.agent.hooks.chain import ToolCheck
from bot.core.errors import ToolDefinitionError, ToolError
from bot.core.outcome import RunStatus, StopReason
from bot.dev.model import Script, call, calls, finish, text
from bot.runs.context.artifacts import MAX_BYTES
from bot.testing.artifacts import MemoryArtifacts
from bot.toolkit import Changes, ToolResult, tool
from bot.toolkit.catalogue import RESERVED, Catalogue
from bot.toolkit.provided.artifacts import Artifact
from bot.toolkit.tool import Tool
from tests.unit.agent.harness import ANSWER, Bench, bench


class Bounded(MemoryArtifacts):
    """Keeps what a deployment would keep, and no more."""

    async def save(self, data: bytes, *, name: str, **about: Any) -> Artifact:
        if len(data) > MAX_BYTES:
            raise ToolError(f"{name} is too large to keep.")
        return await super().save(data, name=name, **about)


@asynccontextmanager
async def with_tools(*functions: Callable[..., Any], **settings: Any) -> AsyncGenerator[Bench]:
    """The model calls each of the tools in one response, then finishes."""
    settings = {"timeout": 0.05} | settings
    made = [tool(group="g", summary="s", core=True, **settings)(each).tool for each in functions]
    asked = calls(*((each.name, {}) for each in made))
    async with bench(Script([asked, finish(ANSWER)]), hooks=(ToolCheck({}),)) as place:
        place.artifacts = Bounded()
        toolbox = Toolbox(Catalogue.of(made), {}, place.artifacts)
        place.parts = replace(place.parts, toolbox=toolbox)
        yield place


async def output_of(function: Callable[..., Any], **settings: Any) -> str:
    """What the model reads of its call; the run ends well whatever the tool did."""
    async with with_tools(function, **settings) as place:
        ended = await place.run()
    assert ended.status is RunStatus.SUCCESS
    return next(iter(place.outputs().values()))


def leaves() -> str:
    "Ends the process, it thinks."
    sys.exit(3)


def ends_its_thread() -> str:
    "Ends its thread."
    _thread.exit()


async def leaves_the_loop() -> str:
    "Ends the process from within the event loop."
    raise SystemExit


async def interrupts() -> str:
    "Raises what Ctrl-C raises."
    raise KeyboardInterrupt


def stops_iterating() -> str:
    "Forgets that next() raises; no future can hold that."
    return next(iter(()))


async def cancels_itself() -> str:
    "Awaits what it cancelled."
    inner = asyncio.create_task(asyncio.Event().wait())
    inner.cancel()
    await inner
    return ""


def recurses() -> str:
    "Never comes to an end of itself."
    return recurses()


def wrong_type() -> str:
    "Returns bytes that are no text."
    return b"\xff\xfe"  # type: ignore[return-value]


def result_of_bytes() -> ToolResult:
    "Returns bytes where text is read."
    return ToolResult(b"abc")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "function",
    [
        leaves, ends_its_thread, leaves_the_loop, interrupts, stops_iterating, cancels_itself,
        recurses, wrong_type, result_of_bytes,
    ],
)  # fmt: skip
async def test_a_tool_that_breaks_is_an_output_and_a_trace(
    function: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    """D4: neither the worker nor the run dies of it; the model learns that it failed."""
    output = await output_of(function, timeout=30)
    assert output.startswith(f"{function.__name__} failed (")
    [record] = [each for each in caplog.records if each.message == "tool failed"]
    assert record.exc_info


async def test_a_tool_that_hangs_is_stopped() -> None:
    """D4: an async one is cancelled."""
    ended = asyncio.Event()

    async def hang() -> str:
        "Hangs."
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return ""

    assert "hang was stopped after 0.05 s" in await output_of(hang)
    assert ended.is_set()


async def test_a_change_that_takes_too_long_may_have_happened() -> None:
    """D4 reliability 3: nobody knows, so nobody is told to do it again."""

    async def change() -> str:
        "Changes something, and hears nothing of it."
        await asyncio.Event().wait()
        return ""

    output = await output_of(change, safety=Changes())
    assert "change was stopped after 0.05 s. It may have happened or not." in output


async def test_threads_that_hang_take_no_place_from_others() -> None:
    """D4: a plain function cannot be stopped; forty of them left behind, the next one still runs."""
    free = threading.Event()

    def hang() -> str:
        "Hangs."
        free.wait(30)
        return ""

    def answer() -> str:
        "Answers."
        return "here"

    names = [_renamed(hang, f"hang_{n}") for n in range(30)]
    try:
        async with with_tools(*names) as place:
            await place.run()
        assert all("was stopped after" in each for each in place.outputs().values())
        assert await output_of(answer, timeout=5) == "here"
        assert await asyncio.to_thread(lambda: "pool") == "pool"
    finally:
        free.set()


async def test_a_tool_that_ignores_being_cancelled_is_left_behind(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """D4 G2: neither its own time nor the run's is of interest to it; the run goes on."""
    free = asyncio.Event()
    ended = asyncio.Event()

    async def stubborn() -> str:
        "Does not listen."
        while not free.is_set():
            try:
                await free.wait()
            except asyncio.CancelledError:
                continue
        ended.set()
        return ""

    assert "stubborn was stopped after" in await output_of(stubborn)
    assert "stubborn goes on although it was cancelled" in caplog.text
    free.set()
    await ended.wait()


async def test_a_tool_that_never_yields_is_named(caplog: pytest.LogCaptureFixture) -> None:
    """D4: nothing can stop it, so nothing is said to have been; operators read which one it was."""

    async def compute() -> str:
        "Computes where it must not."
        end = time.monotonic() + 1.2
        while time.monotonic() < end:
            pass
        return "computed"

    with caplog.at_level(logging.WARNING):
        assert await output_of(compute) == "computed"
    assert "compute held the event loop: 1." in caplog.text


@pytest.mark.parametrize("size", [1_000_000, 20_000_000])
async def test_a_huge_output_stays_outside(size: int) -> None:
    """D7: its size, both its ends and how to ask for less; the whole where it can be kept."""

    def flood(limit: int = 0) -> str:
        "Floods."
        return "first\n" + "x" * 79 + ("\n" + "y" * 79) * (size // 80) + "\nlast"

    async with with_tools(flood, timeout=30, narrowing=("limit",)) as place:
        await place.run()
    output = next(iter(place.outputs().values()))
    assert len(output) <= 20_000
    assert "first\n" in output
    assert output.endswith("last")
    assert "Ask for less with limit." in output
    assert ("handle: out_" in output) == (size < MAX_BYTES)
    assert ("too large to keep" in output) == (size > MAX_BYTES)


@pytest.mark.parametrize("title", [lambda _: 1 / 0, lambda _: None, "{when:%Y}"])
async def test_a_title_that_cannot_be_made_is_the_tools_name(title: Any) -> None:
    """D4: it is only a title."""

    async def look_up(when: str | None = None) -> str:
        "Looks up."
        return "found"

    async with with_tools(look_up, title=title) as place:
        ended = await place.run()
    assert ended.status is RunStatus.SUCCESS
    assert list(place.outputs().values()) == ["found"]
    assert ended.done == ("Look up",)


@pytest.mark.parametrize("name", [COMPLETE, *sorted(RESERVED)])
def test_the_agents_own_names_are_taken(name: str) -> None:
    """C1 D1: one clear line at start."""
    with pytest.raises(ToolDefinitionError, match=f"{name} in .*: the agent itself uses that name"):
        Catalogue.of([_tool_named(name)])


@pytest.mark.parametrize("name", ["größe", "x" * 65, ""])
def test_a_name_that_the_service_refuses_is_found_at_start(name: str) -> None:
    """D3: else every request of every run would be refused."""
    with pytest.raises(ToolDefinitionError, match="up to 64 of a-z"):
        _tool_named(name)


def test_bytes_are_no_output() -> None:
    """D3: said at start, with what to do instead."""

    def read() -> bytes:
        "Reads."
        return b""

    with pytest.raises(
        ToolDefinitionError, match=r"Tool read: the result is bytes.*artifacts\.save"
    ):
        tool(group="g", summary="s")(read)


async def test_a_model_that_repeats_itself_is_bounded() -> None:
    """G1: the same call for ever costs as many turns as are allowed, and ends with a result."""
    same = [call("add", {"a": 1, "b": 1})] * 5
    async with bench(Script([*same, finish(ANSWER)]), turns=6) as place:
        ended = await place.run()
    assert ended.stop_reason is StopReason.MAX_TURNS
    assert ended.status is RunStatus.PARTIAL
    assert len(place.api.requests) == 6


async def test_a_model_that_says_the_same_again_is_bounded() -> None:
    """C4: text without a call is pointed out, then forced by name, then as the only tool, then taken as
    it is."""
    hm = text("Let me see.", disobey=True)
    async with bench(Script([call("acquire_tools", {"search": "x"}), *(hm,) * 4])) as place:
        ended = await place.run()
    assert ended.status is RunStatus.PARTIAL
    assert len(place.api.requests) == 5


async def test_three_hundred_results_at_once_are_one() -> None:
    """B2 C1: each call is answered, the first valid result counts."""
    async with bench(Script([calls(*((COMPLETE, ANSWER) for _ in range(300)))])) as place:
        ended = await place.run()
    assert ended.status is RunStatus.SUCCESS
    assert len(ended.state.pending) == 300


def _renamed(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    def renamed() -> str:
        "Does as the other."
        return str(function())

    renamed.__name__ = name
    return renamed


def _tool_named(name: str) -> Tool:
    async def act() -> str:
        "Acts."
        return ""

    act.__name__ = name
    return tool(group="g", summary="s")(act).tool


async def test_a_check_that_crashes_lets_no_change_through() -> None:
    """S10: nothing is approved whose names were not bound to ids."""
    made: list[str] = []

    async def check(arguments: Any, _: Any) -> None:
        raise RuntimeError("a bug of the tool's")

    async def act() -> str:
        """Act."""
        made.append("made")
        return "Acted."

    output = await output_of(act, safety=Changes(check=check))
    assert made == []
    assert "act could not be checked now" in output
