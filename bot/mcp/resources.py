"""Resources of MCP servers: two tools of ours for each server that has some, to list and to read.

Their descriptions are ours, so that no word of the server tells the model what to do.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable

from mcp import Client, MCPError
from mcp.types import (
    METHOD_NOT_FOUND,
    BlobResourceContents,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from bot.core.errors import ToolError
from bot.mcp.connection import Connection
from bot.mcp.pins import LIST_RESOURCES, READ_RESOURCE
from bot.text.counting import counted
from bot.toolkit.tool import ToolResult

_SHOWN = 50
_MAX_PAGES, _MAX_FOUND, _MAX_CHARACTERS = 50, 5_000, 2_000_000
_MAX_URI, _MAX_WORDS = 2_000, 200


async def list_resources(connection: Connection, arguments: dict[str, object]) -> ToolResult:
    """Return up to 50 resources that hold the words of `query`, after the first `offset`.

    Raises ToolError.
    """
    query, offset = str(arguments.get("query") or ""), _whole(arguments.get("offset"))

    async def ask(client: Client) -> list[str]:
        return [
            *await _unless_missing(_resources(client)),
            *await _unless_missing(_templates(client)),
        ]

    lines = await connection.ask(LIST_RESOURCES, ask)
    wanted = [line for line in lines if _has_words(line, query)]
    if not wanted:
        there = f" Without a query there are {len(lines):,}." if query and lines else ""
        raise ToolError(f"There is no resource{f' with {query!r}' if query else ''}.{there}")
    shown = wanted[offset : offset + _SHOWN]
    if not shown:
        raise ToolError(f"Offset {offset:,} is past the end: there are {len(wanted):,}.")
    end = offset + len(shown)
    more = f"next offset {end}" if end < len(wanted) else "end"
    head = f"{counted(f'{len(wanted):,}', 'resource')} · {offset + 1:,}–{end:,} · {more}"
    return ToolResult("\n".join((head, *shown)))


async def read_resource(
    connection: Connection, arguments: dict[str, object]
) -> list[TextResourceContents | BlobResourceContents]:
    """Return what the resource at `uri` holds. Raises ToolError."""
    uri = str(arguments["uri"])
    found = await connection.ask(READ_RESOURCE, lambda client: client.read_resource(uri))
    return found.contents


async def _unless_missing(listing: Awaitable[list[str]]) -> list[str]:
    """Return the listing; a server may offer only one of the two."""
    try:
        return await listing
    except MCPError as error:
        if error.code != METHOD_NOT_FOUND:
            raise
        return []


async def _resources(client: Client) -> list[str]:
    found: list[Resource] = []
    cursor: str | None = None
    for _ in range(_MAX_PAGES):
        page = await client.list_resources(cursor=cursor, cache_mode="refresh")
        found += page.resources
        cursor = page.next_cursor
        if not cursor or len(found) >= _MAX_FOUND:
            break
    return _lines((each.uri, each, each.size) for each in found[:_MAX_FOUND])


async def _templates(client: Client) -> list[str]:
    page = await client.list_resource_templates(cache_mode="refresh")
    found = page.resource_templates[:_MAX_FOUND]
    return [
        f"{line} · a pattern: put values in place of the braces"
        for line in _lines((each.uri_template, each, None) for each in found)
    ]


def _lines(found: Iterable[tuple[str, Resource | ResourceTemplate, int | None]]) -> list[str]:
    """Return one line for each address, name, type and size, within the limit of characters."""
    lines, left = list[str](), _MAX_CHARACTERS
    for uri, each, size in found:
        words = (each.title or each.name, each.mime_type, size and f"{size:,} bytes")
        line = " · ".join((uri, *(_short(str(word)) for word in words if word)))
        if each.description:
            line += f" · {_short(each.description)}"
        left -= len(line)
        if left < 0:
            break
        if len(uri) <= _MAX_URI and uri.isprintable():
            lines.append(f"- {line}")
    return lines


def _short(words: str) -> str:
    words = " ".join(words.split())
    return words if len(words) <= _MAX_WORDS else f"{words[:_MAX_WORDS]}…"


def _has_words(line: str, query: str) -> bool:
    line = line.casefold()
    return all(word in line for word in query.casefold().split())


def _whole(given: object) -> int:
    return given if isinstance(given, int) else 0
