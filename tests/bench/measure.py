"""Measure in interleaved rounds, so that what else the machine does falls on all alike."""

from __future__ import annotations

import asyncio
import gc
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from openai import AsyncOpenAI

from bot.agent.events import RunEnded
from bot.agent.loop import run
from bot.agent.loop_deps import LoopDeps
from bot.core.outcome import RunStatus
from tests.bench import bare, scene

Run = Callable[[], Awaitable[None]]


@dataclass(frozen=True)
class Row:
    """How runs are made, and the goals: at most this share of the bare loop's CPU, for the loop
    alone and with the runner and Redis."""

    name: str
    concurrency: int
    stream: bool
    stateless: bool
    loop_goal: float
    runner_goal: float


ROWS = (
    Row("chained, one at a time", 1, False, False, 0.45, 0.9),
    Row("chained, 50 at once", scene.AT_ONCE, False, False, 0.45, 0.9),
    Row("streamed, 50 at once", scene.AT_ONCE, True, False, 0.3, 0.6),
    Row("whole history, one at a time", 1, False, True, 0.10, 0.25),
)


@dataclass(frozen=True)
class Cpu:
    """Milliseconds of CPU that a run takes, each the median of all rounds; the shares are medians of
    what was compared within a round."""

    bare: float
    loop: float
    runner: float
    loop_share: float
    runner_share: float


@asynccontextmanager
async def model_server() -> AsyncGenerator[tuple[str, str]]:
    """Serve the benchmark's conversation in another process, whose work is not counted; yield its
    URL and key."""
    command = [sys.executable, "-m", "bot.dev.model", "--tool", "add"]
    command += ["--arguments", '{"a": 1, "b": 2}']
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        url, key = [(await process.stdout.readline()).decode().strip() for _ in range(2)]
        yield url, key
    finally:
        process.kill()
        await process.wait()


async def loop_once(parts: LoopDeps) -> None:
    """Make one run of the loop alone, which keeps and shows nothing."""
    async for event in run(scene.first_state(), parts):
        if isinstance(event, RunEnded):
            assert event.status is RunStatus.SUCCESS
            assert event.state.turn == scene.TURNS


async def measured(row: Row, *, rounds: int, runs: int) -> Cpu:
    """Measure `runs` runs of each kind in each of `rounds` rounds."""
    kinds = {"stream": row.stream, "stateless": row.stateless}
    async with (
        model_server() as (url, key),
        scene.composed(url, key, **kinds) as bot,
        AsyncOpenAI(base_url=url, api_key=key) as client,
    ):

        async def plain() -> None:
            assert await bare.run(client, **kinds)

        async def once(count: int) -> list[float]:
            given = [await bot.parts() for _ in range(count)]
            works: tuple[list[Run], ...] = (
                [plain] * count,
                [partial(loop_once, each) for each in given],
                [bot.answer] * count,
            )
            return [await _cpu(each, row.concurrency) / count for each in works]

        await once(row.concurrency)
        spent = [await once(runs) for _ in range(rounds)]
    plain_cpu, loop, runner = (statistics.median(each) for each in zip(*spent, strict=True))
    return Cpu(
        1000 * plain_cpu,
        1000 * loop,
        1000 * runner,
        statistics.median(loop / plain for plain, loop, _ in spent),
        statistics.median(runner / plain for plain, _, runner in spent),
    )


async def _cpu(runs: list[Run], concurrency: int) -> float:
    """Return the seconds of CPU that this process takes for `runs`, so many of them at once."""
    gc.collect()
    before = time.process_time()
    for first in range(0, len(runs), concurrency):
        await asyncio.gather(*(each() for each in runs[first : first + concurrency]))
    return time.process_time() - before
