"""Work beside other work ends with it, and never fails unnoticed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import pytest

from bot.core import background
from bot.core.background import alongside, apart


async def test_it_ends_when_the_body_is_left() -> None:
    """Nothing is left running behind a closed context."""
    began, ended = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with alongside(work(), name="work"):
        await began.wait()
    assert ended.is_set()


async def test_its_failure_ends_the_body() -> None:
    """A bug in the background is as loud as one in front."""

    async def work() -> None:
        raise LookupError("a bug")

    with pytest.raises(LookupError, match="a bug"):
        async with alongside(work(), name="work"):
            await asyncio.Event().wait()


async def test_the_bodys_own_error_comes_out_as_it_is() -> None:
    """Callers catch what they know, not groups."""

    async def work() -> None:
        await asyncio.Event().wait()

    with pytest.raises(KeyError, match="mine"):
        async with alongside(work(), name="work"):
            raise KeyError("mine")


async def test_cancelling_the_body_cancels_both() -> None:
    """A context in a cancelled task closes like any other."""
    began, ended = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def body() -> None:
        async with alongside(work(), name="work"):
            await asyncio.Event().wait()

    task = asyncio.create_task(body())
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()


async def test_work_that_lost_its_cancellation_ends_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As a library does that Python cancels at a bad moment."""
    monkeypatch.setattr("bot.core.background.AGAIN_SECONDS", 0.01)

    async def work() -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        await asyncio.Event().wait()

    async with asyncio.timeout(10), alongside(work(), name="work"):
        await asyncio.sleep(0)


@pytest.mark.parametrize("is_entered", [True, False])
async def test_a_feature_that_hangs_has_ended_once_it_is_left(
    monkeypatch: pytest.MonkeyPatch, *, is_entered: bool
) -> None:
    """Neither the stop of a process nor that of its start leaves a task, or waits for ever."""
    monkeypatch.setattr(background, "_LEAVE_SECONDS", 0.1, raising=False)
    began, ended = asyncio.Event(), asyncio.Event()

    @asynccontextmanager
    async def hanging() -> AsyncGenerator[None]:
        try:
            if is_entered:
                yield
            began.set()
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def start() -> None:
        async with apart(hanging, name="a feature"):
            pass

    starting = asyncio.create_task(start())
    await began.wait()
    if not is_entered:
        starting.cancel()
    await asyncio.wait({starting}, timeout=5)
    assert (starting.done(), ended.is_set()) == (True, True)
