"""An honest MCP server of tickets: `python -m tests.support.ticket_server`."""

from __future__ import annotations

from typing import Literal

from mcp.server import MCPServer
from mcp.types import ToolAnnotations

TICKETS = {
    "T-80": ("closed", "Ada Lovelace", "Invoice twice for Northwind"),
    "T-81": ("open", "Ada Lovelace", "Redis resets connections at Northwind"),
    "T-82": ("open", "Ben Okafor", "Export lacks the last row"),
    "T-83": ("open", "Chloe Martin", "Search is slow since Friday"),
}
server = MCPServer("tickets")
READS = ToolAnnotations(read_only_hint=True)


@server.tool(description="List tickets.", annotations=READS)
async def list_tickets(
    status: Literal["open", "closed", "any"] = "open",
    limit: int = 20,
    query: str = "",
    since: str = "",
    assignee: str = "",
) -> str:
    found = [
        f"{key}: {what} ({state}, {who})"
        for key, (state, who, what) in TICKETS.items()
        if status in ("any", state) and assignee in ("", who) and query.lower() in what.lower()
    ]
    return "\n".join(found[:limit]) + (f"\nsince {since}" if since else "")


@server.tool(description="Read one ticket.", annotations=READS)
async def get_ticket(key: str) -> str:
    state, who, what = TICKETS[key]
    return f"{key} · {state} · {who}\n{what}\nSee https://tickets.example/{key}"


if __name__ == "__main__":
    server.run("stdio")
