"""Blocking work in a thread that can be told to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from bot.toolkit.running import in_own_thread

T = TypeVar("T")

_AGAIN = 0.05


async def interruptible(work: Callable[[], T], stop: Callable[[], object], seconds: float) -> T:
    """Run `work` in a thread of its own; after `seconds`, or when cancelled, call `stop` and wait
    for its end.

    `stop` must make `work` return or raise soon; it is called from another thread, and again until
    `work` has ended. Raises TimeoutError when the time is up; whatever `work` raises passes
    through.
    """
    task = asyncio.ensure_future(in_own_thread(work, "blocking work"))
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.shield(task)
    finally:
        # Nothing may be closed under a thread that still runs, so it is seen to its end. A stop
        # that comes between two statements is lost, so it is said again.
        while not task.done():
            stop()
            await asyncio.wait({task}, timeout=_AGAIN)
        if not task.cancelled():
            task.exception()  # what a stopped thread raises is of no interest to anybody
