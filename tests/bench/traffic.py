"""Counts the Redis commands of `bot serve`: while nothing happens, and for one question in Slack."""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from redis.asyncio import Redis

from bot.local.model import ModelRequest, Reply, ResponsesServer, calls, finish
from bot.local.workspace import ADA, Workspace
from bot.store.embedded import embedded_redis
from tests.faults.processes import environment, started
from tests.support.deployment import Deployment
from tests.support.runs import answer

_CHANNEL = "C0SALES001"
_IDLE_SECONDS = 10.0
_SETTLE_SECONDS = 1.5  # after an answer is up: its ticket is put away
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{40}|\b[a-z]+_[0-9a-z]{16}|\d{6,}[.\d]*")


@dataclass(frozen=True, slots=True)
class Traffic:
    """Redis commands, those inside scripts and transactions included."""

    idle: float
    """Commands per second of an idle process."""

    question: float
    """Commands for one question with two tools, without those of the idle process meanwhile."""


async def traffic(*, show: bool = False) -> Traffic:
    """Ask the bot one question at a time; with `show`, print each command of the last one."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bot.toml").write_text("[catch_up]\nevery_minutes = 0\n")
        async with (
            embedded_redis(None) as url,
            Workspace.open() as ws,
            ResponsesServer.open(brain=_two_tools) as api,
            Redis.from_url(url) as redis,
        ):
            settings = environment(ws, api, folder, redis_url=url, port="0")
            async with started("serve", settings, folder / "log"):
                deployment = Deployment(ws, api)
                for _ in range(2):  # scripts are loaded, caches are warm
                    await _ask(deployment)
                before = await _count(redis)
                await asyncio.sleep(_IDLE_SECONDS)
                idle = (await _count(redis) - before) / _IDLE_SECONDS
                found = [await _of_one(deployment, redis, idle) for _ in range(3)]
                if show:
                    await _show(deployment, url)
    return Traffic(idle, min(found))


def _two_tools(request: ModelRequest) -> Reply:
    if request.input[-1].get("type") == "function_call_output":
        return finish(answer("Two and four."))
    return calls(("calculate", {"expression": "1+1"}), ("calculate", {"expression": "2+2"}))


async def _ask(deployment: Deployment) -> None:
    ts = await deployment.ask(ADA, _CHANNEL, "How many are one and one, and two and two?")
    await deployment.answered(_CHANNEL, ts)
    await asyncio.sleep(_SETTLE_SECONDS)


async def _of_one(deployment: Deployment, redis: Redis, idle: float) -> float:
    begun, before = asyncio.get_running_loop().time(), await _count(redis)
    await _ask(deployment)
    seconds = asyncio.get_running_loop().time() - begun
    return await _count(redis) - before - idle * seconds


async def _count(redis: Redis) -> int:
    """All commands so far but the one that counts."""
    stats = await redis.info("commandstats")
    return sum(each["calls"] for name, each in stats.items() if name != "cmdstat_info")


async def _show(deployment: Deployment, url: str) -> None:
    seen: Counter[str] = Counter()

    async def listen() -> None:
        async with Redis.from_url(url) as redis, redis.monitor() as monitor:
            async for line in monitor.listen():
                seen[" ".join(_ID.sub("#", line["command"]).split()[:2])] += 1

    listening = asyncio.create_task(listen())
    await asyncio.sleep(0.3)
    await _ask(deployment)
    listening.cancel()
    for command, count in seen.most_common():
        sys.stdout.write(f"{count:4} {command}\n")


if __name__ == "__main__":
    sys.stdout.write(f"{asyncio.run(traffic(show=True))}\n")
