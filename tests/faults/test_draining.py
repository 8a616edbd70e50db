"""A process is asked to stop while it works: somebody else goes on at once (reliability 7)."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import AsyncExitStack

import pytest

from bot.app.process import bot
from bot.dev.model import ModelRequest, Reply, ResponsesServer, call, finish, held
from bot.dev.workspace import ADA, Workspace
from tests.faults.processes import environment, started
from tests.support.commands import Command
from tests.support.deployment import Deployment, configured
from tests.support.runs import answer

SALES = "C0SALES001"
LEASE = 60.0
"""Seconds: nothing here waits for as long."""


@pytest.mark.timeout(90)
async def test_another_worker_goes_on_at_once(redis_url, tmp_path):
    """Asked once, a worker stops where nothing is to be done again, before it runs a tool; asked
    twice, it ends in the middle of a call of the model."""
    (tmp_path / "bot.toml").write_text(f"[engine]\nlease = {LEASE}\n")
    gates: deque[asyncio.Event] = deque()

    def brain(request: ModelRequest) -> Reply:
        done = request.input[-1].get("type") == "function_call_output"
        reply = finish(answer("Two.")) if done else call("calculate", {"expression": "1+1"})
        return held(reply, gates.popleft()) if gates else reply

    async with (
        Workspace.open() as ws,
        ResponsesServer.open(brain=brain) as api,
        bot(configured(ws, api, redis_url, port=0), work=False),
        AsyncExitStack() as stack,
    ):
        asking = Deployment(ws, api)
        settings = environment(ws, api, tmp_path, redis_url=redis_url)

        async def worker(name: str) -> Command:
            return await stack.enter_async_context(started("worker", settings, tmp_path / name))

        async def held_question(gate: asyncio.Event) -> str:
            del api.requests[:]
            gates.append(gate)
            ts = await asking.ask(ADA, SALES, "How many?")
            await ws.until(lambda: api.requests)
            return ts

        first, response = await worker("first"), asyncio.Event()
        ts = await held_question(response)
        second = await worker("second")
        first.terminate()
        await ws.until(lambda: "stopping" in (tmp_path / "first").read_text())
        response.set()
        await asking.answered(SALES, ts)
        assert await asyncio.wait_for(first.wait(), LEASE / 4) == 0
        assert "requeued" in (tmp_path / "first").read_text()
        assert len(api.requests) == 2  # the response that it waited for was kept
        assert len(asking.own(SALES, ts)) == 1

        ts = await held_question(asyncio.Event())
        await worker("third")
        second.terminate()
        await ws.until(lambda: "stopping" in (tmp_path / "second").read_text())
        second.terminate()
        await asyncio.wait_for(second.wait(), LEASE / 4)
        await asking.answered(SALES, ts)
        assert len(asking.own(SALES, ts)) == 1
