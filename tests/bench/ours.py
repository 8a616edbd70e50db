"""The bot as a contender: `python -m tests.bench.ours loop TASK`, or `runner` for runs with their
records in Redis. It is composed as `bot serve` composes it, and looks as seldom for garbage."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from bot.agent.events import RunEnded
from bot.agent.loop import run
from bot.core.garbage import look_seldom_for_garbage
from bot.core.outcome import RunStatus
from bot.runs.run_parts import RunPart
from bot.runs.watching import doing
from tests.bench import scene
from tests.bench.contenders.contender import Ready, Run, Task, contend


async def loop_once(given: scene.Parts) -> dict[str, Any]:
    """Make one run of the loop alone, which keeps and shows nothing, with what features add to it."""
    for part in given.run_parts:
        part.begin([], False, "run_bench")
    listening = doing("on_event", given.run_parts, RunPart)
    async for event in run(scene.first_state(), given.loop):
        for part in listening:
            part.on_event(event)
        if isinstance(event, RunEnded):
            assert event.status is RunStatus.SUCCESS
            assert event.state.turn == scene.TURNS
            outcome = scene.outcome(event)
            for part in reversed(doing("complete", given.run_parts, RunPart)):
                outcome = part.complete(outcome, event)
            assert outcome.traced
            assert event.result
            return event.result.model_dump()
    raise AssertionError("a run without an end")


@asynccontextmanager
async def opened(task: Task, *, with_runner: bool) -> AsyncGenerator[Ready]:
    kinds = {"stream": task.stream, "stateless": task.stateless}
    async with scene.composed(task.url, task.key, **kinds) as bot:

        async def answer() -> dict[str, Any]:
            await bot.answer()
            return scene.ANSWER  # the surface has checked the outcome

        async def runs(count: int) -> Sequence[Run]:
            if with_runner:
                return [answer] * count
            return [partial(loop_once, await bot.parts()) for _ in range(count)]

        look_seldom_for_garbage()
        yield runs


if __name__ == "__main__":
    kind = sys.argv.pop(1)
    contend(partial(opened, with_runner=kind == "runner"))
