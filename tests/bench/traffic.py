"""Counts the Redis commands of `bot serve`: while nothing happens, and for one question in Slack.

A command is what a client sends: a script is one, a transaction is its commands, MULTI and EXEC. What
scripts call inside Redis costs no round trip and is counted apart.
"""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import reduce
from operator import and_
from pathlib import Path
from typing import Any

from redis.asyncio import Redis

from bot.core.background import alongside
from bot.dev.model import ModelRequest, Reply, ResponsesServer, calls, finish
from bot.dev.workspace import ADA, Workspace
from bot.store.embedded import embedded_redis
from tests.faults.processes import environment, started
from tests.support.deployment import Deployment
from tests.support.runs import answer

_CHANNEL = "C0SALES001"
_SETTLE_SECONDS = 1.5  # after an answer is up: its ticket is put away
_SCRIPT = "lua"
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{40}|\b[a-z]+_[0-9a-z]{16}|\d{6,}[.\d]*")


@dataclass(frozen=True, slots=True)
class Traffic:
    """Commands sent to Redis, and `inside` its scripts."""

    idle: float
    """Per second, of an idle process."""

    question: int
    """For one question with two tools, without those that an idle process sends, too."""

    inside: int
    """Called by scripts for the same question."""


async def traffic(*, idle_seconds: float = 10, questions: int = 3, show: bool = False) -> Traffic:
    """Ask the bot one question at a time, and count what all of them cause; with `show`, print that."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bot.toml").write_text("[catch_up]\nevery_minutes = 0\n")
        async with (
            embedded_redis(None) as url,
            Workspace.open() as ws,
            ResponsesServer.open(brain=_two_tools) as api,
        ):
            settings = environment(ws, api, folder, redis_url=url, port="0")
            async with started("serve", settings, folder / "log"):
                deployment = Deployment(ws, api)
                for _ in range(2):  # scripts are loaded, caches are warm
                    await _ask(deployment)
                async with _monitored(url) as heard:
                    await asyncio.sleep(idle_seconds)
                idle = len(_sent(heard)) / idle_seconds
                polling = _kinds(heard)
                every = [await _of_one(deployment, url) for _ in range(questions)]
    caused = reduce(and_, every)  # what comes now and then is not in all of them
    for kind in polling:
        del caused[kind]
    if show:
        for (sender, command), count in caused.most_common():
            sys.stdout.write(f"{sender:6} {count:4} {command}\n")
    sent = sum(count for (sender, _), count in caused.items() if sender != _SCRIPT)
    return Traffic(idle, sent, caused.total() - sent)


def _two_tools(request: ModelRequest) -> Reply:
    if request.input[-1].get("type") == "function_call_output":
        return finish(answer("Two and four."))
    return calls(("calculate", {"expression": "1+1"}), ("calculate", {"expression": "2+2"}))


async def _ask(deployment: Deployment) -> None:
    ts = await deployment.ask(ADA, _CHANNEL, "How many are one and one, and two and two?")
    await deployment.answered(_CHANNEL, ts)
    await asyncio.sleep(_SETTLE_SECONDS)


async def _of_one(deployment: Deployment, url: str) -> Counter[tuple[str, str]]:
    """Ask once. Return what Redis did meanwhile."""
    async with _monitored(url) as heard:
        await _ask(deployment)
    return _kinds(heard)


@asynccontextmanager
async def _monitored(url: str) -> AsyncGenerator[list[dict[str, Any]]]:
    """Hear every command of the time inside the context."""
    heard: list[dict[str, Any]] = []

    async def listen() -> None:
        async for line in monitor.listen():
            heard.append(line)

    async with (
        Redis.from_url(url) as redis,
        redis.monitor() as monitor,
        alongside(listen(), name="monitor"),
    ):
        yield heard


def _sent(heard: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each for each in heard if each["client_type"] != _SCRIPT]


def _kinds(heard: list[dict[str, Any]]) -> Counter[tuple[str, str]]:
    """Count commands by who sent them, a script or a client, and by their names and first keys."""
    named = ((each["client_type"], _ID.sub("#", each["command"]).split()) for each in heard)
    return Counter(
        (sender, f"{name} {next((word for word in words if word.startswith('bot:')), '')}")
        for sender, (name, *words) in named
    )


if __name__ == "__main__":
    sys.stdout.write(f"{asyncio.run(traffic(show=True))}\n")
