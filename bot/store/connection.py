"""The connection to Redis: one client for commands, one for pub/sub, and one retry policy."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import sha1, sha256
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ConfigDict, PositiveInt
from redis import exceptions
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.driver_info import DriverInfo

from bot.core.errors import LeaseLost, StoreUnavailable
from bot.store.pools import PoolExhausted, open_pool

T = TypeVar("T")

PREFIX = "bot:v1"
QUARANTINE = "bot:quarantine:v1"

CONNECT_SECONDS = 5.0
COMMAND_SECONDS = 10.0  # for one attempt, including the wait for a connection
WAIT_SECONDS = 7.0  # for a free connection of the pool
FEWEST = 64  # smallest size of the command pool; connections are opened on demand
_DRIVER = DriverInfo()  # created once: it reads the version from the package's files
BACKOFF = (0.05, 0.2, 0.8)  # seconds before the second, third and last attempt

_LUA = {file.stem: file for file in Path(__file__).with_name("lua").rglob("*.lua")}
"""The files of the scripts by name, in one folder for each module that runs them; those that several
modules run are above the folders."""
_SHARED = re.compile(r"^-- With (_\w+)\.lua\.\n", re.MULTILINE)

_REFUSALS = ("MISCONF", "NOREPLICAS", "MASTERDOWN", "OOM", "READONLY")


@dataclass(frozen=True, slots=True)
class Retention:
    """How long things are kept after they were last used."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    thread_days: PositiveInt = 30
    artifact_days: PositiveInt = 7
    request_hours: PositiveInt = 48
    claims_hours: PositiveInt = 48
    settings_days: PositiveInt = 400
    feedback_days: PositiveInt = 180
    audit_days: PositiveInt = 365

    @property
    def thread(self) -> int:
        """Seconds, like the properties below."""
        return self.thread_days * 86_400

    @property
    def artifact(self) -> int:
        return self.artifact_days * 86_400

    @property
    def request(self) -> int:
        return self.request_hours * 3_600

    @property
    def claims(self) -> int:
        return self.claims_hours * 3_600

    @property
    def feedback(self) -> int:
        return self.feedback_days * 86_400

    @property
    def audit(self) -> int:
        return self.audit_days * 86_400

    @property
    def settings(self) -> int:
        return self.settings_days * 86_400


def script(name: str) -> str:
    """Return the text of `<name>.lua`, after the shared functions that its first lines name."""
    text = _LUA[name].read_text("utf-8")
    return "".join(_LUA[shared].read_text("utf-8") for shared in _SHARED.findall(text)) + text


class Script:
    """A script by the hash under which Redis keeps it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.sha = sha1(text.encode(), usedforsecurity=False).hexdigest()


def packed(command: Sequence[Any]) -> bytes:
    """Return a command in Redis's protocol. Raises TypeError for what is no text, bytes or number."""
    parts = [b"*%d\r\n" % len(command)]
    for part in command:
        raw = part.encode() if isinstance(part, str) else _raw(part)
        parts.append(b"$%d\r\n%b\r\n" % (len(raw), raw))
    return b"".join(parts)


def _raw(part: object) -> bytes:
    if isinstance(part, bytes):
        return part
    if isinstance(part, int | float) and not isinstance(part, bool):
        return str(part).encode()
    raise TypeError(f"Redis stores no {type(part).__name__}")


class Connection:
    """A connection to Redis for commands, transactions and scripts. Replies are bytes.

    All of them must be idempotent: after a lost connection they are sent again, a few times, here
    and nowhere else (the client's own retries are off).

    All methods raise StoreUnavailable when Redis cannot be reached or accepts no writes, LeaseLost
    when a fenced script refuses, and redis's ResponseError for an invalid command.
    """

    def __init__(self, commands: Redis, listening: Redis) -> None:
        self.listening = listening
        self._commands = commands
        self._replied_at = float("-inf")  # on the event loop's clock
        names = (name for name in _LUA if not name.startswith("_"))
        self._scripts = {name: Script(script(name)) for name in names}

    def key(self, *parts: str) -> str:
        return ":".join((PREFIX, *parts))

    def nameless_claim(self, claim: str) -> str:
        """Return the anonymous key that replaces `claim` when a person is erased.

        The key of a claim has a channel id, and the id of a direct message identifies a person. The
        hash hides the person, and the message still counts as claimed.
        """
        return self.key("claim", "erased", sha256(claim.encode()).hexdigest())

    async def call(self, *command: Any) -> Any:
        """Run one idempotent command."""
        return await self._retry(lambda: self._send(*command))

    async def now(self) -> float:
        """Return the time by Redis's clock, in seconds since the epoch."""
        seconds, microseconds = await self.call("TIME")
        return float(seconds + microseconds / 1_000_000)

    async def together(
        self, *commands: Sequence[Any], seconds: float = COMMAND_SECONDS
    ) -> list[Any]:
        """Run idempotent `commands` in one transaction, for up to `seconds`. Return their replies."""
        if len(commands) == 1:
            return [await self.call(*commands[0])]

        async def transact() -> list[Any]:
            async with self._commands.pipeline(transaction=True) as pipeline:
                for command in commands:
                    pipeline.execute_command(*command)
                return await pipeline.execute()

        return await self._retry(transact, seconds)

    async def script(self, name: str, keys: Sequence[str], *args: Any) -> Any:
        """Run the script `<name>.lua`."""
        return await self._retry(lambda: self._evaluate(self._scripts[name], keys, args))

    async def _send(self, *command: Any) -> Any:
        """Send a command and return its reply, as `Redis.execute_command` does: that and its packing of
        arguments take as much CPU as all else that a run does with Redis."""
        pool = self._commands.connection_pool
        connection = await pool.get_connection()  # type: ignore[no-untyped-call]  # redis's
        try:
            await connection.send_packed_command(packed(command))
            return await self._commands.parse_response(connection, command[0])
        finally:
            await pool.release(connection)

    async def _evaluate(self, lua: Script, keys: Sequence[str], args: Sequence[Any]) -> Any:
        """Run a script, which a server that was restarted has to be told first."""
        command = ("EVALSHA", lua.sha, len(keys), *keys, *args)
        try:
            return await self._send(*command)
        except exceptions.NoScriptError:
            await self._send("SCRIPT", "LOAD", lua.text)
            return await self._send(*command)

    async def _retry(
        self, attempt: Callable[[], Awaitable[T]], seconds: float = COMMAND_SECONDS
    ) -> T:
        for pause in (*BACKOFF, None):
            try:
                reply = await _once(attempt, seconds)
            except PoolExhausted as exhausted:
                raise self._explained(exhausted) from None  # no retry: it has waited long enough
            except StoreUnavailable:
                if pause is None:
                    raise
                await asyncio.sleep(pause)
            else:
                self._replied_at = asyncio.get_running_loop().time()
                return reply
        raise AssertionError("the last attempt returns or raises")

    def _explained(self, exhausted: PoolExhausted) -> StoreUnavailable:
        """Return an error that says whether Redis is down or this process needs more connections."""
        if asyncio.get_running_loop().time() - self._replied_at > WAIT_SECONDS:
            return StoreUnavailable("Redis cannot be reached.")
        return StoreUnavailable(
            f"All {exhausted.connections} Redis connections of this process are busy: lower "
            "[engine] concurrency, start more workers, or add max_connections=… to REDIS_URL."
        )


async def _once(attempt: Callable[[], Awaitable[T]], seconds: float) -> T:
    try:
        # The client's own timeout would start a task for each command.
        async with asyncio.timeout(seconds):
            return await attempt()
    except (exceptions.ConnectionError, exceptions.TimeoutError, TimeoutError) as error:
        raise StoreUnavailable("Redis cannot be reached.") from error
    except (exceptions.ReadOnlyError, exceptions.OutOfMemoryError) as error:
        raise StoreUnavailable("Redis accepts no writes.") from error
    except exceptions.ResponseError as error:
        if str(error).startswith("LEASELOST"):
            raise LeaseLost("Another run holds this thread.") from None
        if str(error).startswith(_REFUSALS):
            raise StoreUnavailable("Redis accepts no writes.") from error
        raise


@asynccontextmanager
async def connect(url: str, *, concurrency: int = 0) -> AsyncGenerator[Connection]:
    """Open the clients for `url` (see `bot.store.pools`) for `concurrency` runs at once.

    The clients connect when they are first used. Raises ConfigurationError for an invalid `url`.
    """
    most = max(FEWEST, concurrency)  # a run rarely has two commands under way
    async with _client(url, most) as commands, _client(url, 4) as listening:
        yield Connection(commands, listening)


@asynccontextmanager
async def _client(url: str, connections: int) -> AsyncGenerator[Redis]:
    pool = open_pool(
        url,
        max_connections=connections,
        timeout=WAIT_SECONDS,
        socket_connect_timeout=CONNECT_SECONDS,
        socket_timeout=None,
        retry=Retry(NoBackoff(), 0),
        health_check_interval=30,
        driver_info=_DRIVER,
    )
    client = Redis.from_pool(pool)
    try:
        yield client
    finally:
        await client.aclose()
        await pool.aclose()
