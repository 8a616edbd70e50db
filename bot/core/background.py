"""Background tasks with an owner: a task runs exactly as long as the block that started it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager

AGAIN_SECONDS = 5.0  # between two attempts to cancel a task


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


async def _cancel_until_done(task: asyncio.Task[None]) -> None:
    # One cancellation can be lost: redis-py sends within `asyncio.wait_for`, which before Python 3.12
    # swallows a cancellation that arrives just as the awaited call completes.
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=AGAIN_SECONDS)
