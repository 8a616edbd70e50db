"""A deployment as real as it gets here: a web process and two workers, a Redis server, stand-ins.

Each process reaches Redis, Slack and the model through a line that can lose replies, and is started
again when it dies, as a host would.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.dev.model import ResponsesServer
from bot.dev.workspace import Workspace
from bot.store.embedded import embedded_redis
from tests.faults.processes import environment, started
from tests.support.commands import Command, start
from tests.support.deployment import Deployment
from tests.support.proxy import Proxy

COMMANDS = {"web": "web", "worker 1": "worker", "worker 2": "worker"}
RETRIES = (0.3, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds between Slack's deliveries of an event: its own are a minute and five."""


IN_TIME = (
    4.0  # seconds until a process is ready, so that one that is killed now and then gets to work
)


@dataclass(frozen=True)
class Life:
    """A process that ended: what it logged, when it ended (HH:MM:SS, as its log has it), and its code."""

    name: str
    log: str
    ended_at: str
    code: int | None


@dataclass
class Fleet:
    """What runs. `redis_url` is the server's own address, `redis` the line to it; `orders` is the
    directory of the failpoints; `lives` are the processes that ended."""

    bot: Deployment
    redis_url: str
    redis: Proxy
    slack: Proxy
    model: Proxy
    orders: Path
    logs: Path
    lives: list[Life] = field(default_factory=list)
    pace: float = 1.0
    """How many times as long as `IN_TIME` processes took to be ready of late, 1 for less: what is to
    be waited for takes as much longer on a busy machine."""
    processes: dict[str, Command] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    _keeping: list[asyncio.Task[None]] = field(default_factory=list)

    @property
    def ws(self) -> Workspace:
        return self.bot.ws

    @property
    def up(self) -> bool:
        """Whether all processes are ready."""
        running = [each for each in self.processes.values() if each.returncode is None]
        return len(running) == len(COMMANDS)

    @property
    def deaths(self) -> int:
        """How many processes ended."""
        return len(self.lives)

    def order(self, failpoint: str, action: str) -> Path:
        """Have the first process that comes by the failpoint do so; returns the mark of its doing."""
        (self.orders / failpoint).write_text(action, "utf-8")
        return self.orders / f"{failpoint}.taken"

    def withdraw(self) -> None:
        """No more orders."""
        for order in self.orders.iterdir():
            order.unlink(missing_ok=True)

    def signal(self, name: str, what: signal.Signals) -> None:
        """Send a signal to one of `COMMANDS`, if it runs."""
        process = self.processes.get(name)
        if process and process.returncode is None:
            process.send_signal(what)

    async def start(self) -> None:
        """Start all processes, each again whenever it ends; returns once all are ready."""
        self._keeping = [asyncio.create_task(self._keep_up(name)) for name in COMMANDS]
        await self.ws.until(lambda: self.up, 90)

    async def stop(self) -> None:
        """Kill all processes, for good until `start`."""
        for task in self._keeping:
            task.cancel()
        await asyncio.gather(*self._keeping, return_exceptions=True)
        self.processes.clear()

    async def command(self, *arguments: str) -> int:
        """Run `bot <arguments>` beside the processes, with their settings; returns its code."""
        log = self.logs / arguments[0]
        process = start(
            *arguments,
            environment={"PATH": os.environ["PATH"], **self.settings, "BOT_FAILPOINTS": ""},
            folder=self.logs,
            out=log,
            err=log,
        )
        return await process.wait()

    async def _keep_up(self, name: str) -> None:
        """Start the process again whenever it ends. Its requests to the model carry its name."""
        settings, log = self.settings | {"OPENAI_ORG_ID": name}, self.logs / name
        while True:
            said, began, code = log.stat().st_size if log.exists() else 0, time.monotonic(), None
            try:
                async with started(COMMANDS[name], settings, log) as process:
                    took = (time.monotonic() - began) / IN_TIME
                    self.pace = max(1.0, took, 0.8 * self.pace)
                    self.processes[name] = process
                    code = await process.wait()
            except RuntimeError:  # died while it started
                await asyncio.sleep(0.1)
            self.processes.pop(name, None)
            text = log.read_bytes()[said:].decode("utf-8", "replace")
            self.lives.append(Life(name, text, time.strftime("%H:%M:%S"), code))


@asynccontextmanager
async def fleet(brain: Callable[..., Any], folder: Path) -> AsyncGenerator[Fleet]:
    """A fleet that answers with what `brain` decides; yields once all of it is up."""
    orders = folder / "orders"
    orders.mkdir()
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(embedded_redis(None))
        ws = await stack.enter_async_context(Workspace.open())
        api = await stack.enter_async_context(ResponsesServer.open(brain=brain))
        ws.delivery.ack_timeout, ws.delivery.retry_delays = 1.5, RETRIES
        redis, slack, model = [
            await stack.enter_async_context(Proxy.open(each)) for each in (url, ws.api_url, api.url)
        ]
        settings = environment(
            ws,
            api,
            folder,
            redis_url=redis.url,
            slack_api_url=slack.url,
            openai_base_url=model.url,
            bot_failpoints=str(orders),
            port="0",
        )
        running = Fleet(
            Deployment(ws, api), url, redis, slack, model, orders, folder, settings=settings
        )
        stack.push_async_callback(running.stop)
        await running.start()
        yield running
