"""A connection to one MCP server, opened when it is first needed."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from mcp import Client, MCPError
from mcp.types import (
    CONNECTION_CLOSED,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    REQUEST_TIMEOUT,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    Tool,
)
from pydantic import ValidationError

from bot.core.errors import ToolError
from bot.core.text.invisible_text import without_unseen
from bot.services.mcp.config import McpServer
from bot.services.mcp.pins import ToolFacts
from bot.services.mcp.transports import http, statuses, stdio

log = logging.getLogger(__name__)

_CLOSED = "Connection closed"
"""What the SDK says of a connection that ended. Its code alone is also the first of those that are
free for servers, and many say all that went wrong with it."""

_FORGOTTEN = "Session terminated"
"""What the SDK says when a server does not know its session any more: nothing was done."""

_NOT_DONE = frozenset({METHOD_NOT_FOUND, INVALID_PARAMS})
"""Errors of the protocol that say that a call was never begun."""

MAYBE = "What was asked of it may have been done or not. Look before you do it again, and say so."

CONNECT_SECONDS = 30.0  # a server that npx or uvx has to fetch first takes a while
_CLOSE_SECONDS = 5.0
_LIST_SECONDS = 600.0  # how old a list of tools may be when one is called
_MOST_TOOLS, _MOST_PAGES = 500, 100
_MOST_TOLD, _MOST_OF_ONE = 2_000_000, 100_000  # characters of all tools, and of one
_MOST_LISTED = 16_000_000  # characters of all pages; most of what is left out was sent all the same
_LONGEST_NAME, _LONGEST_CURSOR = 128, 10_000
_SHOWN = 2_000  # characters of a server's own words


Saw = Callable[[Sequence[ToolFacts]], Awaitable[None]]
"""Is told what a server lists, each time that it is asked."""

Missed = Callable[[str], Awaitable[None]]
"""Is told that a server could not be reached, or did not let the bot in, and why."""


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
        self._output_schemas: dict[str, dict[str, object]] = {}
        self._listed_at = 0.0
        self._opening = asyncio.Lock()
        self._owner: asyncio.Task[None] | None = None
        self._leave = asyncio.Event()
        self._client: Client | None = None
        self.needs_tasks: frozenset[str] = frozenset()
        """Tools that only run as tasks, which the bot does not do, as they were listed last."""

    async def look(self) -> None:
        """Ask the server for its tools. Raises ToolError when it cannot be reached."""
        self._listed_at = 0.0
        await self._connected()

    async def call(self, tool: ToolFacts, arguments: dict[str, object]) -> CallToolResult:
        """Call a tool that is what it was when it was accepted. Raises ToolError with the server's
        own words; where the call may have been made, the error says so.

        The result is not checked against the tool's output schema: the SDK would do so in this
        process, and throw the result away.
        """
        client = await self._connected()
        if self._listed.get(tool.name) != tool:
            raise ToolError(
                f"{tool.name} of the MCP server {self.name} is not what it was. It stays off until "
                "an admin accepts the change; go on without it and say so."
            )
        request = CallToolRequest(params=CallToolRequestParams(name=tool.name, arguments=arguments))
        async with self._reported("answered", "" if tool.read_only else MAYBE):
            return await client.session.send_request(request, CallToolResult)

    def output_schema(self, tool: str) -> dict[str, object] | None:
        """Return what the server says of a tool's structured results, as it was listed last."""
        return self._output_schemas.get(tool)

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
    async def _reported(self, did: str, doubt: str = "") -> AsyncGenerator[None]:
        """Turn whatever goes wrong before the server `did` something into words for the model, with
        the `doubt` about what was done. A connection that broke is given up."""
        noted: list[int] = []
        token = statuses.set(noted)
        try:
            yield
        except MCPError as error:
            if refused := _refusal(noted[:1]):  # of the call itself; later ones are of its answer
                raise ToolError(
                    f"The MCP server {self.name} {refused}. Nothing was done."
                ) from None
            if (error.code, error.message) == (CONNECTION_CLOSED, _CLOSED):
                raise await self._broke_off(error, did, doubt) from error
            if error.message == _FORGOTTEN:
                await self.close()
                raise ToolError(
                    f"The MCP server {self.name} was restarted. Nothing was done: call it again."
                ) from None
            if error.code == REQUEST_TIMEOUT:
                said = f"did not answer within {self._server.timeout:g} s."
            else:
                said = f"says: {_shortened(error.message)}"
            doubt = "" if error.code in _NOT_DONE else doubt
            raise ToolError(f"The MCP server {self.name} {said} {doubt}".rstrip()) from error
        except Exception as error:
            # Whatever a server of others does: none of it is a bug of ours.
            raise await self._broke_off(error, did, doubt) from error
        finally:
            statuses.reset(token)

    async def _broke_off(self, error: Exception, did: str, doubt: str) -> ToolError:
        """Give the connection up; the next call connects again."""
        log.warning("MCP server %s broke off: %s", self.name, first_of(error))
        await self.close()
        return ToolError(f"The MCP server {self.name} broke off before it {did}. {doubt}".rstrip())

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
        seen: set[str | None] = set()
        listed = 0
        async with self._reported("listed its tools"), asyncio.timeout(CONNECT_SECONDS):
            while (
                cursor not in seen
                and len(cursor or "") <= _LONGEST_CURSOR
                and len(seen) < _MOST_PAGES
                and len(found) <= _MOST_TOOLS
                and listed <= _MOST_LISTED
            ):
                seen.add(cursor)
                page = await client.list_tools(cursor=cursor, cache_mode="refresh")
                found += page.tools
                listed += sum(map(_size, page.tools))
                cursor = page.next_cursor
                if not cursor:
                    break
            else:
                log.warning("MCP server %s lists without an end; the rest is left out", self.name)
        wanted = [each for each in found if self._server.takes(each.name)]
        self.needs_tasks = frozenset(
            each.name
            for each in wanted
            if each.execution and each.execution.task_support == "required"
        )
        taken = await self._within_bounds(
            [each for each in wanted if each.name not in self.needs_tasks]
        )
        facts = [self._server.facts(each) for each in taken]
        self._listed = {each.name: each for each in facts}
        self._output_schemas = {
            each.name: each.output_schema for each in taken if each.output_schema is not None
        }
        await self._saw(facts)

    async def _within_bounds(self, listed: Sequence[Tool]) -> list[Tool]:
        """Return the tools that are told of: with a name that can be shown, each once, and together
        no more than can be kept."""
        taken: dict[str, Tool] = {}
        left_out: list[str] = []
        left = _MOST_TOLD
        for each in listed:
            size = _size(each)
            if (
                size > min(left, _MOST_OF_ONE)
                or len(taken) == _MOST_TOOLS
                or each.name in taken
                or not each.name.isprintable()
                or each.name != without_unseen(each.name)
                or not 0 < len(each.name) <= _LONGEST_NAME
            ):
                left_out.append(each.name[:_LONGEST_NAME])
            else:
                taken[each.name] = each
                left -= size
            await asyncio.sleep(0)  # others have their turn
        if left_out:
            some = ", ".join(left_out[:5])
            log.warning(
                "MCP server %s: %d tools are left out, as they are too many, too large, listed "
                "twice or without a name that can be shown: %s",
                *(self.name, len(left_out), some),
            )
        return list(taken.values())

    async def _open(self) -> Client:
        opened: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        opened.add_done_callback(_retrieved)  # whoever waited may have been cancelled
        self._leave = asyncio.Event()
        noted: list[int] = []
        token = statuses.set(noted)
        self._owner = asyncio.create_task(
            self._live(opened, self._leave), name=f"MCP server {self.name}"
        )
        statuses.reset(token)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                return await asyncio.shield(opened)
        except TimeoutError:
            await self.close()
            await self._missed("does not answer")
            log.warning("MCP server %s does not answer; see `bot doctor`", self.name)
            raise ToolError(f"The MCP server {self.name} does not answer.") from None
        except asyncio.CancelledError:
            self._leave.set()  # it is closed by whoever connects next
            raise
        except Exception as error:
            if refused := _refusal(noted):
                await self._missed(refused)
                log.warning("MCP server %s %s; see `bot doctor`", self.name, refused)
                raise ToolError(f"The MCP server {self.name} {refused}.") from None
            await self._missed("cannot be reached")
            why = reason(error)
            log.warning("MCP server %s cannot be reached: %s; see `bot doctor`", self.name, why)
            raise ToolError(f"The MCP server {self.name} cannot be reached.") from error

    async def _live(self, opened: asyncio.Future[Client], leave: asyncio.Event) -> None:
        server = self._server
        if server.command is not None:
            env = {key: value.get_secret_value() for key, value in server.env.items()}
            transport = stdio(server.command, server.args, env)
        else:
            headers = {key: value.get_secret_value() for key, value in server.headers.items()}
            transport = http(server.url or "", headers, server.timeout)
        try:
            client_of = Client(transport, read_timeout_seconds=server.timeout, cache=None)
            async with client_of as client:
                opened.set_result(client)
                await leave.wait()
        except Exception as error:  # noqa: BLE001 - whatever a server of others does
            if opened.done():
                log.warning("MCP server %s: %s", self.name, first_of(error))
            else:
                opened.set_exception(error)


def _size(tool: Tool) -> int:
    """Return how many characters a tool's listing has."""
    try:
        schemas = sum(len(json.dumps(each)) for each in (tool.input_schema, tool.output_schema))
        return schemas + len(tool.description or "") + len(tool.title or "")
    except (RecursionError, ValueError):
        return _MOST_TOLD


def _refusal(noted: Sequence[int]) -> str:
    """Return in words that the server did not let the bot in; "" when it did."""
    if 401 in noted:
        return "wants you to sign in (401): its entry in bot.toml needs valid `headers`"
    if 403 in noted:
        return "does not let the bot in (403): the account in its `headers` has no right to it"
    return ""


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _retrieved(opened: asyncio.Future[Client]) -> None:
    if not opened.cancelled():
        opened.exception()


def first_of(error: BaseException) -> BaseException:
    """The first thing that went wrong: anyio wraps it in groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def reason(error: BaseException) -> str:
    """The first thing that went wrong, in words, and without what the server sent: an answer that
    cannot be read may hold anybody's data."""
    error = first_of(error)
    if isinstance(error, ValidationError):
        return f"its answer does not fit the protocol ({error.title})"
    if isinstance(error, FileNotFoundError):
        return f"there is no program {error.filename}"
    return _shortened(f"{type(error).__name__}: {error}")
