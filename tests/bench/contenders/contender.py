"""What every contender does: it makes runs when it is told to, and says what CPU they took.

It needs the standard library alone, as it is loaded in environments of others too.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

Run = Callable[[], Awaitable[dict[str, Any]]]
"""Makes one run, and returns the arguments of its `complete_task`."""

Ready = Callable[[int], Awaitable[Sequence[Run]]]
"""Returns so many runs that are ready to be made; what that takes is not counted."""


@dataclass(frozen=True)
class Task:
    """The task of all contenders: the model service, how it is asked, and what it is asked.

    `tools` are the definitions of a tool and of `complete_task`, `outputs` what calls of the tool
    return, one after the other.
    """

    url: str
    key: str
    stream: bool
    stateless: bool
    model: str
    instructions: str
    question: str
    tools: list[dict[str, Any]]
    outputs: list[str]


def contend(opened: Callable[[Task], AbstractAsyncContextManager[Ready]]) -> None:
    """Make runs of the task that the command line names, in the numbers that standard input says."""
    task = Task(**json.loads(Path(sys.argv[1]).read_text()))
    asyncio.run(_contend(task, opened))


def again_and_again(
    opened: Callable[[Task], AbstractAsyncContextManager[Run]],
) -> Callable[[Task], AbstractAsyncContextManager[Ready]]:
    """Return what opens runs that need no preparation."""

    @asynccontextmanager
    async def ready(task: Task) -> AsyncGenerator[Ready]:
        async with opened(task) as run:

            async def runs(count: int) -> Sequence[Run]:
                return [run] * count

            yield runs

    return ready


async def _contend(
    task: Task, opened: Callable[[Task], AbstractAsyncContextManager[Ready]]
) -> None:
    async with opened(task) as ready:
        while line := await asyncio.to_thread(sys.stdin.readline):
            count, at_once = json.loads(line)
            runs, answers = await ready(count), list[dict[str, Any]]()
            gc.collect()
            before = time.process_time()
            for first in range(0, count, at_once):
                answers += await asyncio.gather(*(run() for run in runs[first : first + at_once]))
            seconds = time.process_time() - before
            assert all(answer["summary"] and answer["key_points"] for answer in answers)
            sys.stdout.write(f"{seconds}\n")
            sys.stdout.flush()


def tool_of(task: Task) -> Callable[..., Awaitable[str]]:
    """Return the function of the task's tool."""
    outputs = cycle(task.outputs)

    async def look_up(characters: int) -> str:
        """Look up rows: so many characters of them."""
        return next(outputs)

    return look_up
