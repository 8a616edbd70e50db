"""Further attempts of tools that only read (22.3)."""

from __future__ import annotations

import asyncio
import socket
import urllib.error
from collections.abc import Callable, Iterator
from typing import Any

import aiohttp
import httpx2
import pytest

from bot.agent.events import ToolRetried
from bot.runs.narration import Narrator
from bot.toolkit import TemporaryError, ToolError, retrying, tool
from bot.toolkit.retrying import Retry
from tests.unit.agent.test_progress import with_tool


def failing(*errors: Exception) -> Callable[[], str]:
    """A plain tool that raises these in order, then answers."""
    left: Iterator[Exception] = iter(errors)

    def ask() -> str:
        "Ask."
        for error in left:
            raise error
        return "Answered."

    return ask


async def run(function: Callable[..., Any], **settings: Any) -> tuple[str, list[Retry]]:
    """The content of one call, and its retries."""
    seen: list[Retry] = []
    made = tool(group="g", summary="s", **settings)(function).tool
    result = await made.run(made.arguments(), {}, seen.append)
    return result.content, seen


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrying, "_FIRST_PAUSE", 0.01)


HTTP_ERROR = urllib.error.HTTPError("https://crm.example", 404, "Not Found", None, None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "error",
    [
        TemporaryError("The CRM is busy."),
        ConnectionResetError(),
        TimeoutError(),
        socket.gaierror(),
        urllib.error.URLError(ConnectionRefusedError()),
        aiohttp.ServerDisconnectedError(),
        httpx2.ConnectError("refused"),
        httpx2.ReadTimeout("late"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_what_may_pass_is_tried_again(error: Exception) -> None:
    """22.3: the tool says that it is temporary, or the network failed."""
    content, seen = await run(failing(error), retries=1)
    assert content == "Answered."
    assert [(each.attempt, each.error) for each in seen] == [(1, type(error).__name__)]


@pytest.mark.parametrize(
    "error",
    [ToolError("No such id."), ValueError(), FileNotFoundError(), HTTP_ERROR, KeyError("id")],
    ids=lambda error: type(error).__name__,
)
async def test_what_stays_wrong_is_not_tried_again(error: Exception) -> None:
    """22.3: a mistake of the model, a bug, an answer that says no."""
    with pytest.raises(type(error)):
        await run(failing(error), retries=3)


async def test_without_retries_nothing_is_tried_again() -> None:
    """22.3: the default."""
    with pytest.raises(TemporaryError):
        await run(failing(TemporaryError("busy")))


async def test_the_last_error_is_the_one_that_is_told() -> None:
    """22.3: `retries=2` means three attempts."""
    errors = [ConnectionError(), ConnectionError(), TemporaryError("The CRM is busy.")]
    with pytest.raises(TemporaryError, match=r"The CRM is busy\."):
        await run(failing(*errors, ConnectionError()), retries=2)


async def test_pauses_double_and_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    """22.3: many runs that failed at once do not all call again at once."""
    pauses = [retrying._pause_after(2, ConnectionError()) for _ in range(50)]
    assert all(0.01 <= each <= 0.02 for each in pauses)
    assert len(set(pauses)) > 10
    monkeypatch.setattr(retrying, "_FIRST_PAUSE", 0.5)
    assert retrying._pause_after(9, ConnectionError()) <= 8.0
    assert retrying._pause_after(9, TemporaryError("busy", after=20.0)) == 20.0


async def test_the_timeout_bounds_all_attempts_together() -> None:
    """22.3: no attempt begins that could not end, and nobody waits for one in vain."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    with pytest.raises(TemporaryError):
        await run(failing(TemporaryError("busy", after=60.0)), retries=3, timeout=30.0)
    assert loop.time() - began < 5
    attempts: list[float] = []

    async def hang() -> str:
        "Hang."
        attempts.append(loop.time())
        if len(attempts) == 1:
            raise ConnectionError
        await asyncio.Event().wait()
        return ""

    began = loop.time()
    with pytest.raises(TimeoutError):
        await run(hang, retries=5, timeout=0.2)
    assert len(attempts) == 2
    assert loop.time() - began < 2


async def test_a_timeout_of_the_tools_own_is_no_timeout_of_the_call() -> None:
    """22.3: the model is not told that a call took long which failed at once."""
    async with with_tool(failing(*[TimeoutError()] * 2), retries=1) as place:
        await place.run()
    [output] = place.outputs().values()
    assert output.startswith("ask failed (TimeoutError).")


async def test_a_stop_ends_the_pause() -> None:
    """H1: like the call itself."""
    waits = asyncio.Event()
    made = tool(group="g", summary="s", retries=1)(failing(TemporaryError("", after=20.0))).tool
    running = asyncio.create_task(made.run(made.arguments(), {}, lambda _: waits.set()))
    async with asyncio.timeout(5):
        await waits.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running


async def test_operators_and_people_see_each_attempt(caplog: pytest.LogCaptureFixture) -> None:
    """22.3 I5: an event and a line of the log, which quotes nobody."""
    function = failing(ConnectionError("to crm.internal for Ada"))
    async with with_tool(function, retries=2) as place:
        await place.run()
    [event] = place.of(ToolRetried)
    assert (event.tool, event.attempt, event.error) == ("ask", 1, "ConnectionError")
    assert list(place.outputs().values()) == ["Answered."]
    with caplog.at_level("INFO"):
        Narrator(place.parts.context.request, "run_1").on_event(event)
    [line] = [each.getMessage() for each in caplog.records if each.name == "bot.run"]
    assert "ask · attempt 1 failed (ConnectionError), next in 0.0 s" in line
    assert "Ada" not in line
