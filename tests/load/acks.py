"""Mentions for ten seconds, faster than runs can be made: what is acknowledged when, and answered when.

The workspace, which asks and takes the time, is in this process; the bot, its Redis and the model
server are in processes of their own.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from bot.dev.model import ResponsesServer
from bot.dev.workspace import ADA, Workspace
from bot.store.embedded import embedded_redis
from tests.faults.processes import environment, metrics_at, started
from tests.load.load import SALES, Timed, watch
from tests.support.ports import free_port

_MODEL_SERVER = """
import asyncio
from bot.dev.model import ResponsesServer
from tests.soak.soak import brain

async def serve():
    async with ResponsesServer.open(brain=brain) as api:
        print(api.url, api.api_key, flush=True)
        while True:
            await asyncio.sleep(1)
            del api.requests[:]

asyncio.run(serve())
"""


@dataclass(frozen=True)
class Acks:
    """What came of the mentions; seconds, but `cpu`: of each process of the bot in ms for each event,
    while they came. `late` is how late the event loop of the workspace was, which is in the others."""

    mentions: int
    acks: list[float]
    answers: list[float]
    late: list[float]
    cpu: dict[str, float]


async def acks(commands: tuple[str, ...], folder: Path, *, rate: int, seconds: float) -> Acks:
    """Send `rate` mentions a second, each two events, to a bot of these `commands`; wait for the
    answers."""
    ports = {command: free_port() for command in commands}
    async with _site(commands, ports, folder) as ws:
        ws.delivery.transport = timed = Timed(ws.delivery.transport)
        await _ask(ws, 5, 5)  # what the first ones load
        await _answered(ws, 5, 120)
        timed.seconds.clear()
        del ws.effects[:]
        before = {name: await _cpu(port) for name, port in ports.items()}
        late: list[float] = []
        watching = asyncio.create_task(watch(late))
        asked = await _ask(ws, rate, int(rate * seconds))
        while ws.delivery.under_way:  # noqa: ASYNC110 - events come until none is left
            await asyncio.sleep(0.05)
        watching.cancel()
        spent = {name: await _cpu(port) - before[name] for name, port in ports.items()}
        await _answered(ws, len(asked), 600)
        ended = {
            each.args["thread_ts"]: each.at
            for each in ws.effects
            if each.method == "agents.sessions.setStatus" and each.args["status"] == "active"
        }
    events = 2 * len(asked)
    cpu = {name: 1000 * each / events for name, each in spent.items()}
    answers = [ended[ts] - at for ts, at in asked.items() if ts in ended]
    return Acks(len(asked), timed.seconds, answers, late, cpu)


@asynccontextmanager
async def _site(
    commands: tuple[str, ...], ports: dict[str, int], folder: Path
) -> AsyncGenerator[Workspace]:
    (folder / "bot.toml").write_text("[engine]\nper_person = 1000\n")  # one person asks everything
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(embedded_redis(None))
        ws = await stack.enter_async_context(Workspace.open())
        model = await asyncio.create_subprocess_exec(
            sys.executable, "-c", _MODEL_SERVER, stdout=subprocess.PIPE
        )
        stack.callback(model.kill)
        assert model.stdout is not None
        address, key = (await model.stdout.readline()).decode().split()
        for command in commands:
            settings = environment(
                ws,
                cast("ResponsesServer", _Model(address, key)),
                folder,
                redis_url=url,
                bot_metrics_port=str(ports[command]),
            )
            await stack.enter_async_context(started(command, settings, folder / command))
        yield ws


@dataclass(frozen=True)
class _Model:
    """A model server elsewhere, as `environment` takes it."""

    url: str
    api_key: str


async def _ask(ws: Workspace, rate: int, count: int) -> dict[str, float]:
    """The mentions with the time at which each was made."""
    began, asked = time.perf_counter(), dict[str, float]()
    for number in range(count):
        await asyncio.sleep(max(0.0, began + number / rate - time.perf_counter()))
        at = time.time()
        said = await ws.say(ADA, SALES, f"<@{ws.bot_user_id}> How many? ({number})")
        asked[str(said["ts"])] = at
    return asked


async def _answered(ws: Workspace, count: int, seconds: float) -> None:
    def over() -> bool:
        ended = (each for each in ws.effects if each.method == "agents.sessions.setStatus")
        return len([each for each in ended if each.args["status"] == "active"]) >= count

    await ws.until(over, seconds)


async def _cpu(port: int) -> float:
    return (await metrics_at(port))["process_cpu_seconds_total"]
