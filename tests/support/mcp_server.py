"""An MCP server that behaves as it is told: `python -m tests.support.mcp_server <orders.json>`.

The orders are read anew each time: `description` of its tool `look`, and what a call of it does
(`say`, `hang`, `die`, `flood`, `picture`, `fail`, `refuse`, `environment`).
"""

from __future__ import annotations

import base64
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from tests.support.stdio_server import STRING, CallError, serve, text, tool

ORDERS = Path(sys.argv[1])


def order(name: str, otherwise: str = "") -> str:
    return str(json.loads(ORDERS.read_text("utf-8")).get(name, otherwise))


def called(name: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    if name == "move":
        ORDERS.with_suffix(".moved").write_text(arguments["to"], "utf-8")
        return [text("Moved.")]
    match order("does", "say"):
        case "hang":
            time.sleep(3600)
        case "die":
            os._exit(1)
        case "fail":
            raise ValueError("I cannot see that.")
        case "refuse":  # by the first of the codes that are a server's own
            raise CallError(-32_000, "No more today.")
        case "flood":
            return [text(f"{arguments['at']} " * 200_000)]
        case "picture":
            data = base64.b64encode(b"\x89PNG binary").decode()
            return [{"type": "image", "data": data, "mimeType": "image/png"}]
        case "environment":
            return [text(json.dumps(dict(os.environ)))]
        case _:
            pass
    return [text(f"I see {arguments['at']}.")]


TOOLS = [
    tool(
        "look",
        order("description", "Look at something."),
        {"at": STRING},
        required=["at"],
        reads=True,
    ),
    tool("move", "Move something.", {"to": STRING}, required=["to"], reads=False),
]

if __name__ == "__main__":
    serve("told", TOOLS, called)
