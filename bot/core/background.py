"""Background tasks with an owner: a task runs exactly as long as the block that started it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

from bot.core.errors import ConfigurationError

log = logging.getLogger(__name__)

AGAIN_SECONDS = 5.0  # between two attempts to cancel a task
_ENTER_SECONDS = 30.0
_LEAVE_SECONDS = 10.0


@asynccontextmanager
async def alongside(work: Coroutine[None, None, None], *, name: str) -> AsyncGenerator[None]:
    """Run `work` while the body runs. When the body ends, `work` is cancelled and awaited.

    If `work` fails, the body is cancelled and the error raised, so that no background task stops
    unnoticed. An error of the body is raised unchanged, not in an exception group.
    """
    try:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(work, name=name)
            try:
                yield
            finally:
                await _cancel_until_done(task)
    except BaseExceptionGroup as group_of_errors:
        if len(group_of_errors.exceptions) > 1:
            raise
        raise group_of_errors.exceptions[0] from None


@asynccontextmanager
async def apart(
    make: Callable[[], AbstractAsyncContextManager[object]], *, name: str
) -> AsyncGenerator[None]:
    """Run the body inside a context that lives in a task of its own. What the context raises is logged
    under its `name`, and ends nothing else. Raises its ConfigurationError, if it cannot be entered.

    One that takes too long to be left is cancelled, and given up if it withstands that.
    """
    entered, leaving = asyncio.Event(), asyncio.Event()

    async def live() -> None:
        try:
            async with make():
                entered.set()
                await leaving.wait()
        except ConfigurationError:
            if not entered.is_set():
                raise
            log.exception("%s ended", name)
        except Exception:
            log.exception("%s ended, and the process goes on without it", name)
        finally:
            entered.set()

    task = asyncio.create_task(live(), name=name)
    try:
        try:
            async with asyncio.timeout(_ENTER_SECONDS):
                await entered.wait()
        except TimeoutError:
            log.error("%s has not begun after %g s; the process goes on", name, _ENTER_SECONDS)  # noqa: TRY400 - there is no trace
        if task.done():
            task.result()
        yield
    finally:
        leaving.set()
        try:
            if entered.is_set():
                await asyncio.wait({task}, timeout=_LEAVE_SECONDS)
        finally:
            with suppress(TimeoutError):
                async with asyncio.timeout(_LEAVE_SECONDS):
                    await _cancel_until_done(task)


async def _cancel_until_done(task: asyncio.Task[None]) -> None:
    # One cancellation can be lost: redis-py sends within `asyncio.wait_for`, which before Python 3.12
    # swallows a cancellation that arrives just as the awaited call completes.
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=AGAIN_SECONDS)
