"""The ways to a server, bounded: a server that floods, sends junk or never stops costs a connection
and nothing else."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
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
from typing_extensions import override

from bot.services.processes.process_group import process_group

log = logging.getLogger(__name__)

_MOST_MESSAGE = 8 * 2**20  # bytes; pictures and files come in one
_MOST_VALUES = 300_000  # in one message, as its commas and brackets count them
_MOST_UNASKED = 32 * 2**20  # bytes between two requests of ours
_MOST_LINES = 10_000  # as above
_CHUNK = 2**16
_RESUME_SECONDS = 1.0  # between two requests for the rest of answers
_LEAVE_SECONDS = 2.0  # for a server to end once its input is closed

statuses: ContextVar[list[int]] = ContextVar("statuses")
"""Where the HTTP status of responses is noted, in their order; the SDK does not pass it on."""


class Flood(OSError):
    """The server sent more than anybody asked for."""


class _Allowance:
    """What a server may send before the bot asks for something again."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Begin anew: the bot has asked for something."""
        self._bytes, self._lines = _MOST_UNASKED, _MOST_LINES

    def take(self, size: int, lines: int) -> None:
        """Raise Flood when it is used up."""
        self._bytes -= size
        self._lines -= lines
        if self._bytes < 0 or self._lines < 0:
            raise Flood("it sends more than it was asked for")


@asynccontextmanager
async def stdio(
    command: str, args: tuple[str, ...], env: Mapping[str, str]
) -> AsyncGenerator[Streams]:
    """Start a server and talk to it over its standard input and output. It knows little of this
    process: HOME, PATH and the like, and `env`. On the way out it is given a moment to end, and is
    then killed with all that it started. Raises OSError when there is no such program."""
    pipe = asyncio.subprocess.PIPE
    full_env = {**get_default_environment(), **env}
    started = process_group((command, *args), cwd=Path.cwd(), env=full_env, stdin=pipe, stdout=pipe)
    async with anyio.create_task_group() as draining, started as process:
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
                with anyio.CancelScope(shield=True), anyio.move_on_after(_LEAVE_SECONDS):
                    await process.wait()


async def _drain(stdout: asyncio.StreamReader) -> None:
    """Drop what the server still says, to the end: a pipe with something left in it stays open."""
    with anyio.CancelScope(shield=True), anyio.move_on_after(2 * _LEAVE_SECONDS):
        while await stdout.read(_CHUNK):
            pass


async def _read(
    stdout: asyncio.StreamReader,
    incoming: MemoryObjectSendStream[SessionMessage | Exception],
    allowance: _Allowance,
) -> None:
    """Pass on each message; lines that hold none are dropped. The end is the connection's end."""
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError), incoming:
        try:
            async for line in _lines(stdout, allowance):
                if message := _parsed(line):
                    await incoming.send(message)
        except Flood as flood:
            log.warning("An MCP server is left: %s", flood)


async def _write(
    stdin: asyncio.StreamWriter,
    outgoing: MemoryObjectReceiveStream[SessionMessage],
    incoming: MemoryObjectSendStream[SessionMessage | Exception],
    allowance: _Allowance,
) -> None:
    """Send each message. A server that does not read any more ends the connection."""
    with suppress(ConnectionError, anyio.ClosedResourceError), outgoing:
        async for message in outgoing:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            if isinstance(message.message, JSONRPCRequest):  # an answer may bring the next question
                allowance.renew()
            stdin.write(text.encode() + b"\n")
            await stdin.drain()
    incoming.close()


async def _lines(stdout: asyncio.StreamReader, allowance: _Allowance) -> AsyncIterator[bytes]:
    """Yield whole lines. Raises Flood for one that is too long, or when there are too many."""
    buffer = bytearray()
    while chunk := await stdout.read(_CHUNK):
        first, *others = chunk.split(b"\n")
        allowance.take(len(chunk), len(others))
        buffer += first
        for other in others:
            yield bytes(buffer)
            buffer = bytearray(other)
        if len(buffer) > _MOST_MESSAGE:
            raise Flood("it sends a message without an end")


def _parsed(line: bytes) -> SessionMessage | None:
    """Return the message of a line; None for a line that holds none."""
    if sum(map(line.count, (b",", b"[", b"{"))) > _MOST_VALUES:
        raise Flood("it sends a message of too many values")
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        return None


@asynccontextmanager
async def http(url: str, headers: Mapping[str, str], seconds: float) -> AsyncGenerator[Streams]:
    """Talk to a server over HTTP. What it would send without being asked is not listened to."""
    hooks: dict[str, list[Callable[..., Awaitable[None]]]] = {
        "request": [_Asked(seconds).only],
        "response": [_bounded],
    }
    async with (
        # Without compression, as a few bytes could otherwise become gigabytes.
        httpx2.AsyncClient(
            headers={"accept-encoding": "identity", **headers}, timeout=seconds, event_hooks=hooks
        ) as client,
        streamable_http_client(
            url, http_client=client, max_sse_event_size=_MOST_MESSAGE
        ) as streams,
    ):
        yield streams


class _Asked:
    """Lets out what was asked for. Of an answer that broke off the rest is asked for as long as
    somebody may wait for it, which are `seconds`, and at most once a second: the server chooses the
    pause, and may break off each time."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until = 0.0
        self._resumed = 0.0

    async def only(self, request: httpx2.Request) -> None:
        """Raise RequestError for what nobody waits for."""
        now = asyncio.get_running_loop().time()
        if request.method != "GET":
            if {"id", "method"} <= json.loads(request.content or b"{}").keys():  # a request of ours
                self._until = now + self._seconds
        elif "last-event-id" not in request.headers or now > self._until:
            raise httpx2.RequestError("nothing is listened to that was not asked for")
        else:
            self._resumed = max(now, self._resumed + _RESUME_SECONDS)
            await asyncio.sleep(self._resumed - now)


async def _bounded(response: httpx2.Response) -> None:
    """Note the status, and bound the body."""
    if not response.is_redirect and (noted := statuses.get(None)) is not None:
        noted.append(response.status_code)
    if response.headers.get("content-encoding", "identity") != "identity":
        raise httpx2.RemoteProtocolError("the answer is compressed, which nobody asked for")
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _BoundedBody(response.stream)


class _BoundedBody(httpx2.AsyncByteStream):
    """The body of a response, up to what a server may send."""

    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner
        self._allowance = _Allowance()

    @override
    async def __aiter__(self) -> AsyncIterator[bytes]:
        values = 0
        async for chunk in self._inner:
            values += sum(map(chunk.count, (b",", b"[", b"{")))
            try:
                self._allowance.take(len(chunk), chunk.count(b"\n"))
            except Flood as flood:
                raise httpx2.RemoteProtocolError(str(flood)) from None
            if values > _MOST_VALUES:
                raise httpx2.RemoteProtocolError("it sends a message of too many values")
            yield chunk

    @override
    async def aclose(self) -> None:
        await self._inner.aclose()
