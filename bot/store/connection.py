"""The connection to Redis: one line for commands, a client for pub/sub, and one retry policy."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import sha1, sha256
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, PositiveInt
from redis import exceptions
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.driver_info import DriverInfo

from bot.core.errors import LeaseLost, StoreUnavailable
from bot.store.line import Line, open_line
from bot.store.pools import open_pool

PREFIX = "bot:v1"
QUARANTINE = "bot:quarantine:v1"

CONNECT_SECONDS = 5.0
COMMAND_SECONDS = 10.0  # for one attempt, including the opening of a line
PATIENCE_SECONDS = 1.0  # of silence, after which whoever gives up takes the line for broken
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


class Connection:
    """A connection to Redis for commands, transactions and scripts. Replies are bytes.

    All of them must be idempotent: after a lost connection they are sent again, a few times, here
    and nowhere else (the client's own retries are off).

    All methods raise StoreUnavailable when Redis cannot be reached or accepts no writes, LeaseLost
    when a fenced script refuses, and redis's ResponseError for an invalid command.
    """

    def __init__(self, client: Redis) -> None:
        """Use the settings of redis-py's `client`, which listens to channels itself."""
        self.listening = client
        self._decoders = dict(client.response_callbacks)
        self._line: Line | None = None
        self._opening = asyncio.Lock()
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
        (reply,) = await self._ask(command)
        return self._decoded(command, reply)

    async def now(self) -> float:
        """Return the time by Redis's clock, in seconds since the epoch."""
        seconds, microseconds = await self.call("TIME")
        return float(seconds + microseconds / 1_000_000)

    async def together(self, *commands: Sequence[Any], seconds: float | None = None) -> list[Any]:
        """Run idempotent `commands` in one transaction, for up to `seconds`. Return their replies."""
        if len(commands) == 1:
            return [await self.call(*commands[0])]
        *_, replies = await self._ask(("MULTI",), *commands, ("EXEC",), seconds=seconds)
        _raise_errors(replies)
        return [self._decoded(*each) for each in zip(commands, replies, strict=True)]

    async def script(self, name: str, keys: Sequence[str], *args: Any) -> Any:
        """Run the script `<name>.lua`, which a server that was restarted has to be told first."""
        lua = self._scripts[name]
        command = ("EVALSHA", lua.sha, len(keys), *keys, *args)
        try:
            (reply,) = await self._ask(command)
        except exceptions.NoScriptError:
            _, reply = await self._ask(("SCRIPT", "LOAD", lua.text), command)
        return reply

    async def aclose(self) -> None:
        """Close the line."""
        if self._line:
            self._line.close()

    def _decoded(self, command: Sequence[Any], reply: Any) -> Any:
        """Return a reply as redis-py returns it."""
        decoder = self._decoders.get(command[0])
        return decoder(reply) if decoder else reply

    async def _ask(self, *commands: Sequence[Any], seconds: float | None = None) -> list[Any]:
        """Send idempotent commands in one go, again after a lost connection. Return their replies."""
        for pause in (*BACKOFF, None):
            try:
                return await self._ask_once(commands, seconds or COMMAND_SECONDS)
            except StoreUnavailable:
                if pause is None:
                    raise
                await asyncio.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    async def _ask_once(self, commands: Sequence[Sequence[Any]], seconds: float) -> list[Any]:
        line, clock = self._line, asyncio.get_running_loop().time
        began = clock()
        due = began + seconds
        try:
            if line is None or not line.is_open:
                line = await self._open_line(due)
            # The line watches when replies are due, with one timer for all of them.
            replies = [await reply for reply in line.send(commands, due)]
            _raise_errors(replies)
        except (exceptions.ConnectionError, exceptions.TimeoutError, TimeoutError) as error:
            raise StoreUnavailable("Redis cannot be reached.") from error
        except asyncio.CancelledError:  # perhaps because nothing came: others shall not wait, too
            patient = clock() - PATIENCE_SECONDS
            if line and began < patient and line.is_silent(patient):
                line.close()
            raise
        except (exceptions.ReadOnlyError, exceptions.OutOfMemoryError) as error:
            if line and isinstance(error, exceptions.ReadOnlyError):
                line.close()  # the next one leads to what is the primary now
            raise StoreUnavailable("Redis accepts no writes.") from error
        except exceptions.ResponseError as error:
            if str(error).startswith("LEASELOST"):
                raise LeaseLost("Another run holds this thread.") from None
            if str(error).startswith(_REFUSALS):
                raise StoreUnavailable("Redis accepts no writes.") from error
            raise
        return replies

    async def _open_line(self, due: float) -> Line:
        async with asyncio.timeout_at(due), self._opening:
            if self._line is None or not self._line.is_open:
                self._line = await open_line(self.listening.connection_pool)
            return self._line


def _raise_errors(replies: Sequence[Any]) -> None:
    """Raise the first error among replies."""
    for reply in replies:
        if isinstance(reply, Exception):
            raise reply


@asynccontextmanager
async def connect(url: str) -> AsyncGenerator[Connection]:
    """Open the connection to `url` (see `bot.store.pools`), which connects when it is first used.

    Raises ConfigurationError for an invalid `url`.
    """
    pool = open_pool(
        url,
        socket_connect_timeout=CONNECT_SECONDS,
        socket_timeout=None,
        retry=Retry(NoBackoff(), 0),
        health_check_interval=30,
        driver_info=_DRIVER,
    )
    client = Redis.from_pool(pool)
    connection = Connection(client)
    try:
        yield connection
    finally:
        await connection.aclose()
        await client.aclose()
        await pool.aclose()
