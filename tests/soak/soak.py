"""Runs by the thousand through a bot in a process of its own, and what it holds meanwhile."""

from __future__ import annotations

import asyncio
import csv
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from redis.asyncio import Redis

from bot.dev.model import ModelRequest, Reply, ResponsesServer, calls, finish
from bot.dev.workspace import ADA, BEN, Workspace
from bot.store.embedded import embedded_redis
from tests.faults.processes import environment, metrics_at, started
from tests.support.deployment import Deployment
from tests.support.ports import free_port
from tests.support.proxy import Proxy
from tests.support.runs import answer

SALES = "C0SALES001"
AT_ONCE = 10
FAULT_EVERY = 40
"""One fault in so many runs."""


def brain(request: ModelRequest) -> Reply:
    """Two sums at once, then an answer."""
    if request.input[-1].get("type") == "function_call_output":
        return finish(answer("Two."))
    return calls(("calculate", {"expression": "1+1"}), ("calculate", {"expression": "2+2"}))


@dataclass(frozen=True)
class Sample:
    """What there was after `runs` runs; memory in MB, `redis_keys` without those of the engine."""

    runs: int
    seconds: float
    memory: float
    tasks: int
    files: int
    redis_memory: float
    redis_keys: int


@dataclass
class Soak:
    """The bot under test and what lies around it."""

    bot: Deployment
    redis: Redis
    lines: list[Proxy]
    metrics: int
    began: float

    async def sample(self, runs: int) -> Sample:
        figures = await metrics_at(self.metrics)
        memory = await self.redis.info("memory")
        return Sample(
            runs=runs,
            seconds=time.monotonic() - self.began,
            memory=figures["process_resident_memory_bytes"] / 1e6,
            tasks=int(figures["bot_asyncio_tasks"]),
            files=int(figures["process_open_fds"]),
            redis_memory=memory["used_memory"] / 1e6,
            redis_keys=await self.redis.dbsize(),
        )

    async def run(self, number: int) -> None:
        """One question and its answer; every so often something goes wrong."""
        if number % FAULT_EVERY == FAULT_EVERY - 1:
            await random.choice(FAULTS)(self)
        ts = await self.bot.ask(random.choice((ADA, BEN)), SALES, f"How many? ({number})")
        await self.bot.answered(SALES, ts, seconds=90)

    def forget(self) -> None:
        """The stand-ins keep a record of everything, for tests that look at it: this one does not."""
        del self.bot.ws.effects[:]
        del self.bot.api.requests[:]


async def _slack_loses_a_reply(soak: Soak) -> None:
    soak.bot.ws.faults.fail("chat.update", None, after_effect=True)


async def _slack_fails(soak: Soak) -> None:
    soak.bot.ws.faults.fail(random.choice(["chat.postMessage", "chat.update", "users.info"]), 500)


async def _slack_asks_to_wait(soak: Soak) -> None:
    soak.bot.ws.faults.fail("chat.update", 429, retry_after=1)


async def _the_model_breaks_off(soak: Soak) -> None:
    kinds = ["cut", "clean_eof", "bad_json", "response_failed", "server_error"]
    soak.bot.api.faults.fail(random.choice(kinds))


async def _sockets_drop(soak: Soak) -> None:
    soak.bot.ws.faults.drop_sockets()


async def _a_line_breaks(soak: Soak) -> None:
    await random.choice(soak.lines).cut()


async def _somebody_stops_a_run(soak: Soak) -> None:
    asked = await soak.bot.ask(ADA, SALES, "Never mind")
    await soak.bot.ws.delete(ADA, SALES, asked)


FAULTS: tuple[Callable[[Soak], Awaitable[None]], ...] = (
    _slack_loses_a_reply,
    _slack_fails,
    _slack_asks_to_wait,
    _the_model_breaks_off,
    _sockets_drop,
    _a_line_breaks,
    _somebody_stops_a_run,
)


@asynccontextmanager
async def soaking(folder: Path) -> AsyncGenerator[Soak]:
    """A bot that serves, behind lines that can be cut."""
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(embedded_redis(None))
        ws = await stack.enter_async_context(Workspace.open())
        api = await stack.enter_async_context(ResponsesServer.open(brain=brain))
        ws.delivery.retry_delays = (0.5, 2.0, 8.0)
        lines = [
            await stack.enter_async_context(Proxy.open(each)) for each in (url, ws.api_url, api.url)
        ]
        port = free_port()
        (folder / "bot.toml").touch()  # a lease as long as in production
        settings = environment(
            ws,
            api,
            folder,
            redis_url=lines[0].url,
            slack_api_url=lines[1].url,
            openai_base_url=lines[2].url,
            bot_metrics_port=str(port),
        )
        await stack.enter_async_context(started("serve", settings, folder / "log"))
        redis = await stack.enter_async_context(Redis.from_url(url))
        yield Soak(Deployment(ws, api), redis, lines, port, time.monotonic())


async def soak(runs: int, folder: Path, tell: Callable[[Sample], None]) -> list[Sample]:
    """A sample at the start of the work, then at each thirtieth of it."""
    step = max(AT_ONCE, runs // 30)
    samples: list[Sample] = []
    async with soaking(folder) as under_test:
        done = 0
        while done < runs:
            for first in range(done, done + step, AT_ONCE):
                numbers = range(first, min(first + AT_ONCE, done + step))
                await asyncio.gather(*(under_test.run(number) for number in numbers))
            under_test.forget()
            done += step
            samples.append(await under_test.sample(done))
            tell(samples[-1])
    return samples


def growth(samples: list[Sample], name: str) -> float:
    """How much more there is at the end of the last half than at its start, as a share; medians of
    a fifth of the samples each, so that one high value means nothing."""
    late = [float(getattr(each, name)) for each in samples[len(samples) // 2 :]]
    some = max(1, len(late) // 5)
    before, after = sorted(late[:some])[some // 2], sorted(late[-some:])[some // 2]
    return after / before - 1 if before else 0.0


def write(samples: list[Sample], folder: Path) -> None:
    """soak.csv and soak.png."""
    with (folder / "soak.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [each.name for each in fields(Sample)])
        writer.writeheader()
        writer.writerows(map(asdict, samples))
    _plot(samples, folder / "soak.png")


def _plot(samples: list[Sample], file: Path) -> None:
    from matplotlib.figure import Figure

    names = ["memory", "tasks", "files", "redis_memory", "redis_keys"]
    figure = Figure(figsize=(8, 10), layout="constrained")
    for axes, name in zip(figure.subplots(len(names), sharex=True), names, strict=True):
        axes.plot([each.runs for each in samples], [getattr(each, name) for each in samples])
        axes.set_ylabel(name.replace("_", " "))
        axes.set_ylim(bottom=0)
    axes.set_xlabel("runs")
    figure.savefig(file)
