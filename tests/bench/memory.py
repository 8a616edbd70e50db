"""What a run costs that waits for its model."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from collections.abc import AsyncGenerator

from bot.agent.loop import run
from bot.model import ModelRequest
from bot.model.types import Progress
from tests.bench import scene


class _Waiting:
    """A model that never answers."""

    async def respond(self, request: ModelRequest) -> AsyncGenerator[Progress]:
        await asyncio.Event().wait()
        raise AssertionError(request)
        yield


async def per_waiting_run(count: int) -> float:
    """Bytes of Python memory for each of `count` runs that wait for a response."""

    async def consume() -> None:
        async for _ in run(scene.first_state(), scene.parts(_Waiting())):
            pass

    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    tasks = [asyncio.create_task(consume()) for _ in range(count)]
    for _ in range(20):
        await asyncio.sleep(0)
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return (after - before) / count
