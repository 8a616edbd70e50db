"""Measure in interleaved rounds, so that what else the machine does falls on all alike."""

from __future__ import annotations

import asyncio
import gc
import json
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any
from unittest.mock import patch

from openai import AsyncOpenAI

from bot.agent.events import RunEnded
from bot.agent.loop import run
from bot.core.outcome import RunStatus
from bot.features.evidence import hook
from bot.features.evidence.faults import faults_of
from bot.features.evidence.hook import EvidenceHook
from bot.features.evidence.run_part import EvidencePart
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
    characters: int = 200
    """Of each of the 24 outputs."""


ROWS = (
    Row("chained, one at a time", 1, False, False, 0.45, 0.9),
    Row("chained, outputs of 2 kB", 1, False, False, 0.45, 0.9, 2_000),
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
async def model_server(characters: int = 200) -> AsyncGenerator[tuple[str, str]]:
    """Serve the benchmark's conversation in another process, whose work is not counted; yield its
    URL and key. Each call asks for an output of so many characters."""
    command = [sys.executable, "-m", "bot.dev.model", "--tool", "look_up"]
    command += ["--arguments", json.dumps({"characters": characters})]
    command += ["--answer", json.dumps(scene.ANSWER)]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        url, key = [(await process.stdout.readline()).decode().strip() for _ in range(2)]
        yield url, key
    finally:
        process.kill()
        await process.wait()


async def loop_once(given: scene.Parts) -> None:
    """Make one run of the loop alone, which keeps and shows nothing, with what features add to it."""
    for part in given.run_parts:
        part.begin([], False, "run_bench")
    async for event in run(scene.first_state(), given.loop):
        for part in given.run_parts:
            part.on_event(event)
        if isinstance(event, RunEnded):
            assert event.status is RunStatus.SUCCESS
            assert event.state.turn == scene.TURNS
            outcome = scene.outcome(event)
            for part in reversed(given.run_parts):
                outcome = part.complete(outcome, event)
            assert outcome.traced


async def measured(row: Row, *, rounds: int, runs: int) -> Cpu:
    """Measure `runs` runs of each kind in each of `rounds` rounds."""
    kinds = {"stream": row.stream, "stateless": row.stateless}
    async with (
        model_server(row.characters) as (url, key),
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


async def tracing_seconds(characters: int, *, runs: int) -> float:
    """Return the least CPU seconds that filling in and tracing take in a whole run with outputs of so
    many characters: all that the feature does in it."""
    spent = _Spent()
    async with (
        model_server(characters) as (url, key),
        scene.composed(url, key, stream=False) as bot,
    ):
        with spent.watching():
            for _ in range(runs):
                spent.of_runs.append(0.0)
                await bot.answer()
    return min(spent.of_runs[1:])  # the first loads the words of numbers


class _Spent:
    """The CPU seconds of each run inside the methods of the feature."""

    def __init__(self) -> None:
        self.of_runs: list[float] = []
        self._depth = 0

    @contextmanager
    def watching(self) -> Generator[None]:
        methods: list[tuple[type, str]] = [
            (EvidencePart, name) for name in ("begin", "note", "complete")
        ]
        methods += [(EvidenceHook, name) for name in ("fill", "memory")]
        with ExitStack() as stack:
            for owner, name in methods:
                wrapped = self._timed(getattr(owner, name))
                stack.enter_context(patch.object(owner, name, wrapped))
            stack.enter_context(patch.object(hook, "faults_of", self._timed(faults_of)))
            yield

    def _timed(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def timed(*given: Any, **more: Any) -> Any:
            start = time.thread_time()
            self._depth += 1
            try:
                return method(*given, **more)
            finally:
                self._depth -= 1
                if not self._depth:
                    self.of_runs[-1] += time.thread_time() - start

        return timed


async def _cpu(runs: list[Run], concurrency: int) -> float:
    """Return the seconds of CPU that this process takes for `runs`, so many of them at once."""
    gc.collect()
    before = time.process_time()
    for first in range(0, len(runs), concurrency):
        await asyncio.gather(*(each() for each in runs[first : first + concurrency]))
    return time.process_time() - before
