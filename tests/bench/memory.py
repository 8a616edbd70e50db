"""What a run costs that waits for its model, and what thousands of runs leave behind."""

from __future__ import annotations

import asyncio
import gc
import resource
import sys
import tracemalloc
from collections.abc import AsyncGenerator

from bot.agent.loop import run
from bot.model import ModelRequest
from bot.model.types import Progress
from tests.bench import scene
from tests.bench.measure import model_server
from tests.bench.ours import loop_once

_AT_ONCE = 20
_PEAK_UNIT = 1 if sys.platform == "darwin" else 1024


class _Waiting:
    """A model that never answers."""

    async def respond(self, request: ModelRequest) -> AsyncGenerator[Progress]:
        await asyncio.Event().wait()
        raise AssertionError(request)
        yield


async def per_waiting_run(count: int) -> float:
    """Return the bytes of Python memory of each of `count` runs that wait for a response, with all
    that the runner gave them."""

    async def consume(parts: scene.Parts) -> None:
        async for _ in run(scene.first_state(), parts.loop):
            pass

    async with scene.composed("http://127.0.0.1:1", "none", stream=True) as bot:
        await bot.parts()
        gc.collect()
        tracemalloc.start()
        before, _ = tracemalloc.get_traced_memory()
        given = [await bot.parts(_Waiting()) for _ in range(count)]
        tasks = [asyncio.create_task(consume(each)) for each in given]
        for _ in range(20):
            await asyncio.sleep(0)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return (after - before) / count


async def growth(runs: int) -> tuple[float, float]:
    """Return what `runs` whole runs against a service in another process add after a tenth of them:
    to the most memory that the process ever had, in bytes, and to its objects, for each run."""
    async with (
        model_server() as (url, key),
        scene.composed(url, key, stream=True) as bot,
    ):
        await _many(bot, runs // 10)
        memory, objects = _peak(), _objects()
        await _many(bot, runs)
        return _peak() - memory, (_objects() - objects) / runs


async def _many(bot: scene.Composition, runs: int) -> None:
    for _ in range(runs // _AT_ONCE):
        await asyncio.gather(*[loop_once(await bot.parts()) for _ in range(_AT_ONCE)])


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _PEAK_UNIT


def _objects() -> int:
    gc.collect()
    return len(gc.get_objects())
