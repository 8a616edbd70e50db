"""How long the event loop kept others waiting."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

_TICK = 0.005


class Lag:
    """`longest` in seconds: how late the event loop was at most. CPU time, as on a busy machine the
    whole process waits for others."""

    def __init__(self) -> None:
        self.longest = 0.0

    async def seen(self) -> None:
        """Wait until what has happened so far is in `longest`."""
        await asyncio.sleep(2 * _TICK)


@asynccontextmanager
async def loop_lag() -> AsyncGenerator[Lag]:
    """Measure the lag of the event loop while the body runs."""
    lag = Lag()
    gc.collect()
    gc.freeze()  # what earlier tests left behind is not looked through again

    async def tick() -> None:
        while True:
            began = time.thread_time()
            await asyncio.sleep(_TICK)
            lag.longest = max(lag.longest, time.thread_time() - began)

    task = asyncio.create_task(tick())
    try:
        yield lag
    finally:
        await lag.seen()
        task.cancel()
