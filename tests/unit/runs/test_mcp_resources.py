"""Resources and structured results of MCP servers, as the model gets them, over HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp.server.mcpserver import MCPServer

from bot.core.errors import ToolError
from bot.mcp import McpServer, McpServers, open_mcp_servers
from bot.mcp.pins import READ_RESOURCE, Pin, ServerPins
from bot.mcp.results import repeats, table_in
from bot.store import Stores
from bot.testing.tools import run_tool
from bot.toolkit.tool import ToolResult
from tests.support.sdk_server import library, served

FEW = ("find", "list_resources", "read_resource")


@asynccontextmanager
async def books(
    stores: Stores, server: MCPServer | None = None, **settings: Any
) -> AsyncGenerator[McpServers]:
    """The server of books, asked once for what it has."""
    async with served(server or library()) as url:
        entry = McpServer(url=url, timeout=5, **settings)
        async with open_mcp_servers({"books": entry}, stores.mcp) as opened:
            await opened.live_statuses()
            yield opened


async def called(servers: McpServers, name: str, **arguments: Any) -> ToolResult:
    """The result of a call, as the loop makes it."""
    [tool] = [each for each in await servers.tools() if each.name == name]
    assert tool.foreign
    return await run_tool(tool, arguments)


async def test_resources_are_listed_searched_and_read(stores: Stores) -> None:
    """D1: two tools of ours; a table becomes a handle, text is text, other files are kept."""
    async with books(stores) as servers:
        listed = (await called(servers, "books__list_resources")).content.splitlines()
        found = (await called(servers, "books__list_resources", query="ALL books")).content
        table = await called(servers, "books__read_resource", uri="books://all.csv")
        cover = await called(servers, "books__read_resource", uri="books://cover")
        notes = await called(servers, "books__read_resource", uri="books://notes/Emma")
    assert listed[0] == "3 resources · 1–3 · end"
    assert listed[1].startswith("- books://all.csv · all_books · text/csv · ")
    assert listed[3].startswith("- books://notes/{name} · ")
    assert found.startswith("1 resource · 1–1 · end\n- books://all.csv")
    assert "3 rows × 2 columns" in table.content
    assert table.handles[0].startswith("tbl_")
    assert cover.content.startswith("[application/x-cover, 8 bytes, saved as mcp_")
    assert notes.content == "Notes about Emma."


async def test_a_link_of_the_servers_own_is_read_by_its_address(stores: Stores) -> None:
    """D1, R16: the model learns how; an address of the web is a source, however it is written."""
    async with books(stores) as servers:
        result = await called(servers, "books__find", title="Emma")
    assert "[books__read_resource reads the addresses that are not of the web.]" in result.content
    assert [each.url for each in result.sources] == ["HTTPS://books.example/x"]


async def test_a_table_in_a_result_is_a_handle_and_shown_once(stores: Stores) -> None:
    """D1: rows can be charted and queried; text that only repeats them goes."""
    async with books(stores) as servers:
        loans = await called(servers, "books__loans", reader="Ada")
    assert loans.content.startswith("handle: tbl_")
    assert "4 rows × 3 columns" in loans.content
    assert loans.content.count("Book 2") == 1
    assert len(loans.handles) == 1


ROWS = [{"a": 1}, {"a": 2.5, "b": None}, {"b": "x"}]


@pytest.mark.parametrize(
    ("structured", "shape"),
    [
        ({"result": ROWS}, (["a", "b"], 3, {})),
        ({"rows": ROWS, "total": 3}, (["a", "b"], 3, {"total": 3})),
        ({"rows": ROWS[:2]}, None),
        ({"rows": ROWS, "more": ROWS}, None),
        ({"rows": [{"a": {}}, *ROWS]}, None),
        ({"rows": [{}, {}, {}]}, None),
        ({"rows": [1, 2, 3]}, None),
        ({"rows": [{f"c{n}": n for n in range(101)}, *ROWS]}, None),
        ({}, None),
        (None, None),
    ],
)
def test_what_a_table_is(structured: Any, shape: Any) -> None:
    """One list of flat objects, of a size that is worth a handle."""
    found = table_in(structured)
    assert (found and ([*found.columns], len(found.rows), found.rest)) == shape


@pytest.mark.parametrize(
    ("texts", "is_repeated"),
    [
        ([json.dumps({"result": ROWS}, indent=2)], True),
        ([json.dumps(ROWS)], True),
        ([json.dumps(each) for each in ROWS], True),
        ([json.dumps(ROWS[:2])], False),
        (["Three rows."], False),
        (["[" * 100_000], False),
        ([], False),
    ],
)
def test_when_text_only_repeats_the_structure(texts: list[str], is_repeated: bool) -> None:
    """As the SDK, fastmcp and others write it; other text is always kept."""
    assert repeats(texts, {"result": ROWS}) is is_repeated


async def test_a_server_without_resources_has_no_tools_for_them(stores: Stores) -> None:
    """Many servers say that they may have resources, and have none."""
    server = MCPServer("empty")
    server.tool()(find)
    async with books(stores, server) as servers:
        assert [each.name for each in await servers.tools()] == ["books__find"]


async def test_resources_that_come_later_are_off_until_accepted(stores: Stores) -> None:
    """S14: as a tool that comes later is. What the operator does not allow is never offered."""
    async with books(stores, tools=FEW) as servers:
        known = await stores.mcp.load("books", ServerPins)
        assert known
        before = {name: pin for name, pin in known.tools.items() if name == "find"}
        await stores.mcp.save("books", ServerPins(tools=before))
        await servers.live_statuses()
        assert [each.name for each in await servers.tools()] == ["books__find"]
        await servers.accept("books")
        assert len(await servers.tools()) == 3
    async with books(stores, tools=("find",)) as servers:
        assert [each.name for each in await servers.tools()] == ["books__find"]


async def test_a_tool_of_the_server_with_our_name_is_the_servers(stores: Stores) -> None:
    """S14: it is pinned as the server's tool; one that comes after ours is a change."""
    async with books(stores, tools=FEW) as servers:
        assert len(await servers.tools()) == 3
    server = library()
    server.add_tool(find, name="read_resource")
    async with books(stores, server, tools=FEW) as servers:
        assert {each.name for each in await servers.tools()} == {
            "books__find",
            "books__list_resources",
        }


async def test_new_words_of_ours_need_no_acceptance(stores: Stores) -> None:
    """A release of the bot may describe its own tools better."""
    older = READ_RESOURCE.model_copy(update={"description": "Reads."})
    async with books(stores) as servers:
        pins = ServerPins(tools={"read_resource": Pin(accepted=older)})
        await stores.mcp.save("books", pins)
        await servers.live_statuses()
        [tool] = await servers.tools()
    assert tool.description == READ_RESOURCE.description


async def test_what_cannot_be_read_is_said(stores: Stores) -> None:
    """R16: the model reads why."""
    async with books(stores) as servers:
        with pytest.raises(ToolError, match=r"The MCP server books says: .*nowhere"):
            await called(servers, "books__read_resource", uri="books://nowhere")
        with pytest.raises(ToolError, match="Without a query there are 3"):
            await called(servers, "books__list_resources", query="horses")
        with pytest.raises(ToolError, match="past the end: there are 3"):
            await called(servers, "books__list_resources", offset=3)


def find(title: str) -> str:
    """Find a book."""
    return f"{title} is here."
