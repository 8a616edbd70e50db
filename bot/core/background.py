"""Work beside other work, with an owner."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager

AGAIN_SECONDS = 5.0  # before a task that is still there is cancelled once more


@asynccontextmanager
async def alongside(work: Coroutine[None, None, None], *, name: str) -> AsyncGenerator[None]:
    """Run `work` while the body runs; it is cancelled, and has ended, when the body is left.

    If it fails meanwhile, the body is cancelled and that error raised: work that ought to be going
    on never stops unnoticed. The body's own error is raised as it is, in no group.
    """
    try:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(work, name=name)
            try:
                yield
            finally:
                await _ended(task)
    except BaseExceptionGroup as group_of_errors:
        if len(group_of_errors.exceptions) > 1:
            raise
        raise group_of_errors.exceptions[0] from None


async def _ended(task: asyncio.Task[None]) -> None:
    """A cancellation can be lost: redis-py sends within `asyncio.wait_for`, which before Python 3.12
    overlooks one that comes just when it is done."""
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=AGAIN_SECONDS)
