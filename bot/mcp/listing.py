"""Listing of a server's tools, within limits: a server may list anything, without an end."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mcp import Client
from mcp.types import Tool

from bot.mcp.config import McpServer
from bot.mcp.pins import LIST_RESOURCES, READ_RESOURCE, ToolFacts
from bot.mcp.transports import first_error
from bot.text.invisible_text import without_invisible

log = logging.getLogger(__name__)

_RESOURCES_SECONDS = 5.0  # to find out whether a server has resources
_MAX_TOOLS, _MAX_PAGES = 500, 100
_MAX_ALL_TOOLS, _MAX_TOOL = 2_000_000, 100_000  # characters of all tools, and of one
_MAX_LISTED = 16_000_000  # characters of all pages, tools that are left out included
_MAX_NAME, _MAX_CURSOR = 128, 10_000


@dataclass(frozen=True, slots=True)
class Listing:
    """What a server listed: tools that the bot can use, by name, and those that it cannot use
    because they `needs_tasks`. `output_schemas` are those of structured results."""

    tools: Mapping[str, ToolFacts] = field(default_factory=dict)
    output_schemas: Mapping[str, dict[str, object]] = field(default_factory=dict)
    needs_tasks: frozenset[str] = frozenset()

    @property
    def reads_resources(self) -> bool:
        """Whether the server has resources, which our own tools can read."""
        return self.tools.get(READ_RESOURCE.name) == READ_RESOURCE


async def list_tools(client: Client, name: str, server: McpServer, before: Listing) -> Listing:
    """Ask the server `name` for its tools. `before` is the listing before."""
    found = await _all_pages(client, name)
    wanted = [tool for tool in found if server.allows(tool.name)]
    needs_tasks = frozenset(
        tool.name for tool in wanted if tool.execution and tool.execution.task_support == "required"
    )
    usable = await _within_bounds(name, [tool for tool in wanted if tool.name not in needs_tasks])
    has_resources = await _has_resources(client, name, before)
    ours = (LIST_RESOURCES, READ_RESOURCE) if has_resources else ()
    tools = {own.name: own for own in ours if server.allows(own.name)}
    return Listing(
        tools | {tool.name: server.facts(tool) for tool in usable},
        {tool.name: tool.output_schema for tool in usable if tool.output_schema is not None},
        needs_tasks,
    )


async def _all_pages(client: Client, name: str) -> list[Tool]:
    found: list[Tool] = []
    cursor: str | None = None
    seen: set[str | None] = set()
    listed = 0
    while (
        cursor not in seen
        and len(cursor or "") <= _MAX_CURSOR
        and len(seen) < _MAX_PAGES
        and len(found) <= _MAX_TOOLS
        and listed <= _MAX_LISTED
    ):
        seen.add(cursor)
        page = await client.list_tools(cursor=cursor, cache_mode="refresh")
        found += page.tools
        listed += sum(map(_size, page.tools))
        cursor = page.next_cursor
        if not cursor:
            return found
    log.warning("MCP server %s lists without an end; the rest is left out", name)
    return found


async def _has_resources(client: Client, name: str, before: Listing) -> bool:
    """Return whether the server lists any resource; many say that they may, and have none."""
    if client.server_capabilities.resources is None:
        return False
    try:
        async with asyncio.timeout(_RESOURCES_SECONDS):
            if (await client.list_resources(cache_mode="refresh")).resources:
                return True
            found = await client.list_resource_templates(cache_mode="refresh")
            return bool(found.resource_templates)
    except Exception as error:  # noqa: BLE001 - a server may cause any error, its tools go on
        log.info("MCP server %s lists no resources: %s", name, first_error(error))
        return before.reads_resources


async def _within_bounds(server: str, listed: Sequence[Tool]) -> list[Tool]:
    """Return the tools within the limits: each once, with a printable name, and not too large
    alone or together. Log the others."""
    usable: dict[str, Tool] = {}
    left_out: list[str] = []
    left = _MAX_ALL_TOOLS
    for tool in listed:
        size = _size(tool)
        if (
            size > min(left, _MAX_TOOL)
            or len(usable) == _MAX_TOOLS
            or tool.name in usable
            or not tool.name.isprintable()
            or tool.name != without_invisible(tool.name)
            or not 0 < len(tool.name) <= _MAX_NAME
        ):
            left_out.append(tool.name[:_MAX_NAME])
        else:
            usable[tool.name] = tool
            left -= size
        await asyncio.sleep(0)  # let other tasks run
    if left_out:
        log.warning(
            "MCP server %s: %d tools are left out, as they are too many, too large, listed "
            "twice or without a name that can be shown: %s",
            server,
            len(left_out),
            ", ".join(left_out[:5]),
        )
    return list(usable.values())


def _size(tool: Tool) -> int:
    """Return the number of characters in a tool's listing."""
    try:
        schemas = sum(len(json.dumps(schema)) for schema in (tool.input_schema, tool.output_schema))
        return schemas + len(tool.description or "") + len(tool.title or "")
    except (RecursionError, ValueError):
        return _MAX_ALL_TOOLS
