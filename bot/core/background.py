"""Work beside other work, with an owner."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager


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
                task.cancel()
    except BaseExceptionGroup as group_of_errors:
        if len(group_of_errors.exceptions) > 1:
            raise
        raise group_of_errors.exceptions[0] from None
