"""R16, S14: MCP servers that lie, flood, never end or go away, over real pipes and sockets."""

from __future__ import annotations

import asyncio
import io
import logging
import os
import resource
import sys
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from bot.core.errors import ToolError
from bot.mcp import McpServer, ToolFacts
from bot.mcp import connection as connections
from bot.mcp.connection import Connection
from bot.mcp.tools import mcp_tool, tool_name
from bot.services.given_schema import given_model
from bot.telemetry.logs import Handler
from bot.testing.artifacts import MemoryArtifacts
from bot.testing.tools import run_tool
from bot.toolkit import Artifacts
from bot.toolkit.tool import ToolResult
from tests.support.lag import loop_lag

ROOT = str(Path(__file__).parents[2])


class Seen:
    """What a connection told of."""

    def __init__(self) -> None:
        self.tools: Sequence[ToolFacts] = ()
        self.missed = ""

    async def saw(self, listed: Sequence[ToolFacts]) -> Sequence[str]:
        self.tools = listed
        return [each.name for each in listed]

    async def miss(self, why: str) -> None:
        self.missed = why


@asynccontextmanager
async def connected(server: McpServer) -> AsyncGenerator[tuple[Connection, Seen]]:
    seen = Seen()
    connection = Connection("town", server, seen.saw, seen.miss)
    try:
        yield connection, seen
    finally:
        await connection.close()


def hostile(way: str, notes: Path | None = None, timeout: float = 20) -> McpServer:
    return McpServer(
        command=sys.executable,
        args=("-m", "tests.support.hostile_mcp", way, *([str(notes)] if notes else [])),
        env={"PYTHONPATH": ROOT},
        timeout=timeout,
    )


async def act(connection: Connection, seen: Seen, artifacts: Any = None) -> ToolResult:
    """Call the tool that changes something."""
    await connection.refresh()
    [facts] = [each for each in seen.tools if each.name == "act"]
    assert not facts.read_only
    tool = mcp_tool(
        facts, await given_model(facts.input_schema), connection, McpServer(command="any")
    )
    return await run_tool(tool, services={Artifacts: artifacts or MemoryArtifacts()})


@pytest.mark.parametrize(
    ("way", "says"),
    [("misfit", "does not fit the schema"), ("unstructured", "promised a structured result")],
)
async def test_a_change_whose_result_breaks_its_schema_is_told_as_made(way: str, says: str) -> None:
    """R16: the text is kept, and what did not fit is said beside it."""
    async with connected(hostile(way)) as (connection, seen):
        result = await act(connection, seen)
    assert result.content.startswith("It was changed.\n[")
    assert says in result.content


@pytest.mark.parametrize("way", ["unknown", "no result", "internal", "long line", "flood", "exit"])
async def test_a_change_that_was_not_answered_as_it_should_may_have_happened(
    way: str, tmp_path: Path
) -> None:
    """R16: the model never reads that a call failed which the server may have done."""
    notes = tmp_path / "notes"
    server = hostile(way, notes, timeout=3 if way == "no result" else 20)
    async with loop_lag() as lag, connected(server) as (connection, seen):
        with pytest.raises(ToolError, match="may have been done or not"):
            await act(connection, seen)
    assert len(notes.read_text().splitlines()) == 1  # made, and once
    assert lag.longest < 0.5


async def test_a_result_that_cannot_be_read_is_in_no_log() -> None:
    """O8: a result of a kind that nobody knows holds the asker's data all the same."""
    written = io.StringIO()
    handler = Handler(written)
    logging.getLogger().addHandler(handler)
    try:
        async with connected(hostile("unknown")) as (connection, seen):
            with pytest.raises(ToolError):
                await act(connection, seen)
    finally:
        logging.getLogger().removeHandler(handler)
    assert "broke off: CallToolResult: literal_error, missing" in written.getvalue()
    assert "CANARY" not in written.getvalue()


async def test_a_server_that_asks_without_an_end_is_left(tmp_path: Path) -> None:
    """S14: what the bot answers to a server's own requests earns it no more of them."""
    notes = tmp_path / "notes"
    server = hostile("asks", notes, timeout=1)
    async with connected(server) as (connection, seen):
        with pytest.raises(ToolError, match="may have been done or not"):
            await act(connection, seen)
        async with asyncio.timeout(60):
            before = 0
            while before != (now := notes.stat().st_size):
                before = now
                await asyncio.sleep(1)


async def test_a_result_of_very_many_parts_is_cut() -> None:
    """S14: pictures are files in the store, and links go into each save point."""
    store = MemoryArtifacts()
    async with connected(hostile("pictures")) as (connection, seen):
        pictures = await act(connection, seen, store)
    async with connected(hostile("links")) as (connection, seen):
        links = await act(connection, seen)
    assert pictures.content.startswith("It was changed.\n[image/png")
    assert len(store.kept) == len(pictures.handles) == 20
    assert "19980 more pictures or files are left out" in pictures.content
    assert len(links.sources) == 100
    assert all(len(source.url or "") < 5_000 for source in links.sources)
    assert "https://site.example/19999" in links.content


async def test_what_nobody_asked_for_changes_nothing() -> None:
    """S14: answers to questions never asked, and lines that are no messages."""
    async with connected(hostile("unasked")) as (connection, seen):
        assert (await act(connection, seen)).content == "It was changed."


async def test_only_addresses_are_sources() -> None:
    """R16: a link with a scheme of the server's own is text, an embedded file has its address."""
    async with connected(hostile("link")) as (connection, seen):
        result = await act(connection, seen)
    assert "notes://it" in result.content
    assert [source.url for source in result.sources] == [
        "HTTPS://site.example/it",
        "https://site.example/held/a%20b.txt",
    ]
    assert [len(source.title) for source in result.sources] == [200, len("a b.txt")]


@pytest.mark.parametrize(("way", "most"), [("endless", 100), ("circle", 1), ("many", 500)])
async def test_a_list_without_an_end_is_cut(
    way: str, most: int, caplog: pytest.LogCaptureFixture
) -> None:
    """S14: in pages and tools; the operator reads that some are left out."""
    async with connected(hostile(way)) as (connection, seen):
        async with asyncio.timeout(60):
            await connection.refresh()
    assert 1 <= len(seen.tools) <= most
    assert "left out" in caplog.text


async def test_tools_that_cannot_be_shown_or_kept_are_left_out() -> None:
    """S14: descriptions without a bound, a name twice, a name that moves the cursor."""
    async with connected(hostile("large")) as (connection, seen):
        await connection.refresh()
    assert [each.name for each in seen.tools] == ["small"]


@pytest.mark.parametrize("way", ["fat tools", "fat cursors", "fat titles"])
async def test_a_list_of_fat_pages_is_not_kept(way: str) -> None:
    """S14: 100 pages of 7 MB each are neither asked for nor held."""
    began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    async with connected(hostile(way)) as (connection, seen):
        await connection.refresh()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - began
    assert sum(len(each.description) for each in seen.tools) < 100_000
    assert grown < 250_000  # kB


async def test_no_two_tools_look_alike() -> None:
    """S6, S14: a name with something in it that draws nothing is left out."""
    async with connected(hostile("look-alikes")) as (connection, seen):
        await connection.refresh()
    assert [each.name for each in seen.tools] == ["act"]


async def test_tools_that_only_run_as_tasks_are_hidden() -> None:
    """R16: each call of them would fail."""
    async with connected(hostile("tasks")) as (connection, seen):
        await connection.refresh()
    assert [each.name for each in seen.tools] == ["act"]
    assert connection.needs_tasks == {"slow"}


async def test_a_server_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """S14: it costs a moment, not the bot."""
    monkeypatch.setattr(connections, "CONNECT_SECONDS", 1.0)
    began = time.monotonic()
    async with connected(hostile("silent")) as (connection, seen):
        with pytest.raises(ToolError, match="does not answer"):
            await connection.refresh()
        assert seen.missed == "does not answer"
    assert time.monotonic() - began < 30


async def test_noise_on_stderr_is_nobodys_concern() -> None:
    async with connected(hostile("noise")) as (connection, _):
        await connection.refresh()


async def test_what_a_server_started_ends_with_it(tmp_path: Path) -> None:
    """S14: its whole process group, though the server itself ends politely."""
    notes = tmp_path / "pid"
    async with connected(hostile("children", notes)) as (connection, _):
        await connection.refresh()
        child = int(notes.read_text())
        os.kill(child, 0)
    async with asyncio.timeout(10):
        while _is_alive(child):  # noqa: ASYNC110 - the system says so to nobody
            await asyncio.sleep(0.05)


def _is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize(
    ("status", "says"), [(401, "wants you to sign in"), (403, "does not let the bot in")]
)
async def test_a_server_that_refuses_is_said_to_refuse(
    status: int, says: str, caplog: pytest.LogCaptureFixture
) -> None:
    """R16: it can be reached."""

    async def refuse(_: web.Request) -> web.Response:
        return web.Response(status=status, text="<html>no</html>")

    async with served(refuse) as url, connected(McpServer(url=url)) as (connection, seen):
        with pytest.raises(ToolError, match=says) as caught:
            await connection.refresh()
    assert says in seen.missed
    assert says in caplog.text
    assert "reached" not in f"{caught.value}{seen.missed}{caplog.text}"


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
async def test_an_answer_without_an_end_is_left(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """S14: over HTTP, too, neither memory nor time is without a bound."""
    monkeypatch.setattr(connections, "CONNECT_SECONDS", 20.0)

    async def endless(_: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": kind})
        await response.prepare(_)
        while True:
            await response.write(b"data: x" * 10_000)

    async with served(endless) as url, connected(McpServer(url=url, timeout=15)) as (connection, _):
        with pytest.raises(ToolError, match="MCP server town"):
            await connection.refresh()


class Resumed:
    """A server whose answer to a call breaks off, to be asked for again; `gets` counts that."""

    def __init__(self, status: int) -> None:
        self._status = status
        self.gets = 0

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if request.method == "GET":
            self.gets += 1
            return await self._cut(request) if self._status == 200 else web.Response(status=401)
        asked = await request.json()
        result: dict[str, Any]
        match asked.get("method"):
            case "initialize":
                about = {"serverInfo": {"name": "x", "version": "1"}, "capabilities": {"tools": {}}}
                result = {"protocolVersion": "2025-11-25", **about}
            case "tools/list":
                result = {"tools": [{"name": "act", "inputSchema": {"type": "object"}}]}
            case "tools/call":
                return await self._cut(request)
            case "server/discover":
                return web.Response(status=404)
            case _:
                return web.Response(status=202)
        return web.json_response({"jsonrpc": "2.0", "id": asked["id"], "result": result})

    async def _cut(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        await response.write(f"id: {self.gets}\nretry: 0\ndata: \n\n".encode())
        return response


@pytest.mark.parametrize("status", [200, 401])
async def test_a_change_whose_answer_broke_off_may_have_happened(status: int) -> None:
    """R16, S14: also where the rest of the answer is refused. And nobody asks for it in a storm, or
    after the call was given up."""
    server = Resumed(status)
    async with (
        served(server.answer) as url,
        connected(McpServer(url=url, timeout=1)) as (connection, seen),
    ):
        with pytest.raises(ToolError, match="may have been done or not"):
            await act(connection, seen)
        await asyncio.sleep(1)
        asked = server.gets
        await asyncio.sleep(1)
        assert server.gets == asked <= 5


@asynccontextmanager
async def served(handler: Any) -> AsyncGenerator[str]:
    application = web.Application()
    application.router.add_route("*", "/mcp", handler)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/mcp"
    finally:
        await runner.cleanup()


def test_no_two_tools_share_a_name() -> None:
    """S14: whatever servers call their tools, and the same name each time."""
    tools = [
        ("a", "b.c"), ("a", "b_c"), ("a", "b c"), ("a__b", "c"), ("a", "b__c"), ("a.b", "c"),
        ("a_b", "c"), ("a", "x" * 70 + "1"), ("a", "x" * 70 + "2"), ("a_", "b"), ("a", "_b"),
        ("é", "b"), ("è", "b"),
    ]  # fmt: skip
    names = [tool_name(*each) for each in tools]
    assert len(set(names)) == len(tools)
    assert all(len(name) <= 64 and name.isascii() for name in names)
    assert tool_name("town", "get_time") == "town__get_time"
    assert tool_name("a", "b.c") == names[0]
