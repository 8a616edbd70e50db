"""All configured MCP servers and the tools that may be used now."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from bot.core.background import alongside
from bot.core.errors import CorruptValue, StoreUnavailable, ToolDefinitionError, ToolError
from bot.mcp.config import McpServer
from bot.mcp.doors import (
    Connections,
    IssuerStatus,
    OnListed,
    OnUnreachable,
    PersonalServers,
    ServerQuestions,
)
from bot.mcp.pins import Pin, Pins, Reachability, ServerPins, ToolFacts
from bot.services.given_schema import given_models
from bot.toolkit.tool import Tool

if TYPE_CHECKING:
    import httpx2

    from bot.mcp.connection import Connection

log = logging.getLogger(__name__)

_FIRST_PAUSE, _LONGEST_PAUSE = 5.0, 600.0  # seconds between attempts to reach a new server
_NO_ACCOUNTS = 'has account = "{account}", and this bot has no accounts of people'
_DISCOVERY_SECONDS = 10.0  # seconds after the start in which runs wait for new servers


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """The status of one server, for operators.

    `usable` tools can be called, `changed` ones are off until accepted, and the bot cannot call
    `hidden` ones. `error` says why the server cannot be reached, with details if it was asked just
    now. `issuer` is that of a server at which people have accounts of their own.
    """

    name: str
    usable: tuple[str, ...] = ()
    changed: Mapping[str, Pin] = field(default_factory=dict)
    error: str = ""
    hidden: tuple[str, ...] = ()
    issuer: IssuerStatus | None = None


class McpServers:
    """The MCP servers of this deployment.

    A server is asked for its tools when it is new and whenever the bot connects to it. Between
    connections its tools are known from their pins, and no process or connection is open. `personal`
    and `questions` are what features add.
    """

    def __init__(
        self,
        servers: Mapping[str, McpServer],
        pins: Pins,
        *,
        personal: PersonalServers | None = None,
        questions: ServerQuestions | None = None,
        discovery_ends: float = float("-inf"),
    ) -> None:
        self._servers = servers
        self._pins = pins
        self._personal_servers = personal
        self._questions = questions
        self._tools: dict[tuple[str, str], Tool | None] = {}
        self._tools_lock = asyncio.Lock()
        # Each is set after the first attempt to list the server's tools.
        self._listed_once = {
            name: asyncio.Event() for name, each in servers.items() if not each.is_connected
        }
        self._discovery_ends = discovery_ends  # on the event loop's clock
        self._missing: set[str] = set()
        self._shared: dict[str, Connection] = {}
        self._personal: dict[str, Connections] = {}
        for name, server in servers.items():
            self._add_connections(name, server)

    def _add_connections(self, name: str, server: McpServer) -> None:
        on_unreachable = partial(self._record_unreachable, name)
        connect = partial(self._connection, name, server)
        on_shared = partial(self._record_tools, name)
        if server.signs_in:
            if personal := self._personal_servers:
                by = personal.signed_in(name)
                self._shared[name] = connect(
                    on_shared, on_unreachable, auth=by.auth, why_refused=by.why
                )
        elif not server.is_connected:
            self._shared[name] = connect(on_shared, on_unreachable)
        elif self._personal_servers:
            on_listed = partial(self._record_tools_of_person, name)
            connections = self._personal_servers.connections(
                name, connect, on_listed, on_unreachable
            )
            if connections:
                self._personal[name] = connections

    def _connection(
        self,
        name: str,
        server: McpServer,
        on_listed: OnListed,
        on_unreachable: OnUnreachable,
        *,
        auth: httpx2.Auth | None = None,
        why_refused: Callable[[], str] = lambda: "",
    ) -> Connection:
        from bot.mcp.connection import Connection  # loads the SDK: half a second

        return Connection(
            name,
            server,
            on_listed,
            on_unreachable,
            questions=self._questions,
            auth=auth,
            why_refused=why_refused,
        )

    async def tools(
        self, allowed: Sequence[str] | None = None, user: str | None = None
    ) -> tuple[Tool, ...]:
        """Return the usable tools of the servers that `allowed` names: tools, groups and patterns
        (None for all). With `user`, leave out the servers that are not for that person.

        Waits for servers that were never reached, only in the first seconds of the process. Raises
        StoreUnavailable.
        """
        names = [
            name
            for name, server in self._servers.items()
            if (name in self._shared or name in self._personal)
            and self._may_have(name, allowed)
            and (user is None or server.is_for(user))
        ]
        await self._wait_for_first_listing(names)
        known = [(name, await self._load_pins(name)) for name in names]
        for name, pins in known:
            self._update_missing(name, is_known=pins is not None or name not in self._shared)
        usable = [
            (name, facts)
            for name, pins in known
            for pin in (pins.tools.values() if pins else ())
            if (facts := self._usable(name, pin)) and self._is_offered(name, facts.name)
        ]
        usable += [
            (name, own.facts)
            for name in names
            for own in self._connections(name).own_tools.values()
        ]
        async with self._tools_lock:
            await self._build_tools([each for each in usable if _key(*each) not in self._tools])
        built = [tool for each in usable if (tool := self._tools[_key(*each)])]
        # tool_name gives unique names; should a server get around that, the first tool counts.
        return tuple({each.name: each for each in reversed(built)}.values())[::-1]

    def _connections(self, name: str) -> Connections:
        return self._personal.get(name) or self._shared[name]

    def missing(self, allowed: Sequence[str] | None = None) -> tuple[str, ...]:
        """Return the servers that were never reached, so that `tools` has none of their tools."""
        return tuple(name for name in sorted(self._missing) if self._may_have(name, allowed))

    def _update_missing(self, name: str, *, is_known: bool) -> None:
        if is_known:
            self._missing.discard(name)
        elif name not in self._missing:
            self._missing.add(name)
            log.warning("Runs go on without the tools of MCP server %s: it has not answered", name)

    def _may_have(self, name: str, allowed: Sequence[str] | None) -> bool:
        server = self._servers[name]
        return allowed is None or any(server.may_have(name, pattern) for pattern in allowed)

    async def _wait_for_first_listing(self, names: Sequence[str]) -> None:
        """Wait until each server was asked for its tools once, successfully or not."""
        asked = [self._listed_once[name] for name in names if name in self._listed_once]
        left = self._discovery_ends - asyncio.get_running_loop().time()
        if left <= 0 or all(listed_once.is_set() for listed_once in asked):
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(left):
                await asyncio.gather(*(listed_once.wait() for listed_once in asked))

    async def live_statuses(self) -> list[ServerStatus]:
        """Ask each server for its tools now, and return its status."""
        return list(await asyncio.gather(*(self._live_status(name) for name in self._servers)))

    async def note_shown(self, status: ServerStatus) -> None:
        """Note what the operator has read of the changes of a personal server.

        Only that can be accepted: people could have other tools listed before it is.
        """
        if self._servers[status.name].is_connected and status.changed:
            offers = [pin.offered.fingerprint for pin in status.changed.values() if pin.offered]
            update = {"shown": tuple(sorted(offers))}
            await self._change_pins(
                status.name, lambda pins: (pins or ServerPins()).model_copy(update=update)
            )

    async def accept(self, name: str, tools: Sequence[str] | None = None) -> dict[str, Pin]:
        """Accept the changes that the server offered when it was last asked, for the named tools or
        for all; at a personal server only those that were shown.

        Return exactly the accepted pins. Raises ToolError for an unknown server.
        """
        if name not in self._servers:
            raise ToolError(
                f"There is no MCP server {name}. Configured: {', '.join(self._servers)}."
            )
        is_personal = self._servers[name].is_connected

        def accepted_of(pins: ServerPins) -> dict[str, Pin]:
            return {
                tool: pin
                for tool, pin in self._changed(name, pins).items()
                if (tools is None or tool in tools)
                and (not is_personal or (pin.offered and pin.offered.fingerprint in pins.shown))
            }

        before, _ = await self._change_pins(
            name, lambda pins: (pins or ServerPins()).accept(accepted_of(pins or ServerPins()))
        )
        return accepted_of(before or ServerPins())

    async def accept_issuer(self, name: str) -> IssuerStatus | None:
        """Accept the issuer that a personal server offered when it was last asked.

        Return its status before.
        """
        personal = self._personal_servers if self._has_issuer(name) else None
        return await personal.accept_issuer(name) if personal else None

    async def discover(self) -> None:
        """Ask servers that were never reached for their tools, until all have answered."""
        async with asyncio.TaskGroup() as group:
            for name in self._shared:
                group.create_task(self._discover(name))

    async def close(self) -> None:
        """Disconnect from all servers."""
        await asyncio.gather(*(connection.close() for connection in self._shared.values()))
        if self._personal_servers:
            await self._personal_servers.close()

    async def close_idle(self) -> None:
        """Close the connections of people who have not used them for a while, for ever."""
        if self._personal_servers:
            await self._personal_servers.close_idle()

    async def _discover(self, name: str) -> None:
        pause = _FIRST_PAUSE
        while True:
            try:
                if await self._load_pins(name) is None:
                    await self._shared[name].refresh()
            except ToolError:
                pass  # the connection has logged it
            except StoreUnavailable as error:
                log.warning("Tools of MCP server %s are not known yet: %s", name, error)
            else:
                return
            finally:
                self._listed_once[name].set()
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def _record_tools(self, name: str, listed: Sequence[ToolFacts]) -> Sequence[str]:
        """Record what a shared server lists. Return the names of the accepted tools."""
        return await self._record(
            name,
            listed,
            lambda before: before.against(listed) if before else ServerPins.first(listed),
        )

    async def _record_tools_of_person(
        self, name: str, listed: Sequence[ToolFacts], trusted: bool
    ) -> Sequence[str]:
        """Record what a personal server lists on a person's account, which may be the person's own
        making unless it is `trusted`. Return the names of the accepted tools."""

        def updated(before: ServerPins | None) -> ServerPins:
            if trusted and not (before and before.is_accepted):
                return ServerPins.first(listed)
            return (before or ServerPins()).against(listed, trusted=trusted)

        return await self._record(name, listed, updated)

    async def _record(
        self,
        name: str,
        listed: Sequence[ToolFacts],
        updated: Callable[[ServerPins | None], ServerPins],
    ) -> Sequence[str]:
        if await self._last_failure(name):
            await self._pins.save(_reach_name(name), Reachability(down=False))
        before, now = await self._change_pins(name, updated)
        if now != before and now.changed:
            log.warning(
                "MCP server %s changed %s: off until `bot mcp --accept %s`",
                name,
                ", ".join(sorted(now.changed)),
                name,
            )
        usable = {tool: self._usable(name, pin) for tool, pin in now.tools.items()}
        return [
            listed_facts.name
            for listed_facts in listed
            if (facts := usable[listed_facts.name]) and facts.is_like(listed_facts)
        ]

    async def _change_pins(
        self, name: str, updated: Callable[[ServerPins | None], ServerPins]
    ) -> tuple[ServerPins | None, ServerPins]:
        """Store what `updated` makes of a server's pins, though other processes change them, too.

        Return the pins before and after.
        """
        await self._load_pins(name)  # damaged ones are replaced
        seen: list[tuple[ServerPins | None, ServerPins]] = []

        def change(before: ServerPins | None) -> ServerPins | None:
            now = updated(before)
            seen.append((before, now))
            return now if now != before else None

        await self._pins.change(name, ServerPins, change)
        return seen[-1]

    async def _record_unreachable(self, name: str, why: str) -> None:
        await self._pins.save(_reach_name(name), Reachability(down=True, why=why))

    async def _last_failure(self, name: str) -> str:
        """Return why the last attempt to reach the server failed; "" when it succeeded."""
        try:
            reach = await self._pins.load(_reach_name(name), Reachability)
        except CorruptValue:
            return ""
        return (reach.why or "cannot be reached") if reach and reach.down else ""

    async def _load_pins(self, name: str) -> ServerPins | None:
        try:
            return await self._pins.load(name, ServerPins)
        except CorruptValue:
            # The accepted facts are lost, so all tools are off until they are accepted again.
            log.exception("The pins of MCP server %s are lost", name)
            await self._pins.save(name, ServerPins())
            return ServerPins()

    async def pinned_statuses(self) -> list[ServerStatus]:
        """Return the last known status of each server, without asking it."""
        return [await self._pinned_status(name) for name in self._servers]

    async def _live_status(self, name: str) -> ServerStatus:
        if self._servers[name].is_connected or name not in self._shared:
            if (personal := self._personal_servers) is None:
                return await self._pinned_status(name)
            error = await personal.issuer_error(name)
            return replace(await self._pinned_status(name), error=error)
        from bot.mcp.transports import describe_error, first_error

        error = ""
        try:
            await self._shared[name].refresh()
        except ToolError as failed:
            error = str(failed)
            if failed.__cause__:
                error = f"cannot be reached: {describe_error(failed.__cause__)}"
                is_missing = isinstance(first_error(failed.__cause__), FileNotFoundError)
                if self._servers[name].command and not is_missing:
                    last = self._shared[name].errors.text
                    error += (
                        f"; it says: {last}" if last else "; run its command by hand to see why"
                    )
        return replace(await self._pinned_status(name), error=error)

    async def _pinned_status(self, name: str) -> ServerStatus:
        known = await self._load_pins(name)
        pins = known or ServerPins()
        is_connected = self._servers[name].is_connected
        error = "" if known or is_connected else "has not answered yet"
        error = await self._last_failure(name) or error
        usable = tuple(
            tool
            for tool, pin in pins.tools.items()
            if self._usable(name, pin) and self._is_offered(name, tool)
        )
        hidden = tuple(sorted(self._needs_tasks(name)))
        issuer: IssuerStatus | None = None
        if self._has_issuer(name) and self._personal_servers:
            issuer = await self._personal_servers.issuer(name)
        elif self._has_issuer(name):
            usable, error = (), _NO_ACCOUNTS.format(account=self._servers[name].account)
        if issuer and not (is_connected or issuer.is_off):
            issuer = None  # the bot signs in by itself: there is nothing to say of it
        return ServerStatus(name, usable, self._changed(name, pins), error, hidden, issuer)

    def _changed(self, name: str, pins: ServerPins) -> dict[str, Pin]:
        allows = self._servers[name].allows
        return {tool: pin for tool, pin in pins.changed.items() if allows(tool)}

    def _usable(self, server: str, pin: Pin) -> ToolFacts | None:
        """Return the facts of a tool to use; None while it is off.

        At a server that people connect to, each may be listed other tools, so what one is listed turns off
        nothing for the others: each connection calls only what it was listed itself, as accepted.
        """
        return pin.accepted if self._servers[server].is_connected else pin.usable

    def _has_issuer(self, name: str) -> bool:
        return self._servers[name].account != "shared"

    def _is_offered(self, server: str, tool: str) -> bool:
        """Return whether the operator allows this tool and the bot can call it."""
        return tool not in self._needs_tasks(server) and self._servers[server].allows(tool)

    def _needs_tasks(self, name: str) -> frozenset[str]:
        """Return the tools of a shared server that the bot cannot call. A personal server may say
        that of one person's tools, which turns off nothing for the others."""
        connection = self._shared.get(name)
        return connection.needs_tasks if connection else frozenset()

    async def _build_tools(self, wanted: Sequence[tuple[str, ToolFacts]]) -> None:
        """Build tools from their facts; None, with a warning, for a tool that cannot be used."""
        if not wanted:
            return
        from bot.mcp.tools import mcp_tool

        models = await given_models(
            [
                (f"MCP server {name}, tool {facts.name}", facts.input_schema)
                for name, facts in wanted
            ]
        )
        for (name, facts), model in zip(wanted, models, strict=True):
            if isinstance(model, ToolDefinitionError):
                log.warning("A tool is left out: %s", model)
                self._tools[_key(name, facts)] = None
            else:
                server = self._servers[name]
                tool = mcp_tool(facts, model, self._connections(name), server)
                self._tools[_key(name, facts)] = tool


def _key(server: str, facts: ToolFacts) -> tuple[str, str]:
    return server, facts.digest


def _reach_name(name: str) -> str:
    """Return the storage name of a server's reachability."""
    return f"{name}/reach"


@asynccontextmanager
async def open_mcp_servers(
    servers: Mapping[str, McpServer],
    pins: Pins,
    personal: PersonalServers | None = None,
    questions: ServerQuestions | None = None,
) -> AsyncGenerator[McpServers]:
    """Provide the servers for the body, and stop at its end the ones that were started."""
    ends = asyncio.get_running_loop().time() + _DISCOVERY_SECONDS
    opened = McpServers(servers, pins, personal=personal, questions=questions, discovery_ends=ends)
    try:
        async with (
            alongside(opened.discover(), name="MCP servers"),
            alongside(opened.close_idle(), name="idle MCP connections"),
        ):
            yield opened
    finally:
        await opened.close()
