"""Measure in interleaved rounds, so that what else the machine does falls on all alike."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import wraps
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

from bot.agent.prompts import INSTRUCTIONS
from bot.features.evidence import hook
from bot.features.evidence.faults import faults_of
from bot.features.evidence.hook import EvidenceHook
from bot.features.evidence.run_part import EvidencePart
from tests.bench import scene
from tests.bench.contenders.contender import Task
from tests.bench.peers import CONTENDERS

BARE, LOOP, RUNNER = "bare", "loop", "runner"
OURS = {
    BARE: [sys.executable, str(CONTENDERS / "bare.py")],
    LOOP: [sys.executable, "-m", "tests.bench.ours", "loop"],
    RUNNER: [sys.executable, "-m", "tests.bench.ours", "runner"],
}
"""The commands of the bare loop, of ours, and of ours with runner and Redis."""

_WARM_UP = 4  # runs, so that everything is loaded

FIGURES = 2_000
"""Characters of an output full of figures; others have 200."""

MORE_FOR_FIGURES = 1.1
"""At most so much more of the bare loop's CPU may ours take with outputs full of figures."""


@dataclass(frozen=True)
class Column:
    """How runs are made, and the goals: at most this share of the bare loop's CPU."""

    name: str
    at_once: int
    stream: bool
    stateless: bool
    goals: Mapping[str, float]


COLUMNS = (
    Column("chained", 1, False, False, {LOOP: 0.45, RUNNER: 0.75}),
    Column("50 at once", scene.AT_ONCE, False, False, {LOOP: 0.45, RUNNER: 0.65}),
    Column("streamed", scene.AT_ONCE, True, False, {LOOP: 0.30, RUNNER: 0.45}),
    Column("whole history", 1, False, True, {LOOP: 0.10, RUNNER: 0.20}),
)


@dataclass(frozen=True)
class Cpu:
    """Seconds of CPU that a run of one contender takes, in each round; and in those of the bare loop."""

    rounds: Sequence[float]
    bare: Sequence[float]

    @property
    def milliseconds(self) -> float:
        return 1000 * median(self.rounds)

    @property
    def share(self) -> float:
        """The median of what was compared within a round."""
        return median(own / bare for own, bare in zip(self.rounds, self.bare, strict=True))


@asynccontextmanager
async def model_server(characters: int = 200) -> AsyncGenerator[tuple[str, str]]:
    """Serve the benchmark's conversation in another process, whose work is not counted; yield its
    URL and key. Each call asks for an output of so many characters."""
    command = [sys.executable, "-m", "bot.dev.model", "--tool", "look_up"]
    command += ["--arguments", json.dumps({"characters": characters})]
    command += ["--answer", json.dumps(scene.ANSWER)]
    async with _process(command, stdin=subprocess.DEVNULL) as process:
        url, key = await _line(process), await _line(process)
        yield url, key


async def measured(
    column: Column,
    contenders: Mapping[str, Sequence[str]] = OURS,
    *,
    characters: int = 200,
    rounds: int,
    runs: int,
) -> dict[str, Cpu]:
    """Let each contender make `runs` runs in each of `rounds` rounds, in processes of their own."""
    async with AsyncExitStack() as stack:
        url, key = await stack.enter_async_context(model_server(characters))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        task = Task(
            url=url,
            key=key,
            stream=column.stream,
            stateless=column.stateless,
            model=scene.MODEL,
            instructions=INSTRUCTIONS,
            question=scene.QUESTION,
            tools=scene.TOOLS,
            outputs=[scene.table(characters, call) for call in range(scene.CALLS)],
        )
        file = folder / "task.json"
        file.write_text(json.dumps(asdict(task)))
        processes = {
            name: await stack.enter_async_context(_process([*command, str(file)]))
            for name, command in contenders.items()
        }

        async def seconds(name: str, count: int) -> float:
            process = processes[name]
            assert process.stdin
            process.stdin.write(f"{json.dumps([count, column.at_once])}\n".encode())
            try:
                return float(await _line(process)) / count
            except ValueError:
                raise RuntimeError(f"{name} does not make its runs") from None

        for name in contenders:
            await seconds(name, _WARM_UP)
        spent = [{name: await seconds(name, runs) for name in contenders} for _ in range(rounds)]
    bare = [one[BARE] for one in spent]
    return {name: Cpu([one[name] for one in spent], bare) for name in contenders}


@asynccontextmanager
async def _process(
    command: Sequence[str], stdin: int = subprocess.PIPE
) -> AsyncGenerator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(*command, stdin=stdin, stdout=subprocess.PIPE)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):  # it has failed
            process.kill()
        await process.wait()


async def _line(process: asyncio.subprocess.Process) -> str:
    assert process.stdout
    return (await process.stdout.readline()).decode().strip()


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
            (EvidencePart, name) for name in ("begin", "on_event", "complete")
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
