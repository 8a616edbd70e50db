"""All configured MCP servers: which of their tools may be used now."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from bot.core.background import alongside
from bot.core.errors import CorruptValue, StoreUnavailable, ToolDefinitionError, ToolError
from bot.toolkit.mcp.config import McpServer
from bot.toolkit.mcp.pins import Pin, Pins, Reach, ServerPins, ToolFacts
from bot.toolkit.tool import Tool

if TYPE_CHECKING:
    from bot.toolkit.mcp.server import Connection

log = logging.getLogger(__name__)

_FIRST_PAUSE, _LONGEST_PAUSE = 5.0, 600.0  # seconds between attempts to see a server at all


@dataclass(frozen=True, slots=True)
class Standing:
    """How one server stands, for people who run the bot; `changed` are the tools that are off by
    name. `error` says that it cannot be reached, and why if it was asked just now."""

    name: str
    usable: tuple[str, ...] = ()
    changed: Mapping[str, Pin] = field(default_factory=dict)
    error: str = ""


class McpServers:
    """The servers of this deployment. A server is asked what it has when it is first heard of, and
    whenever it is connected; in between its tools are known from their pins, and nothing runs."""

    def __init__(self, servers: Mapping[str, McpServer], pins: Pins) -> None:
        self._servers = servers
        self._pins = pins
        self._made: dict[tuple[str, str], Tool | None] = {}
        self._connections = {
            name: self._connection(name, server) for name, server in servers.items()
        }

    def _connection(self, name: str, server: McpServer) -> Connection:
        from bot.toolkit.mcp.server import Connection  # loads the SDK: half a second

        return Connection(name, server, partial(self._saw, name), partial(self._missed, name))

    async def tools(self) -> tuple[Tool, ...]:
        """The tools that may be used now. Raises StoreUnavailable."""
        known = [(name, await self._known(name)) for name in self._servers]
        made = [
            self._tool(name, pin.usable)
            for name, pins in known
            for pin in (pins.tools.values() if pins else ())
            if pin.usable and self._servers[name].takes(pin.usable.name)
        ]
        return tuple(each for each in made if each)

    async def standings(self) -> list[Standing]:
        """How each server stands, asked now."""
        return list(await asyncio.gather(*(self._standing(name) for name in self._servers)))

    async def accept(self, name: str, tools: Sequence[str] | None = None) -> dict[str, Pin]:
        """Accept what the server offered when it was asked last, of the named tools or of all.
        Returns exactly that, whatever it offers meanwhile. Raises ToolError when there is no such
        server."""
        if name not in self._servers:
            raise ToolError(
                f"There is no MCP server {name}. Configured: {', '.join(self._servers)}."
            )
        pins = await self._known(name) or ServerPins()
        changed = self._changed(name, pins)
        taken = {tool: pin for tool, pin in changed.items() if tools is None or tool in tools}
        await self._pins.save(name, pins.accept(taken))
        return taken

    async def meet_new_ones(self) -> None:
        """Ask servers that were never seen for their tools, again and again until they answer."""
        async with asyncio.TaskGroup() as group:
            for name in self._servers:
                group.create_task(self._meet(name))

    async def close(self) -> None:
        """Leave all servers."""
        await asyncio.gather(*(each.close() for each in self._connections.values()))

    async def _meet(self, name: str) -> None:
        pause = _FIRST_PAUSE
        while True:
            try:
                if await self._known(name) is None:
                    await self._connections[name].look()
            except ToolError:
                pass  # the connection has said so
            except StoreUnavailable as error:
                log.warning("Tools of MCP server %s are not known yet: %s", name, error)
            else:
                return
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def _saw(self, name: str, listed: Sequence[ToolFacts]) -> None:
        if await self._is_down(name):
            await self._pins.save(_reach(name), Reach(down=False))
        before = await self._known(name)
        now = before.against(listed) if before else ServerPins.first(listed)
        if now == before:
            return
        await self._pins.save(name, now)
        if now.changed:
            log.warning(
                "MCP server %s changed %s: off until `bot mcp --accept %s`",
                name,
                ", ".join(sorted(now.changed)),
                name,
            )

    async def _missed(self, name: str) -> None:
        await self._pins.save(_reach(name), Reach(down=True))

    async def _is_down(self, name: str) -> bool:
        try:
            reach = await self._pins.load(_reach(name), Reach)
        except CorruptValue:
            return False
        return reach is not None and reach.down

    async def _known(self, name: str) -> ServerPins | None:
        try:
            return await self._pins.load(name, ServerPins)
        except CorruptValue:  # what was trusted is lost: nothing is, until somebody says so again
            log.exception("The pins of MCP server %s are lost", name)
            await self._pins.save(name, ServerPins())
            return ServerPins()

    async def pinned(self) -> list[Standing]:
        """How each server stands as far as is known, without asking it."""
        return [await self._as_pinned(name) for name in self._servers]

    async def _standing(self, name: str) -> Standing:
        from bot.toolkit.mcp.server import first_of, reason

        error = ""
        try:
            await self._connections[name].look()
        except ToolError as failed:
            error = str(failed)
            if failed.__cause__:
                error = f"cannot be reached: {reason(failed.__cause__)}"
                is_missing = isinstance(first_of(failed.__cause__), FileNotFoundError)
                if self._servers[name].command and not is_missing:
                    error += "; run its command by hand to see why"
        return replace(await self._as_pinned(name), error=error)

    async def _as_pinned(self, name: str) -> Standing:
        known = await self._known(name)
        pins = known or ServerPins()
        error = "" if known else "has not answered yet"
        if await self._is_down(name):
            error = "cannot be reached"
        takes = self._servers[name].takes
        usable = tuple(tool for tool, pin in pins.tools.items() if pin.usable and takes(tool))
        return Standing(name, usable, self._changed(name, pins), error)

    def _changed(self, name: str, pins: ServerPins) -> dict[str, Pin]:
        takes = self._servers[name].takes
        return {tool: pin for tool, pin in pins.changed.items() if takes(tool)}

    def _tool(self, name: str, facts: ToolFacts) -> Tool | None:
        key = (name, facts.digest)
        if key not in self._made:
            self._made[key] = self._make(name, facts)
        return self._made[key]

    def _make(self, name: str, facts: ToolFacts) -> Tool | None:
        from bot.toolkit.mcp.tools import mcp_tool

        try:
            return mcp_tool(facts, self._connections[name], self._servers[name].timeout)
        except ToolDefinitionError as error:
            log.warning("A tool is left out: %s", error)
            return None


def _reach(name: str) -> str:
    """Under which name it is kept, beside the pins, whether a server can be reached."""
    return f"{name}/reach"


@asynccontextmanager
async def open_mcp_servers(
    servers: Mapping[str, McpServer], pins: Pins
) -> AsyncGenerator[McpServers]:
    """The servers for the length of the context; those that were started are stopped at its end."""
    opened = McpServers(servers, pins)
    try:
        async with alongside(opened.meet_new_ones(), name="MCP servers"):
            yield opened
    finally:
        await opened.close()
