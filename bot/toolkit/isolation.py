"""Processes for work on other people's data: bounded by the operating system, killed on Stop, on
timeout and with the bot, and never shared between two runs or two people.

    async with isolated("bot.isolated.tables") as process:
        rows = await process.call("rows", sql="SELECT 1")
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import bot
from bot.core.context import current_request
from bot.isolated import Refused, wire
from bot.toolkit.processes import process_group

_MOST_IDLE = 8
"""Idle processes kept in the whole bot; the one idle for longest makes room."""

_MOST_REPLY = 256_000_000
_GRACE = 1.0
"""Seconds by which the kernel's alarm follows the bot's own timeout, for when the bot is busy."""


class ProcessLost(Exception):
    """The process ended before its job did: it needed more memory than is allowed, or crashed."""


@dataclass(frozen=True)
class IsolatedLimits:
    """`memory` of the process and `output`, the largest file it may write, in bytes; for each job
    `cpu` seconds of computing and `seconds` by the clock."""

    memory: int = 2**30
    output: int = 2**29
    cpu: float = 60.0
    seconds: float = 20.0


class IsolatedProcess:
    """A process that does one job at a time in a folder of its own."""

    def __init__(
        self, process: asyncio.subprocess.Process, folder: Path, limits: IsolatedLimits
    ) -> None:
        self._process = process
        self._requests = cast(asyncio.StreamWriter, process.stdin)
        self._replies = cast(asyncio.StreamReader, process.stdout)
        self._limits = limits
        self.folder = folder
        self.is_sound = True

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process.returncode is None

    async def call(self, job: str, **arguments: Any) -> Any:
        """Return what the job returns. Raises Refused with the job's sentence, TimeoutError when its
        time is up, ProcessLost when the process died; after the last two, and when the call is
        cancelled, the process is not used again."""
        seconds = self._limits.seconds
        request = {
            "job": job,
            "arguments": arguments,
            "cpu": self._limits.cpu,
            "seconds": seconds + _GRACE,
        }
        message = await asyncio.to_thread(wire.pack, request)
        was_sound, self.is_sound = self.is_sound, False
        if not was_sound:
            raise ProcessLost("the process is busy or has ended")
        async with asyncio.timeout(seconds):
            reply = await self._exchanged(message)
        if "exhausted" in reply:
            raise ProcessLost("out of memory")
        self.is_sound = True
        if "refused" in reply:
            raise Refused(reply["refused"])
        if "broken" in reply:
            raise RuntimeError(f"the job {job} broke: {reply['broken']}")
        return reply["value"]

    def read(self, name: str) -> bytes:
        """Return a file that a job wrote. Raises OSError for anything but a plain file: a process
        that was taken over could have left a link to one of the host's."""
        with os.fdopen(os.open(self.folder / name, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError(f"{name} is not a plain file")
            return file.read()

    async def _exchanged(self, message: bytes) -> Mapping[str, Any]:
        try:
            self._requests.write(message)
            await self._requests.drain()
            header = await self._replies.readexactly(wire.HEADER.size)
            [length] = wire.HEADER.unpack(header)
            if length > _MOST_REPLY:
                raise ProcessLost("its reply is too large")
            body = await self._replies.readexactly(length)
        except (asyncio.IncompleteReadError, ConnectionError):
            ended = await self._process.wait()
            if -ended in {signal.SIGXCPU, signal.SIGALRM}:
                raise TimeoutError from None
            raise ProcessLost(f"it ended with {ended}") from None
        reply: Mapping[str, Any] = await asyncio.to_thread(wire.unpack, body)
        return reply


@dataclass(frozen=True)
class _Idle:
    """A process that waits for the next job of the same run and person."""

    run: _Run
    key: tuple[object, ...]
    process: IsolatedProcess
    ending: AsyncExitStack


class _Run:
    """What processes of one run have in common: they end with it."""


_run: ContextVar[_Run | None] = ContextVar("isolated_run", default=None)
_idle: list[_Idle] = []


@asynccontextmanager
async def warm_processes() -> AsyncGenerator[None]:
    """Keep isolated processes between calls until the body, one run, ends."""
    run = _Run()
    token = _run.set(run)
    try:
        yield
    finally:
        _run.reset(token)
        for each in [each for each in _idle if each.run is run]:
            await _end(each)


@asynccontextmanager
async def isolated(
    jobs: str, limits: IsolatedLimits = IsolatedLimits(), *, network: bool = False
) -> AsyncGenerator[IsolatedProcess]:
    """Lend a process that does the functions of the module `jobs`: one that this run and person
    left idle, or a new one. It is killed on the way out unless it may be used again."""
    run = _run.get()
    person = (current_request().team, current_request().user) if run else None
    key = (jobs, limits, network, person)
    for idle in _idle:
        if idle.run is run and idle.key == key and idle.process.is_running:
            _idle.remove(idle)
            process, ending = idle.process, idle.ending
            break
    else:
        ending = AsyncExitStack()
        process = await ending.enter_async_context(_started(jobs, limits, network))
    try:
        yield process
    finally:
        if run is not None and process.is_sound:
            _idle.append(_Idle(run, key, process, ending))
            if len(_idle) > _MOST_IDLE:
                await _end(_idle[0])
        else:
            await ending.aclose()


async def _end(idle: _Idle) -> None:
    _idle.remove(idle)
    await idle.ending.aclose()


@asynccontextmanager
async def _started(
    jobs: str, limits: IsolatedLimits, network: bool
) -> AsyncGenerator[IsolatedProcess]:
    options = {
        "jobs": jobs,
        "memory": limits.memory,
        "output": limits.output,
        "network": network,
        "parent": os.getpid(),
    }
    command = (sys.executable, "-P", "-s", "-m", "bot.isolated", json.dumps(options))
    with tempfile.TemporaryDirectory(prefix="bot-job-", ignore_cleanup_errors=True) as folder:
        path = Path(folder)
        pipe = asyncio.subprocess.PIPE
        env = _environment(path, network=network)
        async with process_group(command, cwd=path, env=env, stdin=pipe, stdout=pipe) as process:
            yield IsolatedProcess(process, path, limits)


def _environment(folder: Path, *, network: bool) -> dict[str, str]:
    """Return what the process may know of this one: where its code is, and none of its secrets.
    One that talks to a database gets the settings that its client reads (PGSSLROOTCERT …)."""
    code = str(Path(bot.__file__).parents[1])
    given = {name: value for name, value in os.environ.items() if name.startswith("PG")}
    home = os.environ.get("HOME", str(folder)) if network else str(folder)
    # Each arena of glibc reserves 64 MB of the address space that is limited.
    fixed = {"PYTHONPATH": code, "LANG": "C.UTF-8", "HOME": home, "MALLOC_ARENA_MAX": "2"}
    return {**given, **fixed} if network else fixed
