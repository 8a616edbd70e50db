"""A question that kills its worker, each time, among ten that do not."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

from bot.dev.model import ModelRequest, Reply, ResponsesServer, call, finish
from bot.dev.workspace import ADA, BEN, CHLOE, Workspace
from tests.faults.processes import environment, started
from tests.support.commands import Command
from tests.support.deployment import Deployment
from tests.support.runs import answer

SALES = "C0SALES001"
OTHERS = 10
DEATHS = 4  # the first of them after a save point


class Deadly:
    """A model: it kills the process that asks it about the killer's second step. `beside` are how many
    other questions it was thinking about then."""

    def __init__(self) -> None:
        self.process: Command | None = None
        self.beside: list[int] = []
        self._thinking = 0

    async def __call__(self, request: ModelRequest) -> Reply:
        has_calculated = request.input[-1].get("type") == "function_call_output"
        if "killer" in request.text:
            if not has_calculated:
                return call("calculate", {"expression": "1+1"})
            self.beside.append(self._thinking)
            assert self.process is not None
            self.process.send_signal(signal.SIGKILL)
        self._thinking += 1
        try:
            await asyncio.sleep(0.3)
        finally:
            self._thinking -= 1
        return finish(answer()) if has_calculated else call("calculate", {"expression": "2+2"})


@pytest.mark.timeout(180)
async def test_a_question_that_kills_its_worker_fails_no_other(tmp_path: Path) -> None:
    """(R2, reliability 17) With one process for everything: the others are answered, the last attempts
    at the killer are alone in the process, and after three it is given up, saying what it had done."""
    deadly = Deadly()
    async with Workspace.open() as ws, ResponsesServer.open(brain=deadly) as api:
        bot, log = Deployment(ws, api), tmp_path / "log"
        settings = environment(ws, api, tmp_path)
        ws.delivery.ack_timeout, ws.delivery.retry_delays = 1.0, (1.0, 4.0, 20.0)
        async with asyncio.TaskGroup() as group:
            keeper = group.create_task(_keep_up(deadly, settings, log))
            await ws.until(lambda: deadly.process, 60)
            people = (ADA, BEN, CHLOE)
            roots = [await bot.ask(people[n % 3], SALES, f"Number {n}") for n in range(OTHERS // 2)]
            killer = await bot.ask(ADA, SALES, "The killer")
            roots += [await bot.ask(people[n % 3], SALES, f"Other {n}") for n in range(OTHERS // 2)]
            for root in (*roots, killer):
                await bot.answered(SALES, root, seconds=90)
            keeper.cancel()
        assert len(deadly.beside) == DEATHS
        assert deadly.beside[-1] == 0
        for root in roots:
            assert "Two." in str(bot.own(SALES, root))
        [end] = bot.own(SALES, killer)
        assert "What I did" in str(end)


class DeadlyBeside(Deadly):
    """Thinks for long about what is asked beside the killer, which kills in that time."""

    async def __call__(self, request: ModelRequest) -> Reply:
        if "killer" not in request.text:
            await asyncio.sleep(3)
            return finish(answer())
        await asyncio.sleep(1)
        return await super().__call__(request)


@pytest.mark.timeout(180)
async def test_a_question_that_dies_beside_it_is_answered(tmp_path: Path) -> None:
    """(R2, reliability 17) It made no step of its own before its first two workers died, as the killer
    did not: from then on each runs alone, and only what dies alone is given up."""
    deadly = DeadlyBeside()
    async with Workspace.open() as ws, ResponsesServer.open(brain=deadly) as api:
        bot, log = Deployment(ws, api), tmp_path / "log"
        settings = environment(ws, api, tmp_path)
        ws.delivery.ack_timeout, ws.delivery.retry_delays = 1.0, (1.0, 4.0, 20.0)
        async with asyncio.TaskGroup() as group:
            keeper = group.create_task(_keep_up(deadly, settings, log))
            await ws.until(lambda: deadly.process, 60)
            innocent = await bot.ask(BEN, SALES, "Number 1")
            killer = await bot.ask(ADA, SALES, "The killer")
            for root in (innocent, killer):
                await bot.answered(SALES, root, seconds=90)
            keeper.cancel()
        asked = [each for each in api.requests if "Number 1" in str(each.body)]
        assert len(asked) >= 3
        assert "Two." in str(bot.own(SALES, innocent))


async def _keep_up(deadly: Deadly, settings: dict[str, str], log: Path) -> None:
    while True:
        async with started("serve", settings, log) as process:
            deadly.process = process
            await process.wait()
