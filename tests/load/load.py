"""Bursts of events and heaps of runs against `bot web` and `bot worker` in processes of their own."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from redis.asyncio import Redis

from bot.core.request import Request
from bot.dev.model import ResponsesServer
from bot.dev.workspace import ADA, Workspace
from bot.dev.workspace.events.delivery import Transport
from bot.runs.queue.engine import open_engine
from bot.store import open_stores
from bot.store.embedded import embedded_redis
from tests.faults.processes import environment, metrics_at, started
from tests.soak.soak import brain
from tests.support.deployment import Deployment
from tests.support.ports import free_port
from tests.support.redis import asked

SALES = "C0SALES001"
_LOOK_AGAIN = 0.2  # seconds


class Timed:
    """A transport that notes how long each acknowledgement took, in seconds."""

    def __init__(self, inner: Transport) -> None:
        self.seconds: list[float] = []
        self._inner = inner

    async def send(self, kind: str, payload: dict[str, Any], **how: Any) -> dict[str, Any]:
        began = time.perf_counter()
        answer = await self._inner.send(kind, payload, **how)
        self.seconds.append(time.perf_counter() - began)
        return answer


@dataclass
class Site:
    """The bot under load and what it stands on."""

    bot: Deployment
    redis: Redis
    ports: dict[str, int]
    worker: Mapping[str, str]
    acks: Timed
    asked_at: dict[str, float] = field(default_factory=dict)

    async def ask(self) -> None:
        ts = await self.bot.ask(ADA, SALES, "How many?")
        self.asked_at[ts] = time.time()

    async def all_answered(self, seconds: float) -> None:
        """Returns once every question has its end."""

        def over() -> bool:
            ended = (e for e in self.bot.ws.effects if e.method == "agents.sessions.setStatus")
            over = [e for e in ended if e.args["status"] == "active"]
            return len(over) >= len(self.asked_at)

        await self.bot.ws.until(over, seconds)

    async def all_seen(self, seconds: float) -> None:
        """Returns once every question has its first sign."""

        def over() -> bool:
            begun = (e for e in self.bot.ws.effects if e.method == "agents.sessions.setStatus")
            return len({e.args["thread_ts"] for e in begun}) >= len(self.asked_at)

        await self.bot.ws.until(over, seconds)

    def first_statuses(self) -> list[float]:
        """From each question to the first sign in its thread, in seconds."""
        shown: dict[str, float] = {}
        for effect in self.bot.ws.effects:
            if effect.method == "assistant.threads.setStatus":
                shown.setdefault(effect.args["thread_ts"], effect.at)
        return [shown[ts] - at for ts, at in self.asked_at.items()]

    async def rest(self, seconds: float) -> None:
        """Returns once nothing waits in any mailbox."""
        for _ in range(int(seconds / _LOOK_AGAIN)):
            if not await self.redis.exists("bot:v1:threads"):
                return
            await asyncio.sleep(_LOOK_AGAIN)
        raise TimeoutError("there is still work to do")

    def forget(self) -> None:
        self.asked_at.clear()
        self.acks.seconds.clear()
        del self.bot.ws.effects[:]
        del self.bot.api.requests[:]

    async def cpu(self) -> dict[str, float]:
        """Seconds of CPU that each process took since it started."""
        return {
            name: (await metrics_at(port))["process_cpu_seconds_total"]
            for name, port in self.ports.items()
        }

    async def commands(self) -> dict[str, tuple[int, float]]:
        """Redis command → calls, and microseconds in the server."""
        stats = await self.redis.info("commandstats")
        return {
            name.removeprefix("cmdstat_"): (each["calls"], each["usec"])
            for name, each in stats.items()
        }


@asynccontextmanager
async def site(folder: Path) -> AsyncGenerator[Site]:
    """`bot web`, a Redis server, stand-ins that answer at once; no worker yet. The settings are the
    defaults, but for the share of a person: one asks everything."""
    (folder / "bot.toml").write_text("[engine]\nper_person = 1000\n")
    ports = {"web": free_port(), "worker": free_port()}
    async with (
        embedded_redis(None) as url,
        Workspace.open() as ws,
        ResponsesServer.open(brain=brain) as api,
        Redis.from_url(url) as redis,
    ):
        ws.delivery.transport = acks = Timed(ws.delivery.transport)
        common = environment(ws, api, folder, redis_url=url, port="0")
        web, worker = (common | {"BOT_METRICS_PORT": str(port)} for port in ports.values())
        async with started("web", web, folder / "web"):
            yield Site(Deployment(ws, api), redis, ports, worker, acks)


@dataclass(frozen=True)
class Burst:
    """What came of bursts; seconds, each list one value an event or question."""

    events: int
    acks: list[float]
    first_status: list[float]
    lag: list[float]


async def bursts(at: Site, *, events_per_second: int, seconds: float, count: int) -> Burst:
    """`count` bursts, with a pause until each question has its first sign. A mention in a channel
    is two events. `lag` is how late this process was, which serves the stand-ins: what is measured
    is never better."""
    acks, statuses, sent = [], [], 0
    late: list[float] = []
    watching = asyncio.create_task(watch(late))
    for _ in range(count):
        at.forget()
        questions = int(events_per_second * seconds / 2)
        began = time.perf_counter()
        asking = []
        for number in range(questions):
            await asyncio.sleep(
                max(0.0, began + number * seconds / questions - time.perf_counter())
            )
            asking.append(asyncio.create_task(at.ask()))
        await asyncio.gather(*asking)
        await at.all_seen(60)
        acks += at.acks.seconds
        statuses += at.first_statuses()
        sent += 2 * questions
    watching.cancel()
    return Burst(sent, acks, statuses, late)


async def watch(late: list[float]) -> None:
    while True:
        due = time.perf_counter() + 0.01
        await asyncio.sleep(0.01)
        late.append(time.perf_counter() - due)


@dataclass(frozen=True)
class Work:
    """What runs cost; `cpu` of each process in ms a run, `redis` as command → calls and ms of the server, a run."""

    runs: int
    per_second: float
    cpu: dict[str, float]
    redis: dict[str, tuple[float, float]]
    redis_bytes: float
    slack: dict[str, float]


async def work(at: Site, runs: int) -> Work:
    """All at once, each in a thread of its own."""
    at.forget()
    before, cpu, kept = await at.commands(), await at.cpu(), await _used(at.redis)
    began = time.perf_counter()
    await asyncio.gather(*(at.ask() for _ in range(runs)))
    await at.all_answered(300)
    seconds = time.perf_counter() - began
    spent = {name: 1000 * (now - cpu[name]) / runs for name, now in (await at.cpu()).items()}
    after, bytes_kept = await at.commands(), await _used(at.redis) - kept
    redis = {
        name: ((calls - old[0]) / runs, (usec - old[1]) / runs / 1000)
        for name, (calls, usec) in after.items()
        if (calls - (old := before.get(name, (0, 0.0)))[0]) / runs >= 0.05
    }
    slack = {
        name: count / runs for name, count in Counter(e.method for e in at.bot.ws.effects).items()
    }
    return Work(runs, runs / seconds, spent, redis, bytes_kept / runs, slack)


async def _used(redis: Redis) -> float:
    return float((await redis.info("memory"))["used_memory"])


async def engine_cpu(runs: int) -> float:
    """CPU of the engine alone for each run, in ms: in, ticket, lease, record, delivered, out."""
    done = asyncio.Event()
    left = runs
    async with embedded_redis(None) as url, open_stores(url) as stores:

        async def handle(request: Request, deaths: int) -> None:
            nonlocal left
            lease, record = await stores.runs.start(request, f"run_{request.id}")
            await stores.runs.save_point(record.run_id, "{}", lease)
            await stores.runs.mark_delivered(record)
            left -= 1
            if not left:
                done.set()

        async with open_engine(url, stores.mailbox) as engine, engine.work(handle):
            before = time.process_time()
            for number in range(runs):
                request = asked(thread=f"{number}.0")
                await engine.submit(request, request.id)
            async with asyncio.timeout(120):
                await done.wait()
            return 1000 * (time.process_time() - before) / runs


def quantile(values: Iterable[float], share: float) -> float:
    """The value below which this share of them lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
