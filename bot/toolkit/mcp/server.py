"""A connection to one MCP server, opened when it is first needed."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TextIO

import httpx2
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CONNECTION_CLOSED, CallToolResult, Tool

from bot.core.errors import ToolError
from bot.toolkit.mcp.config import McpServer
from bot.toolkit.mcp.pins import ToolFacts

log = logging.getLogger(__name__)

_CLOSED = "Connection closed"
"""What the SDK says of a connection that ended. Its code alone is also the first of those that are
free for servers, and many say all that went wrong with it."""

CONNECT_SECONDS = 30.0  # a server that npx or uvx has to fetch first takes a while
_CLOSE_SECONDS = 5.0
_LIST_SECONDS = 600.0  # how old a list of tools may be when one is called
_MOST_TOOLS = 500


Saw = Callable[[Sequence[ToolFacts]], Awaitable[None]]
"""Is told what a server lists, each time that it is asked."""

Missed = Callable[[], Awaitable[None]]
"""Is told that a server could not be reached."""


class Connection:
    """The way to one server, opened by the first call and again after it broke.

    The client lives in a task of its own, because it must be left where it was entered.
    """

    def __init__(self, name: str, server: McpServer, saw: Saw, missed: Missed) -> None:
        self.name = name
        self._server = server
        self._saw = saw
        self._missed = missed
        self._listed: dict[str, ToolFacts] = {}
        self._listed_at = 0.0
        self._opening = asyncio.Lock()
        self._owner: asyncio.Task[None] | None = None
        self._leave = asyncio.Event()
        self._client: Client | None = None

    async def look(self) -> None:
        """Ask the server for its tools. Raises ToolError when it cannot be reached."""
        self._listed_at = 0.0
        await self._connected()

    async def call(self, tool: ToolFacts, arguments: dict[str, object]) -> CallToolResult:
        """Call a tool that is what it was when it was accepted. Raises ToolError with the server's
        own words, or that it broke off."""
        client = await self._connected()
        if self._listed.get(tool.name) != tool:
            raise ToolError(
                f"{tool.name} of the MCP server {self.name} is not what it was. It stays off until "
                "an admin accepts the change; go on without it and say so."
            )
        async with self._reported():
            return await client.call_tool(tool.name, arguments)

    async def close(self) -> None:
        """Leave the server; a later call connects again."""
        self._client = None
        owner, self._owner = self._owner, None
        if owner is None:
            return
        self._leave.set()
        _, late = await asyncio.wait({owner}, timeout=_CLOSE_SECONDS)
        for task in late:
            task.cancel()
        await asyncio.gather(owner, return_exceptions=True)

    @asynccontextmanager
    async def _reported(self) -> AsyncGenerator[None]:
        """What went wrong, in words for the model; a connection that broke is given up."""
        try:
            yield
        except MCPError as error:
            if (error.code, error.message) == (CONNECTION_CLOSED, _CLOSED):
                raise await self._broke_off(error) from error
            raise ToolError(f"The MCP server {self.name} says: {error.message}") from error
        except (OSError, EOFError, httpx2.HTTPError, ValueError) as error:
            raise await self._broke_off(error) from error

    async def _broke_off(self, error: Exception) -> ToolError:
        """The next call connects again; what became of this one, nobody knows."""
        log.warning("MCP server %s broke off: %s", self.name, reason(error))
        await self.close()
        return ToolError(
            f"The MCP server {self.name} broke off before it answered: what was asked of it may be "
            "done or not. Say so."
        )

    async def _connected(self) -> Client:
        """The client, with a list of the server's tools that is not old."""
        async with self._opening:
            if self._client is None or (self._owner and self._owner.done()):
                await self.close()
                self._client = await self._open()
                self._listed_at = 0.0
            client, now = self._client, time.monotonic()
            if not self._listed_at or now - self._listed_at > _LIST_SECONDS:
                await self._list(client)
                self._listed_at = now
            return client

    async def _list(self, client: Client) -> None:
        found: list[Tool] = []
        cursor: str | None = None
        async with self._reported():
            while len(found) < _MOST_TOOLS:
                page = await client.list_tools(cursor=cursor, cache_mode="refresh")
                found += page.tools
                cursor = page.next_cursor
                if not cursor:
                    break
        wanted = [self._server.facts(each) for each in found if self._server.takes(each.name)]
        self._listed = {each.name: each for each in wanted}
        await self._saw(wanted)

    async def _open(self) -> Client:
        opened: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        opened.add_done_callback(_retrieved)  # whoever waited may have been cancelled
        self._leave = asyncio.Event()
        self._owner = asyncio.create_task(
            self._live(opened, self._leave), name=f"MCP server {self.name}"
        )
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                return await asyncio.shield(opened)
        except TimeoutError:
            await self.close()
            await self._missed()
            log.warning("MCP server %s does not answer; see `bot doctor`", self.name)
            raise ToolError(f"The MCP server {self.name} does not answer.") from None
        except asyncio.CancelledError:
            self._leave.set()  # it is closed by whoever connects next
            raise
        except Exception as error:
            await self._missed()
            why = reason(error)
            log.warning("MCP server %s cannot be reached: %s; see `bot doctor`", self.name, why)
            raise ToolError(f"The MCP server {self.name} cannot be reached.") from error

    async def _live(self, opened: asyncio.Future[Client], leave: asyncio.Event) -> None:
        try:
            with open(os.devnull, "w") as nowhere:  # noqa: ASYNC230, PTH123 - what it logs is its own
                async with self._client_of(nowhere) as client:
                    opened.set_result(client)
                    await leave.wait()
        except Exception as error:  # noqa: BLE001 - whatever a server of others does
            if opened.done():
                log.warning("MCP server %s: %s", self.name, reason(error))
            else:
                opened.set_exception(error)

    @asynccontextmanager
    async def _client_of(self, errors: TextIO) -> AsyncGenerator[Client]:
        server = self._server
        if server.command is not None:
            env = {key: value.get_secret_value() for key, value in server.env.items()}
            command = StdioServerParameters(command=server.command, args=[*server.args], env=env)
            transport = stdio_client(command, errlog=errors)
            async with Client(transport, read_timeout_seconds=server.timeout) as client:
                yield client
            return
        headers = {key: value.get_secret_value() for key, value in server.headers.items()}
        async with httpx2.AsyncClient(headers=headers, timeout=server.timeout) as http:
            remote = streamable_http_client(server.url or "", http_client=http)
            async with Client(remote, read_timeout_seconds=server.timeout) as client:
                yield client


def _retrieved(opened: asyncio.Future[Client]) -> None:
    if not opened.cancelled():
        opened.exception()


def first_of(error: BaseException) -> BaseException:
    """The first thing that went wrong: anyio wraps it in groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def reason(error: BaseException) -> str:
    """The first thing that went wrong, in words."""
    error = first_of(error)
    if isinstance(error, FileNotFoundError):
        return f"there is no program {error.filename}"
    return f"{type(error).__name__}: {error}"
