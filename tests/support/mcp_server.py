"""An MCP server that behaves as it is told: `python -m tests.support.mcp_server <orders.json>`.

The orders are read anew each time: `description` of its tool `look`, and what a call of it does
(`say`, `hang`, `die`, `flood`, `picture`, `fail`, `refuse`, `environment`).
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
from pathlib import Path

from mcp import MCPError
from mcp.server import MCPServer
from mcp.types import ContentBlock, ImageContent, TextContent, ToolAnnotations

ORDERS = Path(sys.argv[1])


def order(name: str, otherwise: str = "") -> str:
    return str(json.loads(ORDERS.read_text("utf-8")).get(name, otherwise))


server = MCPServer("told")
READS = ToolAnnotations(read_only_hint=True)


@server.tool(description=order("description", "Look at something."), annotations=READS)
async def look(at: str) -> list[ContentBlock]:
    match order("does", "say"):
        case "hang":
            await asyncio.sleep(3600)
        case "die":
            os._exit(1)
        case "fail":
            raise ValueError("I cannot see that.")
        case "refuse":  # by the first of the codes that are a server's own
            raise MCPError(code=-32_000, message="No more today.")
        case "flood":
            return [TextContent(type="text", text=f"{at} " * 200_000)]
        case "picture":
            data = base64.b64encode(b"\x89PNG binary").decode()
            return [ImageContent(type="image", data=data, mime_type="image/png")]
        case "environment":
            return [TextContent(type="text", text=json.dumps(dict(os.environ)))]
        case _:
            pass
    return [TextContent(type="text", text=f"I see {at}.")]


@server.tool(description="Move something.")
async def move(to: str) -> str:
    ORDERS.with_suffix(".moved").write_text(to, "utf-8")
    return "Moved."


if __name__ == "__main__":
    server.run("stdio")
