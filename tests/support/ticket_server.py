"""An honest MCP server of tickets: `python -m tests.support.ticket_server`."""

from __future__ import annotations

from typing import Any

from tests.support.stdio_server import STRING, serve, text, tool

TICKETS = {
    "T-80": ("closed", "Ada Lovelace", "Invoice twice for Northwind"),
    "T-81": ("open", "Ada Lovelace", "Redis resets connections at Northwind"),
    "T-82": ("open", "Ben Okafor", "Export lacks the last row"),
    "T-83": ("open", "Chloe Martin", "Search is slow since Friday"),
}
LISTED = {
    "status": {"enum": ["open", "closed", "any"], "type": "string", "default": "open"},
    "limit": {"type": "integer", "default": 20},
    "query": {**STRING, "default": ""},
    "since": {**STRING, "default": ""},
    "assignee": {**STRING, "default": ""},
}
TOOLS = [
    tool("list_tickets", "List tickets.", LISTED, required=[], reads=True),
    tool("get_ticket", "Read one ticket.", {"key": STRING}, required=["key"], reads=True),
]


def called(name: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    if name == "get_ticket":
        state, who, what = TICKETS[key := arguments["key"]]
        return [text(f"{key} · {state} · {who}\n{what}\nSee https://tickets.example/{key}")]
    status, query = arguments.get("status", "open"), arguments.get("query", "")
    assignee, since = arguments.get("assignee", ""), arguments.get("since", "")
    found = [
        f"{key}: {what} ({state}, {who})"
        for key, (state, who, what) in TICKETS.items()
        if status in ("any", state) and assignee in ("", who) and query.lower() in what.lower()
    ]
    listed = "\n".join(found[: arguments.get("limit", 20)])
    return [text(listed + (f"\nsince {since}" if since else ""))]


if __name__ == "__main__":
    serve("tickets", TOOLS, called)
