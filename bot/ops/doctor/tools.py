"""Checks of what tools use: their clients, databases, web search and MCP servers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress
from typing import TypeVar

from pydantic import BaseModel

from bot.app.features import all_features, allowed_names, mcp_doors
from bot.app.run_setup import web_search
from bot.app.tool_states import names_by, tool_states
from bot.core.check import SECONDS, Check, ok, problem, warning
from bot.core.errors import ConfigurationError, StoreError, ToolDefinitionError, ToolError
from bot.features import Feature
from bot.mcp import Pins, ServerStatus, open_mcp_servers
from bot.services.sql_databases import SqlDatabases
from bot.settings import Settings
from bot.settings.checks import check_tools
from bot.settings.errors import UNSET
from bot.store import open_stores
from bot.toolkit import Search


async def examine_tools(settings: Settings) -> list[Check]:
    """Load all tools and open their clients, as a worker does; call no tool."""
    try:
        states = await tool_states(settings)
    except (ToolDefinitionError, ConfigurationError) as error:
        return [problem("tools", str(error), "correct it: the bot does not start before")]
    count = len(states.catalogue.tools) - len(states.off) - len(states.broken)
    off = [f"off: {names} ({reason})" for names, reason in names_by(states.off)]
    checks = [ok("tools", "; ".join((f"{count} are offered", *off)))]
    for group, text in states.problems:
        names = [name for name, reason in names_by(states.broken) if reason == text]
        lost = f"; off: {names[0]}" if names else ""
        fix = f"correct its service, or [tools.{group}] in bot.toml; the bot tries again by itself"
        checks.append(warning(f"tools {group}", f"{text}{lost}", fix))
    is_allowed = allowed_names(settings)
    try:
        check_tools(settings, is_allowed)
    except ConfigurationError as error:
        checks.append(problem("channels", str(error), "correct it in bot.toml"))
    commands = (*settings.hooks.before_tool, *settings.hooks.after_tool)
    now = states.catalogue.now  # a command on a tool that is gone does not run for what replaces it
    names = [command.tool for command in commands]
    if unused := [n for n in names if now(n) != n or not is_allowed(n)]:
        text = f"there is no tool {', '.join(unused)}: these commands never run"
        checks.append(warning("hooks", text, "correct `tool` in bot.toml; `bot tools` lists all"))
    return checks


async def examine_databases(settings: Settings) -> list[Check]:
    """Ask each database, as the tools would, what its role may do."""
    databases = SqlDatabases(settings.databases)
    return [check for name in settings.databases for check in await _examined(databases, name)]


async def _examined(databases: SqlDatabases, name: str) -> list[Check]:
    subject = f"database {name}"
    try:
        more = await databases.extra_privileges(name)
    except ToolError as error:
        cause = (
            str(error).removeprefix(f"{name}: ").removeprefix("The database refused the query: ")
        )
        fix = f"start it, or correct url under [databases.{name}] in bot.toml"
        return [problem(subject, cause, fix)]
    if not more:
        return [ok(subject, "answers")]
    fix = "give it a role with only SELECT, on data that everybody here may see"
    return [ok(subject, "answers"), warning(subject, f"its role {'; '.join(more)}", fix)]


_SUBJECT = "web search"


async def examine_web_search(settings: Settings) -> list[Check]:
    """Search once, as the tool does; check nothing when no provider is set."""
    if settings.web_search is None:
        return []
    name = settings.web_search.provider
    try:
        results = await web_search(settings, settings.web_search).search(
            Search("wikipedia", limit=1)
        )
    except ConfigurationError as error:
        return [problem(_SUBJECT, str(error), "set it, or remove [web_search] from bot.toml")]
    except ToolError as error:
        fix = "check [web_search] in bot.toml, WEB_SEARCH_API_KEY, and your plan with the provider"
        cause, *_ = str(error).split(". ")  # the rest tells the model what to do
        return [warning(_SUBJECT, f"{name}: {cause.rstrip('.')}", fix)]
    if not results:
        fix = "check the search engines it queries: they probably block it"
        return [warning(_SUBJECT, f"{name} answers but finds nothing", fix)]
    return [ok(_SUBJECT, f"{name} answers")]


M = TypeVar("M", bound=BaseModel)


class _ReadOnlyPins:
    """What was accepted, as stored; changes stay in memory, as this check changes nothing."""

    def __init__(self, stored: Pins | None) -> None:
        self._stored = stored
        self._values: dict[str, BaseModel] = {}

    async def load(self, name: str, kind: type[M]) -> M | None:
        """Return the value saved since the check began, or the stored one; None if it cannot be read,
        which the check of Redis reports."""
        value = self._values.get(name)
        if value is None and self._stored is not None:
            try:
                async with asyncio.timeout(SECONDS):
                    value = await self._stored.load(name, kind)
            except (StoreError, TimeoutError):
                self._stored = None
        return value if isinstance(value, kind) else None

    async def save(self, name: str, value: BaseModel) -> None:
        """Keep the value in memory only."""
        self._values[name] = value

    async def change(
        self, name: str, kind: type[M], change: Callable[[M | None], M | None]
    ) -> None:
        """Keep the changed value in memory only."""
        if (changed := change(await self.load(name, kind))) is not None:
            self._values[name] = changed


async def examine_mcp(settings: Settings, features: Sequence[Feature] | None = None) -> list[Check]:
    """Ask each server for its tools; call none. `features` are those of the bot instead of all."""
    unset = [
        _unset(name, variable)
        for name, server in settings.mcp_servers.items()
        for _, variable in server.unset_variables
    ]
    complete = {
        name: server for name, server in settings.mcp_servers.items() if not server.unset_variables
    }
    if not complete:
        return unset
    async with AsyncExitStack() as stack:
        stored: Pins | None = None
        if settings.redis_url is not None:
            with suppress(ConfigurationError, StoreError, ValueError):
                stores = await stack.enter_async_context(open_stores(settings.redis_url))
                stored = stores.mcp
        pins = _ReadOnlyPins(stored)
        doors = mcp_doors(all_features(settings) if features is None else features, pins)
        opened = open_mcp_servers(complete, pins, **doors)
        servers = await stack.enter_async_context(opened)
        return [*unset, *(_check(status) for status in await servers.live_statuses())]


def _unset(server: str, variable: str) -> Check:
    fix = f"set it in .env, or remove [mcpServers.{server}] from bot.toml: the bot does not start before"
    return problem(f"MCP server {server}", UNSET.format(variable=variable), fix)


def _check(status: ServerStatus) -> Check:
    subject = f"MCP server {status.name}"
    if status.issuer and status.issuer.is_off:
        text = "off, as it names another issuer or other endpoints than before"
        fix = f"compare them with `bot mcp`, then accept: `bot mcp --accept {status.name}`"
        return warning(subject, text, fix)
    if status.error:
        where = f"[mcpServers.{status.name}] in bot.toml"
        fix = f"start it, or correct {where}; its tools are missing until then"
        return warning(subject, status.error, fix)
    if status.issuer and not (status.usable or status.changed):
        return ok(subject, "lets people connect; its tools are known once an admin has")
    if not (status.usable or status.changed):
        fix = f"check `tools` under [mcpServers.{status.name}] in bot.toml"
        return warning(subject, "answers but offers no tools", fix)
    offers = f"offers {_tools(len(status.usable))}"
    if status.hidden:
        offers += (
            f"; {', '.join(status.hidden)}: available only as tasks, which the bot does not support"
        )
    if status.changed:
        text = (
            f"{offers}; disabled because they are new or have changed: {', '.join(status.changed)}"
        )
        fix = f"read the changes with `bot mcp`, then accept them: `bot mcp --accept {status.name}`"
        return warning(subject, text, fix)
    return ok(subject, offers)


def _tools(count: int) -> str:
    return "1 tool" if count == 1 else f"{count} tools"
