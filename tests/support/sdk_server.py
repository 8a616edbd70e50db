"""An MCP server built with the SDK's own server side, over HTTP in the process of the test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from datetime import date
from typing import Annotated, Any

import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp.types import CallToolResult, ResourceLink, ToolAnnotations
from pydantic import BaseModel, Field

RESERVED: list[str] = []
"""The titles that were reserved, by all servers of this process."""


class Loan(BaseModel):
    """What a person says before a book is reserved for them."""

    until: date
    copies: int = Field(1, ge=1, le=3)


class LoanRow(BaseModel):
    """A row of a structured result."""

    title: str
    reader: str
    days: int


class Sure(BaseModel):
    """A yes or no."""

    sure: bool


COVER = b"\x00\x01binary"


def library() -> MCPServer:
    """A server of books, with resources of several kinds."""
    server = MCPServer("library")

    @server.resource("books://all.csv", mime_type="text/csv", description="All books.")
    def all_books() -> str:
        return "title,year\nEmma,1815\nDracula,1897\nUlysses,1922\n"

    @server.resource("books://cover", mime_type="application/x-cover")
    def cover() -> bytes:
        return COVER

    @server.resource("books://notes/{name}", description="Notes about one book.")
    def notes(name: str) -> str:
        return f"Notes about {name}."

    @server.tool()
    def find(title: str) -> CallToolResult:
        """Find a book."""
        link = ResourceLink(type="resource_link", name=title, uri=f"books://notes/{title}")
        site = ResourceLink(type="resource_link", name="Site", uri="HTTPS://books.example/x")
        return CallToolResult(content=[link, site])

    @server.tool()
    async def reserve(
        title: str, loan: Annotated[Loan, Resolve(lambda title: Elicit(f"Reserve {title}?", Loan))]
    ) -> str:
        """Reserve a book."""
        RESERVED.append(title)
        return f"{title}: {loan.model_dump_json()}"

    @server.tool()
    def loans(reader: str) -> list[LoanRow]:
        """List loans."""
        return [LoanRow(title=f"Book {n}", reader=reader, days=n) for n in range(1, 5)]

    @server.tool(annotations=ToolAnnotations(destructive_hint=True))
    async def discard(
        title: str, sure: Annotated[Sure, Resolve(lambda title: Elicit(f"Discard {title}?", Sure))]
    ) -> str:
        """Discard a book."""
        return f"{title}: {sure.sure}"

    @server.tool(annotations=ToolAnnotations(read_only_hint=True))
    async def count(ctx: Context) -> str:
        """Count the books."""
        for shelf in range(1, 4):
            await ctx.report_progress(shelf, 3, f"shelf {shelf}")
        return "3"

    @server.tool()
    async def open_shelf(name: str, ctx: Context) -> str:
        """Open a shelf, which is a tool of its own then."""
        server.add_tool(find, name=name)
        await ctx.notify_tools_changed()
        return "Open."

    return server


@asynccontextmanager
async def served(server: MCPServer) -> AsyncGenerator[str]:
    """Serve over HTTP; yields the address."""
    config = uvicorn.Config(
        server.streamable_http_app(), host="127.0.0.1", port=0, log_level="critical", lifespan="on"
    )
    running = _Server(config)
    task = asyncio.create_task(running.serve())
    while not running.started:  # noqa: ASYNC110 - uvicorn tells nobody
        await asyncio.sleep(0.01)
    try:
        port: Any = running.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        running.should_exit = running.force_exit = True
        await task


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave the signals to the tests."""
        yield
