"""Transports to MCP servers with limits: a server that floods, sends junk or never stops costs a
connection and nothing else."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import cast

import anyio
import httpx2
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams as Streams
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCRequest, jsonrpc_message_adapter
from pydantic import ValidationError
from typing_extensions import override

from bot.core.errors import ToolError
from bot.library.isolated.process_group import process_group
from bot.text.invisible_text import readable
from bot.text.redaction import redacted

log = logging.getLogger(__name__)

_MAX_MESSAGE = 8 * 2**20  # bytes; pictures and files come in one
_MAX_VALUES = 300_000  # in one message, counted by its commas and brackets
_MAX_UNREQUESTED = 32 * 2**20  # bytes between two of our requests
_MAX_LINES = 10_000  # as above
_CHUNK = 2**16
_RESUME_SECONDS = 1.0  # between two requests for the rest of a response
_LISTEN = "subscriptions/listen"
_LISTEN_SECONDS = 600.0  # in which a server may have no change to tell
_CLOSE_SECONDS = 2.0  # for a server to end once its input is closed
_MAX_STDERR, _MAX_ERROR = 8_000, 300  # bytes that are kept of its errors, and characters shown
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_NETWORK = (
    *_PROXIES,
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
    *("NODE_EXTRA_CA_CERTS", "NPM_CONFIG_REGISTRY", "npm_config_registry"),
    *("PIP_CERT", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"),
    *("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_NATIVE_TLS", "UV_SYSTEM_CERTS"),
)
"""What `npx`, `uvx` and servers need behind a company's proxy, or with its own index of packages."""

statuses: ContextVar[list[int]] = ContextVar("statuses")
"""Collects the HTTP status of responses, in order; the SDK does not expose it."""


class Flood(OSError):
    """The server sent more than the bot asked for."""


class _Allowance:
    """The amount that a server may send until the next request of the bot."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Restore the full amount: the bot has sent a request."""
        self._bytes, self._lines = _MAX_UNREQUESTED, _MAX_LINES

    def spend(self, size: int, lines: int) -> None:
        """Count received bytes and lines. Raises Flood when the amount is used up."""
        self._bytes -= size
        self._lines -= lines
        if self._bytes < 0 or self._lines < 0:
            raise Flood("it sends more than it was asked for")


def _environment() -> dict[str, str]:
    """Return the variables that each server gets: HOME, PATH and the like, and how to reach the
    network. An address with a user or a password in it is left out: servers get no secrets."""
    network = {name: os.environ.get(name, "") for name in _NETWORK}
    network |= {name.lower(): os.environ.get(name.lower(), "") for name in _PROXIES}
    passed = {name: value for name, value in network.items() if value and "@" not in value}
    return get_default_environment() | passed


class LastLine:
    """The last line that a server wrote to its standard error, which says why it ended."""

    def __init__(self) -> None:
        self._end = b""

    @property
    def text(self) -> str:
        """The line without secrets and what a terminal would obey, cut; "" without one."""
        *_, last = [b"", *filter(None, map(bytes.strip, self._end.splitlines()))]
        return readable(redacted(last.decode(errors="replace")))[:_MAX_ERROR]

    async def read(self, stderr: asyncio.StreamReader) -> None:
        """Read to the end, as a server that nobody reads would wait; keep the last characters."""
        with anyio.CancelScope(shield=True):  # the pipe is closed when the server is killed
            while chunk := await stderr.read(_CHUNK):
                self._end = (self._end + chunk)[-_MAX_STDERR:]


@asynccontextmanager
async def stdio(
    command: str, args: tuple[str, ...], env: Mapping[str, str], errors: LastLine
) -> AsyncGenerator[Streams]:
    """Start a server and talk to it over its standard input and output.

    Its environment is that of `_environment`, and `env`. `errors` reads its standard error. On exit
    it gets two seconds to end, and is then killed with all processes that it started. Raises
    OSError when there is no such program.
    """
    pipe = asyncio.subprocess.PIPE
    started = process_group(
        (command, *args),
        cwd=Path.cwd(),
        env={**_environment(), **env},
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
    )
    async with anyio.create_task_group() as draining, started as process:
        draining.start_soon(errors.read, cast(asyncio.StreamReader, process.stderr))
        stdin = cast(asyncio.StreamWriter, process.stdin)
        stdout = cast(asyncio.StreamReader, process.stdout)
        incoming, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        sent, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        allowance = _Allowance()
        with incoming, received, sent, outgoing:
            try:
                async with anyio.create_task_group() as group:
                    group.start_soon(_read, stdout, incoming, allowance)
                    group.start_soon(_write, stdin, outgoing, incoming, allowance)
                    try:
                        yield received, sent
                    finally:
                        group.cancel_scope.cancel()
            finally:
                stdin.close()
                draining.start_soon(_drain, stdout)
                with anyio.CancelScope(shield=True), anyio.move_on_after(_CLOSE_SECONDS):
                    await process.wait()


async def _drain(stdout: asyncio.StreamReader) -> None:
    """Read and drop the rest of the output: a pipe with unread data would stay open."""
    with anyio.CancelScope(shield=True), anyio.move_on_after(2 * _CLOSE_SECONDS):
        while await stdout.read(_CHUNK):
            pass


async def _read(
    stdout: asyncio.StreamReader,
    incoming: MemoryObjectSendStream[SessionMessage | Exception],
    allowance: _Allowance,
) -> None:
    """Pass on each message and drop other lines. The end of the output ends the connection."""
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError), incoming:
        try:
            async for line in _lines(stdout, allowance):
                if message := _parse(line):
                    await incoming.send(message)
        except Flood as flood:
            log.warning("Disconnected from an MCP server: %s", flood)


async def _write(
    stdin: asyncio.StreamWriter,
    outgoing: MemoryObjectReceiveStream[SessionMessage],
    incoming: MemoryObjectSendStream[SessionMessage | Exception],
    allowance: _Allowance,
) -> None:
    """Send each message. The connection ends when the server no longer reads."""
    with suppress(ConnectionError, anyio.ClosedResourceError), outgoing:
        async for message in outgoing:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            # Our responses do not count: each could provoke the next request of the server.
            if isinstance(message.message, JSONRPCRequest):
                allowance.renew()
            stdin.write(text.encode() + b"\n")
            await stdin.drain()
    incoming.close()


async def _lines(stdout: asyncio.StreamReader, allowance: _Allowance) -> AsyncIterator[bytes]:
    """Yield whole lines. Raises Flood for a line that is too long, and for too many lines."""
    buffer = bytearray()
    while chunk := await stdout.read(_CHUNK):
        first, *others = chunk.split(b"\n")
        allowance.spend(len(chunk), len(others))
        buffer += first
        for other in others:
            yield bytes(buffer)
            buffer = bytearray(other)
        if len(buffer) > _MAX_MESSAGE:
            raise Flood("it sends a message without an end")


def _parse(line: bytes) -> SessionMessage | None:
    """Return the message in a line; None if it has none. Raises Flood for too many values."""
    if sum(map(line.count, (b",", b"[", b"{"))) > _MAX_VALUES:
        raise Flood("it sends a message of too many values")
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        return None


@asynccontextmanager
async def http(
    url: str,
    headers: Mapping[str, str],
    seconds: float,
    auth: httpx2.Auth | None = None,
    *,
    silent: float,
) -> AsyncGenerator[Streams]:
    """Talk to a server over HTTP, without listening to messages that the bot did not ask for.

    A response may be `silent` for that many seconds; `seconds` bound everything else.
    """
    hooks: dict[str, list[Callable[..., Awaitable[None]]]] = {
        "request": [_RequestFilter(silent).check],
        "response": [_limit_response],
    }
    async with (
        # Without compression, as a few bytes could otherwise become gigabytes.
        httpx2.AsyncClient(
            headers={"accept-encoding": "identity", **headers},
            timeout=httpx2.Timeout(seconds, read=silent),
            event_hooks=hooks,
            auth=auth,
            verify=_tls(),
        ) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=_MAX_MESSAGE) as streams,
    ):
        yield streams


@cache
def _tls() -> ssl.SSLContext:
    """Return the TLS settings of all connections: loading the root certificates takes 50 ms."""
    return httpx2.create_ssl_context()


class _RequestFilter:
    """A filter for outgoing requests of the SDK.

    It passes the bot's own requests. After a response broke off, it passes requests for the rest for
    `seconds`, and at most once a second: the server chooses the pause, and may break off each time.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until = 0.0
        self._resumed = 0.0

    async def check(self, request: httpx2.Request) -> None:
        """Raise RequestError for a request whose response nobody waits for."""
        now = asyncio.get_running_loop().time()
        if request.method != "GET":
            message = json.loads(request.content or b"{}")
            if {"id", "method"} <= message.keys():  # a request of ours
                self._until = now + self._seconds
                if message["method"] == _LISTEN:
                    timeouts = request.extensions["timeout"]
                    request.extensions["timeout"] = {**timeouts, "read": _LISTEN_SECONDS}
        elif "last-event-id" not in request.headers or now > self._until:
            raise httpx2.RequestError("unrequested messages are not listened to")
        else:
            self._resumed = max(now, self._resumed + _RESUME_SECONDS)
            await asyncio.sleep(self._resumed - now)


async def _limit_response(response: httpx2.Response) -> None:
    """Record the status and limit the body. Raises RemoteProtocolError for a compressed one."""
    if not response.is_redirect and (collected := statuses.get(None)) is not None:
        collected.append(response.status_code)
    if response.headers.get("content-encoding", "identity") != "identity":
        raise httpx2.RemoteProtocolError("the response is compressed, which was not requested")
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _BoundedBody(response.stream)


class _BoundedBody(httpx2.AsyncByteStream):
    """A response body that raises RemoteProtocolError beyond the allowed amount."""

    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner
        self._allowance = _Allowance()

    @override
    async def __aiter__(self) -> AsyncIterator[bytes]:
        values = 0
        async for chunk in self._inner:
            values += sum(map(chunk.count, (b",", b"[", b"{")))
            try:
                self._allowance.spend(len(chunk), chunk.count(b"\n"))
            except Flood as flood:
                raise httpx2.RemoteProtocolError(str(flood)) from None
            if values > _MAX_VALUES:
                raise httpx2.RemoteProtocolError("it sends a message of too many values")
            yield chunk

    @override
    async def aclose(self) -> None:
        await self._inner.aclose()


_SERVER_ERROR = 500
_MAX_WORDS = 2_000  # characters of a server's own words


class Refused(ToolError):
    """The server refused the bot's credentials before it did anything."""


def refusal(statuses: Sequence[int]) -> str:
    """Return a sentence if the server refused the bot with one of these HTTP statuses; "" otherwise."""
    if 401 in statuses:
        return "wants you to sign in (401): its entry in bot.toml needs valid `headers`"
    if 403 in statuses:
        return "does not let the bot in (403): the account in its `headers` has no right to it"
    return ""


def failure(statuses: Sequence[int]) -> str:
    """Return what the last HTTP status says of a server that did not open; "" if it says nothing."""
    match statuses[-1:]:
        case [404]:
            return "has nothing at this address (404): its `url` is probably wrong"
        case [status] if status >= _SERVER_ERROR:
            return f"fails at the moment ({status}): its own log says why"
    return ""


def first_error(error: BaseException) -> BaseException:
    """Return the first error inside exception groups, which anyio uses."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def describe_error(error: BaseException) -> str:
    """Describe the first error without data from the server: a response that cannot be parsed may
    hold anybody's data."""
    error = first_error(error)
    if isinstance(error, ValidationError):
        return f"its answer does not fit the protocol ({error.title})"
    if isinstance(error, FileNotFoundError):
        return f"there is no program {error.filename}"
    return shorten(f"{type(error).__name__}: {error}")


def shorten(text: str) -> str:
    """Return a server's own words, cut to a length that people can read."""
    return text if len(text) <= _MAX_WORDS else f"{text[:_MAX_WORDS]}…"
