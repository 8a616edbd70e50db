"""One isolated process, seen from its parent: started, given jobs, watched, killed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import stat
import sys
from collections.abc import AsyncGenerator, Generator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from bot.library.isolated import Busy, ComputingTimeout, ProcessLost, Refused, wire
from bot.library.isolated.process_group import process_group
from bot.library.isolated.scratch import foreign_scratch_folder

_LOOK_SECONDS = 0.25
_BLOCK = 512  # bytes, the unit of st_blocks


@dataclass(frozen=True)
class UsageLimits:
    """What a process may use: `folder` in bytes on disk, deleted files that it holds open included."""

    folder: int = 500_000_000
    files: int = 2_000
    threads: int = 64


class Usage:
    """A process with its folder. What the bot itself writes there is not counted."""

    def __init__(self, pid: int, folder: Path, limits: UsageLimits) -> None:
        self._pid = pid
        self._folder = folder
        self._limits = limits
        self._sizes: dict[str, int] = {}

    def exclude(self, name: str, size: int) -> None:
        """Leave out the first `size` bytes of a file that the bot has written."""
        self._sizes[name] = size

    async def wait_until_exceeded(self) -> None:
        """Return as soon as the process uses more than it may."""
        while not await asyncio.to_thread(self._is_exceeded):  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(_LOOK_SECONDS)

    def _is_exceeded(self) -> bool:
        tasks = Path(f"/proc/{self._pid}/task")
        with contextlib.suppress(OSError):  # not on macOS
            # A directory of tasks has a link for each, and two more.
            if tasks.stat().st_nlink - 2 > self._limits.threads:
                return True
        most_files = self._limits.files + len(self._sizes)
        size, files = -sum(self._sizes.values()), 0
        try:
            for info in self._files():
                files += 1
                size += info.st_blocks * _BLOCK
                if files > most_files or size > self._limits.folder:
                    return True
        except OSError:
            # A path is too long, or a folder cannot be listed: no job does this.
            return True
        return False

    def _files(self) -> Iterator[os.stat_result]:
        """Yield every file and folder, and each deleted file that is open."""
        waiting = [self._folder]
        while waiting:
            with contextlib.suppress(FileNotFoundError), os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    with contextlib.suppress(FileNotFoundError):  # it has just been removed
                        info = entry.stat(follow_symlinks=False)
                        if stat.S_ISDIR(info.st_mode):
                            waiting.append(Path(entry.path))
                        yield info
        opened = Path(f"/proc/{self._pid}/fd")
        with contextlib.suppress(OSError):  # not on macOS, or it has just ended
            for descriptor in opened.iterdir():
                with contextlib.suppress(OSError):  # it has just been closed
                    info = descriptor.stat()
                    if stat.S_ISREG(info.st_mode) and info.st_nlink == 0:
                        yield info


log = logging.getLogger(__name__)

_MAX_READ = 64_000_000
_GRACE = 1.0
"""Seconds after the parent's own timeout until the kernel's alarm, in case the parent is too busy."""

_CODE = Path(__file__).parents[__name__.count(".")]
"""The folder with the package of this module."""

_THRIFTY = {"MALLOC_ARENA_MAX": "2", "OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
"""Settings of libraries: each arena and thread reserves much of the limited address space."""

_START_SECONDS = 60.0


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


@dataclass(frozen=True)
class Reach:
    """What a process may use besides its own folder: the folder `data`, the files `readable`, and the
    `network`. `environment` are variables beside the few that each process gets."""

    network: bool = False
    data: Path | None = None
    readable: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()


DEFAULT_LIMITS, OWN_FOLDER = IsolatedLimits(), Reach()


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
        """Run a job, a function of the module that the process was started for, and return its result.

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
        remaining = self._limits.reply
        try:
            self._requests.write(message)
            await self._requests.drain()
            while True:
                header = await self._replies.readexactly(wire.HEADER.size)
                [length] = wire.HEADER.unpack(header)
                remaining -= length
                if length > wire.MAX_FRAME or remaining < 0:
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
            raise await self._why_it_ended() from None
        except ValueError:
            raise ProcessLost("its reply is no message") from None

    async def _why_it_ended(self) -> Exception:
        code = await self._process.wait()
        match -code:
            case signal.SIGXCPU:
                return ComputingTimeout()
            case signal.SIGALRM:
                return TimeoutError()
            case _:
                return ProcessLost(f"it ended with {code}")


@asynccontextmanager
async def started(
    jobs: str, limits: IsolatedLimits, reach: Reach
) -> AsyncGenerator[IsolatedProcess]:
    """Start a process that runs the functions of the module `jobs`, and kill it on exit. Raises Busy
    when it does not answer in time."""
    options = {
        "jobs": jobs,
        "memory": limits.memory,
        "output": limits.output,
        "network": reach.network,
        "data": str(reach.data) if reach.data else None,
        "readable": reach.readable,
        "parent": os.getpid(),
    }
    command = (sys.executable, "-P", "-s", "-m", __package__, json.dumps(options))
    async with foreign_scratch_folder("job-") as path:
        env = {"PYTHONPATH": str(_CODE), "LANG": "C.UTF-8", "HOME": str(path), **_THRIFTY}
        env |= dict(reach.environment)
        pipe = asyncio.subprocess.PIPE
        async with process_group(command, cwd=path, env=env, stdin=pipe, stdout=pipe) as child:
            process = IsolatedProcess(child, path, limits)
            watching = asyncio.create_task(process.end_when_too_much_is_used())
            try:
                try:
                    await process.wait_until_ready(_START_SECONDS)
                except TimeoutError:
                    raise Busy(
                        "This machine is too busy to begin with it. Try again in a minute."
                    ) from None
                yield process
            finally:
                watching.cancel()
