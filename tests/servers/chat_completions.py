"""A server with Chat Completions only, for LiteLLM to stand before."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.servers.dialects import answering_call, questions, served

_USAGE = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}


@dataclass
class ChatServer:
    """Its model does what that of `dialects.Server` does; `overflows` of the next requests are too long."""

    url: str = ""
    overflows: int = 0
    talks: bool = False
    bodies: list[dict[str, Any]] = field(default_factory=list)

    async def complete(self, request: web.Request) -> web.StreamResponse:
        """POST /chat/completions."""
        body = await request.json()
        self.bodies.append(body)
        if self.overflows:
            self.overflows -= 1
            said = "This model's maximum context length is 2048 tokens."
            error = {"message": said, "code": "context_length_exceeded"}
            return web.json_response({"error": error}, status=400)
        message, reason = self._think(body)
        whole = {"id": "chat_1", "created": 1, "model": body["model"]}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": reason}
            kind = "chat.completion"
            return web.json_response(whole | {"object": kind, "choices": [choice], "usage": _USAGE})
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await stream.prepare(request)
        whole["object"] = "chat.completion.chunk"
        told: list[tuple[Any, Any]] = [(message, None), ({}, reason)]
        chunks = [
            whole | {"choices": [{"index": 0, "delta": d, "finish_reason": r}]} for d, r in told
        ]
        for chunk in (*chunks, whole | {"choices": [], "usage": _USAGE}):
            await stream.write(f"data: {json.dumps(chunk)}\n\n".encode())
        await stream.write(b"data: [DONE]\n\n")
        return stream

    def _think(self, body: dict[str, Any]) -> tuple[dict[str, Any], str]:
        """The model's message, and why it ends."""
        tools = [tool["function"] for tool in body.get("tools") or ()]
        seen = body["messages"]
        choice = body.get("tool_choice")
        forced = choice["function"]["name"] if isinstance(choice, dict) else ""
        if not tools or (self.talks and not forced):
            return {"role": "assistant", "content": questions(seen)}, "stop"
        name, arguments = answering_call(tools, seen, forced)
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"index": 0, "id": f"call_{len(self.bodies)}", "type": "function"}
        calls = [call | {"function": function}]
        return {"role": "assistant", "content": None, "tool_calls": calls}, "tool_calls"


@asynccontextmanager
async def chat_server() -> AsyncGenerator[ChatServer]:
    """Serve Chat Completions on loopback."""
    server = ChatServer()
    app = web.Application(client_max_size=2**26)
    app.router.add_post("/v1/chat/completions", server.complete)
    async with served(app) as url:
        server.url = f"{url}/v1"
        yield server
