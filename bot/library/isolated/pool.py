"""Isolated processes for work on untrusted data: limited by the operating system, killed on Stop, on
timeout and with the bot, and never shared between two runs or two people.

    async with isolated("bot.library.interpreters.tables") as process:
        rows = await process.call("rows", sql="SELECT 1")
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import stat
import sys
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import bot
from bot.core.context import current_request
from bot.core.errors import ToolError
from bot.library.isolated import Refused, wire
from bot.library.isolated.process_group import process_group
from bot.library.isolated.scratch import foreign_scratch_folder
from bot.library.isolated.slots import Slots, slots_for
from bot.library.isolated.usage import Usage, UsageLimits

log = logging.getLogger(__name__)

_SLOTS = Slots(total=slots_for(bytes_each=2**30), per_person=3)
"""Limit for isolated processes that work at the same time, of any kind."""

_MAX_IDLE = 8
"""Idle processes kept in the whole bot; the one that is idle for longest is ended first."""

_MAX_READ = 64_000_000
_GRACE = 1.0
"""Seconds after the bot's own timeout until the kernel's alarm, in case the bot is too busy."""

_THRIFTY = {"MALLOC_ARENA_MAX": "2", "OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
"""Settings of libraries: each arena and thread reserves much of the limited address space."""

_POSTGRES_FILES = (
    *("PGPASSFILE", "PGSERVICEFILE", "PGSYSCONFDIR"),
    *("PGSSLCERT", "PGSSLKEY", "PGSSLROOTCERT", "PGSSLCRL", "PGSSLCRLDIR"),
)
"""Settings of PostgreSQL's client that name files."""

_START_SECONDS = 60.0
_READY_SECONDS = 2.0
"""Seconds in which a new process and an idle one must answer."""


class ProcessLost(Exception):
    """The process ended before its job did: it needed more memory than is allowed, or crashed."""


class ComputingTimeout(TimeoutError):
    """The job took more CPU time than it may."""


@dataclass(frozen=True)
class IsolatedLimits:
    """Limits of a process in bytes: `memory`, and `output` for the largest file it may write; of each
    job in seconds: `cpu` time, and `seconds` by the clock; and of each reply in bytes."""

    memory: int = 2**30
    output: int = 2**29
    cpu: float = 60.0
    seconds: float = 20.0
    reply: int = 4_000_000
    usage: UsageLimits = field(default_factory=UsageLimits)


class IsolatedProcess:
    """A process that does one job at a time in a folder of its own."""

    def __init__(
        self, process: asyncio.subprocess.Process, folder: Path, limits: IsolatedLimits
    ) -> None:
        self._process = process
        self._requests = cast(asyncio.StreamWriter, process.stdin)
        self._replies = cast(asyncio.StreamReader, process.stdout)
        self._limits = limits
        self._usage = Usage(process.pid, folder, limits.usage)
        self.folder = folder
        self.is_reusable = True

    @property
    def pid(self) -> int:
        return self._process.pid

    async def wait_until_ready(self, seconds: float) -> None:
        """Wait until the process accepts jobs. Raises TimeoutError or ProcessLost when it does not."""
        async with asyncio.timeout(seconds):
            await self._exchange(wire.pack(None))

    async def call(self, job: str, **arguments: Any) -> Any:
        """Run a job and return its result.

        Raises Refused with the job's reason, TimeoutError when its time is up, ProcessLost when the
        process died. After the last two, and after a cancelled call, the process is not used again.
        """
        seconds = self._limits.seconds
        request = {
            "job": job,
            "arguments": arguments,
            "cpu": self._limits.cpu,
            "seconds": seconds + _GRACE,
        }
        message = await asyncio.to_thread(wire.pack, request)
        was_reusable, self.is_reusable = self.is_reusable, False
        if not was_reusable:
            raise ProcessLost("the process is busy or has ended")
        async with asyncio.timeout(seconds):
            reply = await self._exchange(message)
        self.is_reusable = not reply.keys().isdisjoint(("value", "refused", "broken"))
        match reply:
            case {"value": value}:
                return value
            case {"refused": why}:
                raise Refused(why)
            case {"broken": where}:
                raise RuntimeError(f"the job {job} broke: {where}")
            case _:
                raise ProcessLost("out of memory")

    def read(self, name: str, most: int = _MAX_READ) -> bytes:
        """Return a file of the folder that a job wrote. Raises Refused for a file of more than `most`
        bytes, and OSError for anything but a plain file with this one name: a process that was taken
        over could leave a link to a file of the host, or a pipe without a writer."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        with self._opened_folder(name) as folder:
            descriptor = os.open(name, flags, dir_fd=folder)
        with os.fdopen(descriptor, "rb") as file:
            info = os.fstat(file.fileno())
            if not stat.S_ISREG(info.st_mode) or info.st_nlink != 1:
                raise OSError(f"{name} is not a plain file")
            if info.st_size > most:
                raise Refused(f"The result has more than {most:,} bytes: ask for less.")
            return file.read(info.st_size)

    def write(self, name: str, data: bytes) -> None:
        """Write a file into the process's folder, replacing any file of that name."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with self._opened_folder(name) as folder:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
            self._usage.exclude(name, len(data))
            descriptor = os.open(name, flags, 0o600, dir_fd=folder)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)

    async def end_when_too_much_is_used(self) -> None:
        """Kill the process as soon as it has too many files or threads."""
        await self._usage.wait_until_exceeded()
        log.warning("an isolated process was ended: too many files or threads")
        with suppress(ProcessLookupError):
            self._process.kill()

    @contextmanager
    def _opened_folder(self, name: str) -> Generator[int]:
        """Open the folder for access to its file `name`. Raises OSError for a name with folders."""
        if name != Path(name).name:
            raise OSError(f"{name} is no name of a file")
        folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            yield folder
        finally:
            os.close(folder)

    async def _exchange(self, message: bytes) -> Mapping[str, Any]:
        """Send a message and return the reply. Decodes it in pieces, so that the event loop gets its
        turn between two of them."""
        parts = list[object]()
        left = self._limits.reply
        try:
            self._requests.write(message)
            await self._requests.drain()
            while True:
                header = await self._replies.readexactly(wire.HEADER.size)
                [length] = wire.HEADER.unpack(header)
                left -= length
                if length > wire.MAX_FRAME or left < 0:
                    raise ProcessLost("its reply is too large")
                body = await self._replies.readexactly(length)
                match await asyncio.to_thread(wire.unpack, body):
                    case {"part": list(items)}:
                        parts += items
                    case {"parts_of": str(name), "value": dict(value)}:
                        return {"value": {**value, name: parts}}
                    case {"parts_of": "text"} if all(isinstance(part, str) for part in parts):
                        return {"value": "".join(cast(list[str], parts))}
                    case {"parts_of": None}:
                        return {"value": parts}
                    case dict(reply):
                        return reply
                    case _:
                        raise ProcessLost("its reply is no message")
        except (asyncio.IncompleteReadError, ConnectionError):
            ended = await self._process.wait()
            if -ended == signal.SIGXCPU:
                raise ComputingTimeout from None
            if -ended == signal.SIGALRM:
                raise TimeoutError from None
            raise ProcessLost(f"it ended with {ended}") from None
        except ValueError:
            raise ProcessLost("its reply is no message") from None


class _RunScope:
    """A run, at whose end its idle processes end."""

    is_over = False


@dataclass(frozen=True)
class _WarmProcess:
    """A process, the `key` of the calls that may reuse it, and the stack that ends it."""

    run: _RunScope | None
    key: tuple[object, ...]
    process: IsolatedProcess
    on_end: AsyncExitStack


_run: ContextVar[_RunScope | None] = ContextVar("isolated_run", default=None)
_idle: list[_WarmProcess] = []


@asynccontextmanager
async def warm_processes() -> AsyncGenerator[None]:
    """Keep isolated processes warm between the calls of one run, which is the body."""
    run = _RunScope()
    token = _run.set(run)
    try:
        yield
    finally:
        _run.reset(token)
        run.is_over = True
        async with AsyncExitStack() as stack:  # all are ended, even when this is cancelled
            for each in [each for each in _idle if each.run is run]:
                _idle.remove(each)
                stack.push_async_callback(each.on_end.aclose)


@asynccontextmanager
async def isolated(
    jobs: str,
    limits: IsolatedLimits = IsolatedLimits(),
    *,
    network: bool = False,
    data: Path | None = None,
    readable: tuple[str, ...] = (),
    once: bool = False,
) -> AsyncGenerator[IsolatedProcess]:
    """Provide a process that runs the functions of the module `jobs`.

    It is one that this run left idle for the same person, or a new one. On exit it is kept for
    reuse within the run, or killed: always with `once`. Besides its own folder it sees the folder
    `data` and the files `readable`, with `network` also the client files of PostgreSQL. Raises ToolError when too many processes are at work, or the machine is too busy to start
    one.
    """
    run = None if once else _run.get()
    person = (current_request().team, current_request().user) if run else None
    key = (jobs, limits, network, data, readable, person)
    async with _SLOTS.hold():
        warm = run and await _take_idle(run, key)
        if not warm:
            on_end = AsyncExitStack()
            process = await on_end.enter_async_context(
                _start(jobs, limits, network, data, readable)
            )
            warm = _WarmProcess(run, key, process, on_end)
        try:
            yield warm.process
        finally:
            if run is not None and not run.is_over and warm.process.is_reusable:
                _idle.append(warm)
                if len(_idle) > _MAX_IDLE:
                    await _idle.pop(0).on_end.aclose()
            else:
                await warm.on_end.aclose()


async def _take_idle(run: _RunScope, key: tuple[object, ...]) -> _WarmProcess | None:
    """Return an idle process that still answers: the kernel may have killed it to free memory."""
    while idle := next((each for each in _idle if (each.run, each.key) == (run, key)), None):
        _idle.remove(idle)
        async with AsyncExitStack() as unless_it_answers:
            unless_it_answers.push_async_callback(idle.on_end.aclose)
            with suppress(TimeoutError, ProcessLost):
                await idle.process.wait_until_ready(_READY_SECONDS)
                unless_it_answers.pop_all()
                return idle
    return None


@asynccontextmanager
async def _start(
    jobs: str,
    limits: IsolatedLimits,
    network: bool,
    data: Path | None,
    readable: tuple[str, ...],
) -> AsyncGenerator[IsolatedProcess]:
    options = {
        "jobs": jobs,
        "memory": limits.memory,
        "output": limits.output,
        "network": network,
        "data": str(data) if data else None,
        "readable": [*readable, *(_postgres_files() if network else ())],
        "parent": os.getpid(),
    }
    command = (sys.executable, "-P", "-s", "-m", "bot.library.isolated", json.dumps(options))
    async with foreign_scratch_folder("job-") as path:
        pipe = asyncio.subprocess.PIPE
        env = _environment(path, network=network)
        async with process_group(command, cwd=path, env=env, stdin=pipe, stdout=pipe) as started:
            process = IsolatedProcess(started, path, limits)
            watching = asyncio.create_task(process.end_when_too_much_is_used())
            try:
                try:
                    await process.wait_until_ready(_START_SECONDS)
                except TimeoutError:
                    raise ToolError(
                        "This machine is too busy to begin with it. Try again in a minute."
                    ) from None
                yield process
            finally:
                watching.cancel()


def _postgres_files() -> list[str]:
    """Return the files of PostgreSQL's client: of its user, and those that its settings name."""
    home = Path(os.environ.get("HOME", "/"))
    own = [str(home / name) for name in (".pgpass", ".pg_service.conf", ".postgresql")]
    named = [os.environ.get(name, "") for name in _POSTGRES_FILES]
    tickets = f"/tmp/krb5cc_{os.getuid()}"  # noqa: S108 - where Kerberos has them
    return [*own, *filter(os.path.isabs, named), tickets]


def _environment(folder: Path, *, network: bool) -> dict[str, str]:
    """Return the environment of the process: where the code is, and no secrets of the bot. A process
    with `network` also gets the settings of PostgreSQL's client (PGSSLROOTCERT …)."""
    code = str(Path(bot.__file__).parents[1])
    given = {name: value for name, value in os.environ.items() if name.startswith("PG")}
    home = os.environ.get("HOME", str(folder)) if network else str(folder)
    fixed = {"PYTHONPATH": code, "LANG": "C.UTF-8", "HOME": home, **_THRIFTY}
    return {**given, **fixed} if network else fixed
