"""An MCP server on standard input and output, without a library: one that is imported takes more
than a second, and dozens of tests start a server. The servers of others in tests have libraries.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

STRING = {"type": "string"}


class CallError(Exception):
    """A call that is answered with an error of the protocol: its code, and what it says."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def tool(
    name: str, description: str, arguments: dict[str, Any], *, required: list[str], reads: bool
) -> dict[str, Any]:
    """Return a tool as a server lists it."""
    schema = {"type": "object", "properties": arguments, "required": required}
    more = {"annotations": {"readOnlyHint": True}} if reads else {}
    return {"name": name, "description": description, "inputSchema": schema, **more}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def serve(
    name: str,
    tools: list[dict[str, Any]],
    called: Callable[[str, dict[str, Any]], list[dict[str, Any]]],
) -> None:
    """Answer until the input ends; `called` does a tool's work and returns content."""
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request or "method" not in request:
            continue
        reply = _answered(name, tools, called, request["method"], request.get("params") or {})
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}) + "\n")
        sys.stdout.flush()


def _answered(
    name: str,
    tools: list[dict[str, Any]],
    called: Callable[[str, dict[str, Any]], list[dict[str, Any]]],
    method: str,
    params: dict[str, Any],
) -> dict[str, Any]:
    match method:
        case "initialize":
            result: dict[str, Any] = {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": name, "version": "1"},
            }
        case "tools/list":
            result = {"tools": tools}
        case "tools/call":
            try:
                result = {"content": called(params["name"], params.get("arguments") or {})}
            except CallError as error:
                return {"error": {"code": error.code, "message": str(error)}}
            except ValueError as error:
                result = {"content": [text(str(error))], "isError": True}
        case "ping":
            result = {}
        case _:
            return {"error": {"code": -32601, "message": "Unknown"}}
    return {"result": result}
