"""What MCP servers tell during and between calls: changes of their list of tools, and progress."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.mcp import McpServer, McpServers, open_mcp_servers
from bot.mcp import connection as connections
from bot.store import Stores
from bot.testing.tools import run_tool
from tests.support.sdk_server import library, served

ROOT = str(Path(__file__).parents[3])
OLD = McpServer(
    command=sys.executable,
    args=("-m", "tests.support.old_mcp"),
    env={"PYTHONPATH": ROOT},
    timeout=5,
)


@asynccontextmanager
async def of_era(era: str, stores: Stores) -> AsyncGenerator[McpServers]:
    """A server of the protocol of that year, asked once for what it has."""
    if era == "2025":
        async with opened(stores, OLD) as servers:
            yield servers
    else:
        async with served(library()) as url, opened(stores, McpServer(url=url)) as servers:
            yield servers


@asynccontextmanager
async def opened(stores: Stores, server: McpServer) -> AsyncGenerator[McpServers]:
    async with open_mcp_servers({"town": server}, stores.mcp) as servers:
        await servers.live_statuses()
        yield servers


async def called(servers: McpServers, tool_name: str, **arguments: str) -> str:
    [tool] = [each for each in await servers.tools() if each.name == f"town__{tool_name}"]
    return (await run_tool(tool, arguments)).content


@pytest.mark.parametrize("era", ["2025", "2026"])
async def test_a_change_of_the_list_is_noticed_at_once(
    era: str, stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S14: without a call that would list again; what is new stays off until it is accepted."""
    monkeypatch.setattr(connections, "_LIST_PAUSE", 0.01)
    async with of_era(era, stores) as servers:
        before = {each.name for each in await servers.tools()}
        assert await called(servers, "open_shelf", name="poetry") == "Open."
        async with asyncio.timeout(10):
            while "poetry" not in (await servers.pinned_statuses())[0].changed:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert {each.name for each in await servers.tools()} == before
        await servers.accept("town")
        assert "town__poetry" in {each.name for each in await servers.tools()}
