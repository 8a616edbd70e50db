"""Blocking work in a thread that can be told to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def interruptible(work: Callable[[], T], stop: Callable[[], object], seconds: float) -> T:
    """Run `work` in a thread; after `seconds`, or when cancelled, call `stop` and wait for its end.

    `stop` must make `work` return or raise soon, and may be called from another thread. Raises
    TimeoutError when the time is up; whatever `work` raises passes through.
    """
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.shield(task)
    finally:
        if not task.done():
            stop()
            # Nothing may be closed under a thread that still runs, so it is seen to its end.
            await asyncio.gather(task, return_exceptions=True)
