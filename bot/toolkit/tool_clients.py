"""Clients of tools: opened once per worker by their providers, closed when the worker ends.

They open beside the start of the bot. A client that cannot be opened is one error in the log; its
tools are off, and the worker tries again.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from bot.core.background import alongside
from bot.text.redaction import redacted
from bot.toolkit.provider import Provider
from bot.toolkit.running import ToolCrashed
from bot.toolkit.tool import Tool

log = logging.getLogger(__name__)

SECONDS = 10.0
"""How long a provider may take to open its client, and to close it."""

_GRACE = 1.0  # seconds that a cancelled provider gets to clean up
_FIRST_PAUSE, _LONGEST_PAUSE = 5.0, 600.0  # seconds between attempts to open a client
_LONGEST_REASON = 300


@dataclass(frozen=True, slots=True)
class BoundProvider:
    """A provider with its arguments from the settings.

    `off` says why it is switched off, if it is.
    """

    provider: Provider[Any]
    arguments: dict[str, Any] = field(default_factory=dict, repr=False)
    off: str = ""


class ToolClients:
    """The clients of one worker.

    `open` are those that tools may use now, by type. `problems` says why others are not open, and
    after the end why one did not close.
    """

    def __init__(self, bound: Sequence[BoundProvider]) -> None:
        self.open: dict[type, object] = {}
        self.problems: dict[type, str] = {}
        self._closing: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._ended = asyncio.Event()
        self._clients = [_Client(each, self, self._closing) for each in bound if not each.off]

    async def settle(self) -> None:
        """Wait until each provider has opened its client or failed once."""
        for each in self._clients:
            await each.tried.wait()

    def missing(self, tools: Iterable[Tool]) -> tuple[str, ...]:
        """Return the groups of `tools` that are off because a client is not open."""
        kinds = self.problems.keys() - self.open.keys()
        return tuple(sorted({each.group for each in tools if kinds & {*each.services.values()}}))

    async def keep_open(self) -> None:
        """Open all clients, and again those that fail or end, until `close` is called."""
        try:
            async with asyncio.TaskGroup() as tasks:
                for each in self._clients:
                    tasks.create_task(each.keep_open(), name=f"client of {each.name}")
        finally:
            self._ended.set()

    async def close(self) -> None:
        """Close all clients at once. Each has ten seconds."""
        self._closing.set_result(None)
        await self._ended.wait()


class _Client:
    """The client of one provider.

    The provider runs in a task of its own, from the opening of the client to the end of its
    closing: many libraries demand that both happen in one task.
    """

    def __init__(
        self, bound: BoundProvider, clients: ToolClients, closing: asyncio.Future[None]
    ) -> None:
        self.tried = asyncio.Event()
        self.name = f"{bound.provider.name} ({bound.provider.place})"
        self._bound = bound
        self._type = bound.provider.provides
        self._clients = clients
        self._closing = closing

    async def keep_open(self) -> None:
        """Open the client until it is closed on purpose; wait ever longer between attempts."""
        pause = _FIRST_PAUSE
        while not self._closing.done() and await self._open_once():
            await _first_of(self._closing, seconds=pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def _open_once(self) -> bool:
        """Open the client and keep it until its end. Return whether another attempt makes sense."""
        opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._run(opened), name=f"provider {self.name}")
        try:
            await _first_of(task, opened, self._closing, seconds=SECONDS)
            if not opened.done():
                if not self._closing.done():
                    await self._settle(task, "open")
                return await _cancelled(task)
            self.tried.set()
            await _first_of(task, self._closing)
            self._clients.open.pop(self._type, None)
            if self._closing.done():
                await _first_of(task, seconds=SECONDS)
                await self._settle(task, "close")
            else:
                await self._settle(task, "keep")
            return await _cancelled(task)
        finally:
            self.tried.set()
            self._clients.open.pop(self._type, None)
            task.cancel()

    async def _run(self, opened: asyncio.Future[None]) -> None:
        try:
            async with self._bound.provider.opened(**self._bound.arguments) as client:
                if self._clients.problems.pop(self._type, None):
                    log.warning("Provider %s has opened its client now", self.name)
                self._clients.open[self._type] = client
                opened.set_result(None)
                await asyncio.shield(self._closing)
        except (SystemExit, KeyboardInterrupt) as error:  # would end the worker
            raise ToolCrashed(f"it raised {type(error).__name__}") from error

    async def _settle(self, task: asyncio.Task[None], doing: str) -> None:
        """Record why a provider's task failed, or that it did not end in time."""
        if not task.done():
            self._record(f"did not {doing} its client within {SECONDS:g} s")
        elif task.cancelled():
            self._record(f"could not {doing} its client: it cancelled its own task")
        elif error := task.exception():
            self._record(f"could not {doing} its client: {self._described(error)}")

    def _record(self, problem: str) -> None:
        """Keep a problem for `bot doctor`, and log it unless it is the same as before."""
        if self._clients.problems.get(self._type) != problem:
            loss = "" if self._closing.done() else "; its tools are off"
            log.error("Provider %s %s%s", self.name, problem, loss)
        self._clients.problems[self._type] = problem

    def _described(self, error: BaseException) -> str:
        """Return one line about an error, with the line of the provider's file that it is from."""
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        file = self._bound.provider.function.__code__.co_filename
        frames = traceback.extract_tb(error.__traceback__)
        lines = [each.lineno for each in frames if each.filename == file]
        text = " ".join(f"{type(error).__name__}: {error}".split())
        return redacted(text)[:_LONGEST_REASON] + (f" (line {lines[-1]})" if lines else "")


async def _first_of(*waited: asyncio.Future[None], seconds: float | None = None) -> None:
    """Wait until one of these is done, or for `seconds`."""
    await asyncio.wait(waited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)


async def _cancelled(task: asyncio.Task[None]) -> bool:
    """Cancel the task unless it has ended. Return whether it has ended within a second."""
    if not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=_GRACE)
    if not task.done():
        log.error("%s goes on although it was cancelled", task.get_name())
    return task.done()


@asynccontextmanager
async def open_tool_clients(bound: Sequence[BoundProvider]) -> AsyncGenerator[ToolClients]:
    """Open the clients beside the body; close them at its end, also when it is cancelled."""
    clients = ToolClients(bound)
    async with alongside(clients.keep_open(), name="tool clients"):
        try:
            yield clients
        finally:
            await clients.close()
