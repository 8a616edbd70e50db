"""An MCP server of the protocol 2025-11-25, without a library: `python -m tests.support.old_mcp [NOTES]`.

It tells of progress and of changes to its list of tools, and asks the person during a call. NOTES is
the file in which it writes down the answers that it got.
"""

from __future__ import annotations

import json
import os
import sys
import time
from itertools import count
from pathlib import Path
from typing import Any

from tests.support.stdio_server import STRING, text, tool

NOTES = Path(sys.argv[1]) if len(sys.argv) > 1 else None
DAY = {
    "type": "object",
    "properties": {
        "day": {"type": "string", "format": "date", "title": "Day"},
        "seats": {"type": "integer", "minimum": 1, "maximum": 8, "default": 2},
    },
    "required": ["day"],
}
TOOLS = [
    tool("open_shelf", "Open a shelf.", {"name": STRING}, required=["name"], reads=True),
    tool("work", "Work in steps.", {}, required=[], reads=True),
    tool("book", "Book a table.", {}, required=[], reads=False),
    tool("log_in", "Log in.", {}, required=[], reads=False),
    tool("pay", "Pay.", {}, required=[], reads=False),
    tool("pay_first", "Needs to be paid.", {}, required=[], reads=False),
]
QUESTIONS = {
    "book": (os.environ.get("QUESTION", "Which day?"), DAY),
    "log_in": ("Log in.", {"type": "object", "properties": {"password": STRING}}),
}
PAY = {"mode": "url", "message": "Pay here.", "url": "https://pay.example.com/p/1"}
asked = count()


def send(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer_to(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Ask the client, and wait for its answer, as a call does that waits for a person."""
    number = f"q{next(asked)}"
    send(id=number, method=method, params=params)
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("id") == number and "method" not in message:
            if NOTES:
                with NOTES.open("a") as notes:
                    notes.write(json.dumps(message.get("result") or message["error"]) + "\n")
            return message.get("result") or {"action": "error"}
        if "id" in message and "method" in message:
            send(id=message["id"], **answered(message["method"], message.get("params") or {}))
    sys.exit()


def called(name: str, params: dict[str, Any]) -> dict[str, Any]:
    token = (params.get("_meta") or {}).get("progressToken")
    match name:
        case "open_shelf":
            TOOLS.append(tool(params["arguments"]["name"], "New.", {}, required=[], reads=True))
            send(method="notifications/tools/list_changed")
            said = "Open."
        case "work":
            for step in range(1, 4):
                told = {"progressToken": token, "progress": step, "total": 3}
                message = f"step\u202e {step}\nof 3"
                send(method="notifications/progress", params={**told, "message": message})
                time.sleep(0.05)
            said = "Done."
        case "book" | "log_in":
            message, schema = QUESTIONS[name]
            question = {"mode": "form", "message": message, "requestedSchema": schema}
            said = json.dumps(answer_to("elicitation/create", question))
        case "pay":
            said = json.dumps(answer_to("elicitation/create", {**PAY, "elicitationId": "p1"}))
        case _:
            if NOTES and NOTES.exists():
                said = "Paid before."
            else:
                if NOTES:
                    NOTES.write_text("")
                data = {"elicitations": [{**PAY, "elicitationId": "p1"}]}
                return {"error": {"code": -32042, "message": "Pay first.", "data": data}}
    return {"result": {"content": [text(said)]}}


def answered(method: str, params: dict[str, Any]) -> dict[str, Any]:
    match method:
        case "initialize":
            return {
                "result": {
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {"listChanged": True}},
                    "serverInfo": {"name": "old", "version": "1"},
                }
            }
        case "tools/list":
            return {"result": {"tools": TOOLS}}
        case "tools/call":
            return called(params["name"], params)
        case _:
            return {"error": {"code": -32601, "message": "Unknown"}}


if __name__ == "__main__":
    for each in sys.stdin:
        request = json.loads(each)
        if "id" in request and "method" in request:
            send(id=request["id"], **answered(request["method"], request.get("params") or {}))
