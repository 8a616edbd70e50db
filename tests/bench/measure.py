"""Measures in interleaved rounds, so that what else the machine does falls on all alike."""

from __future__ import annotations

import asyncio
import gc
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from openai import AsyncOpenAI

from bot.agent.events import RunEnded
from bot.agent.loop import run
from bot.core.outcome import RunStatus
from bot.model import ResponsesModel, sdk_client
from tests.bench import bare, scene

Run = Callable[[], Awaitable[None]]


@asynccontextmanager
async def served() -> AsyncGenerator[tuple[AsyncOpenAI, AsyncOpenAI]]:
    """Our client and a plain one of the stand-in in another process: its work is not counted."""
    command = [sys.executable, "-m", "bot.local.model", "--bench", "--tool", "add"]
    command += ["--arguments", '{"a": 1, "b": 2}']
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        url, key = [(await process.stdout.readline()).decode().strip() for _ in range(2)]
        async with (
            sdk_client(key, url) as our_client,
            AsyncOpenAI(base_url=url, api_key=key) as plain_client,
        ):
            yield our_client, plain_client
    finally:
        process.kill()
        await process.wait()


def ours(client: AsyncOpenAI, *, stream: bool, stateless: bool = False) -> Run:
    """One run of our loop."""
    model = ResponsesModel(client, stream=stream)

    async def once() -> None:
        async for event in run(scene.first_state(), scene.parts(model, stateless=stateless)):
            if isinstance(event, RunEnded):
                assert event.status is RunStatus.SUCCESS
                assert event.state.turn == scene.TURNS

    return once


def plain(client: AsyncOpenAI, *, stream: bool, stateless: bool = False) -> Run:
    """One run of the bare loop."""

    async def once() -> None:
        assert await bare.run(client, stream=stream, stateless=stateless)

    return once


async def cpu_ratio(
    *, concurrency: int, stream: bool, rounds: int, runs: int, stateless: bool = False
) -> tuple[float, float]:
    """CPU of our loop over the bare one's (median of rounds), and ours in ms per turn."""
    async with served() as (our_client, plain_client):
        how = {"stream": stream, "stateless": stateless}
        loops = (ours(our_client, **how), plain(plain_client, **how))
        for loop in loops:
            await loop()
        spent: list[tuple[float, float]] = []
        for _ in range(rounds):
            mine, bare_loop = [await _cpu(loop, concurrency, runs) for loop in loops]
            spent.append((mine, bare_loop))
    ratio = statistics.median(mine / bare_loop for mine, bare_loop in spent)
    mine = statistics.median(mine for mine, _ in spent)
    return ratio, 1000 * mine / (runs * scene.TURNS)


async def _cpu(loop: Run, concurrency: int, runs: int) -> float:
    gc.collect()
    before = time.process_time()
    for _ in range(runs // concurrency):
        await asyncio.gather(*(loop() for _ in range(concurrency)))
    return time.process_time() - before
