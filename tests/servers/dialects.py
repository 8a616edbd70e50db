"""Dialects of the Responses API, and a small server for each over a real socket.

A row says where a server differs from OpenAI's, as it was measured or read in November 2026; the server
does that and nothing more. Its model calls `add` once for each question, then gives a result that names
all questions it can see, so that a lost conversation shows.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from aiohttp import web

from bot.dev.model import events
from bot.dev.model.items import new_id
from tests.support.runs import answer

Item = dict[str, Any]
Reply = tuple[int, Any]  # HTTP status and body
MODEL = "small-model"


def refusal(status: int, message: str, **more: Any) -> Reply:
    """An error as most servers send it."""
    return status, {"error": {"message": message, **more}}


_PLAIN_404: Reply = (404, {"detail": "Not Found"})
_TOO_LONG = refusal(400, "Too long.", code="context_length_exceeded")


@dataclass(frozen=True)
class Dialect:
    """Where a server differs.

    - `parent`: what becomes of `previous_response_id`. "other id", "no echo" and "ignored", which says
      that it was heard, answer without the conversation; of the rest the reply is an error.
    - `echoes_store`: what a response says of `store`; None for nothing.
    - `forced`: what becomes of a `tool_choice` that names a tool: followed, ignored, or an error.
    - `is_required_followed`: whether "required" works.
    - `bare`: the stream has neither `event:` lines nor numbers, and ends with `[DONE]`.
    - `unplaced`: events name neither places nor items, and the first one holds little.
    - `described`: what GET of one model says; None for the description.
    - `window`: where the list of models tells the window; "" for nowhere.
    - `overflow`: the words for a request that is too long; None where it is cut without a word.
    - `refused`: what is refused in `include` and `reasoning`, with the words.
    - `needs_types`: messages of the model need a type, reasoning needs content.
    """

    name: str
    parent: Literal["kept", "other id", "no echo", "ignored"] | Callable[[str], Reply] = "kept"
    echoes_store: bool | None = True
    forced: Literal["followed", "ignored"] | Reply = "followed"
    is_required_followed: bool = True
    bare: bool = False
    unplaced: bool = False
    described: Reply | None = None
    window: str = ""
    overflow: Reply | None = _TOO_LONG
    refused: dict[str, Reply] = field(default_factory=dict)
    needs_types: bool = False


DIALECTS = (
    Dialect("OpenAI"),
    Dialect("Azure OpenAI"),  # read: its own differences are the address and names of deployments
    Dialect(
        "LiteLLM",
        parent="other id",
        echoes_store=None,
        bare=True,
        overflow=refusal(
            400,
            "litellm.ContextWindowExceededError: AnthropicException - prompt is too long",
            code="400",
        ),
    ),
    Dialect("ogx", forced="ignored", is_required_followed=False, bare=True),
    Dialect(
        "ogx that lost its store",
        parent=lambda parent: (200, {"message": f"Response '{parent}' not found", "code": "404"}),
        forced="ignored",
        is_required_followed=False,
        bare=True,
    ),
    Dialect(
        "llama.cpp",
        parent=lambda _: refusal(
            400, "llama.cpp does not support 'previous_response_id'.", code=400
        ),
        echoes_store=None,
        forced="ignored",
        unplaced=True,
        described=refusal(404, "File Not Found", type="not_found_error", code=404),
        window="meta.n_ctx",
        overflow=refusal(
            400,
            "the request exceeds the available context size (2048 tokens), try increasing it",
            code=400,
            type="exceed_context_size_error",
        ),
        needs_types=True,
    ),
    Dialect(
        "Ollama",
        parent="no echo",
        echoes_store=False,
        forced="ignored",
        is_required_followed=False,
        overflow=None,
        refused={
            "minimal": refusal(400, "invalid reasoning value: 'minimal' (must be \"low\")"),
        },
    ),
    Dialect(
        "vLLM",
        parent=lambda parent: refusal(404, f"Response with id '{parent}' not found.", code=404),
        described=_PLAIN_404,
        window="max_model_len",
        overflow=refusal(
            400, "This model's maximum context length is 2048 tokens.", code=400, param=None
        ),
        refused={
            "web_search_call.action.sources": refusal(
                400,
                "1 validation error: {'type': 'literal_error', 'loc': ('body', 'include', 0)}",
                code=400,
            ),
        },
    ),
    Dialect(
        "LM Studio",
        forced=(400, {"error": "Invalid tool_choice type: 'object'. Supported: none, auto"}),
        described=(200, {"error": "Unexpected endpoint or method. (GET /v1/models/small-model)"}),
        overflow=(400, {"error": "The number of tokens is greater than the context length."}),
    ),
    Dialect("OpenRouter", parent="no echo", echoes_store=False),  # read: it stores nothing
)


@dataclass
class Server:
    """A server with one model. It keeps what it was asked; `talks` makes its model answer in text
    unless a tool is forced, and `overflows` is how many of the next requests are too long."""

    dialect: Dialect
    url: str = ""
    api_key: str = "sk-local"
    models: tuple[str, ...] = (MODEL,)
    window: int = 32_768
    talks: bool = False
    overflows: int = 0
    bodies: list[dict[str, Any]] = field(default_factory=list)
    kept: dict[str, list[Item]] = field(default_factory=dict)

    async def respond(self, request: web.Request) -> web.StreamResponse:
        """POST /responses."""
        body = await request.json()
        self.bodies.append(body)
        reply = self._reply(body)
        if not isinstance(reply, tuple):
            return await self._send(request, body, reply)
        status, said = reply
        if status != web.HTTPOk.status_code:
            return web.json_response(said, status=status)
        return await _stream(request, [f"data: {json.dumps({'type': 'error', **said})}\n\n"])

    def _reply(self, body: dict[str, Any]) -> Reply | list[Item]:
        """An error, or the output of the model."""
        dialect, parent = self.dialect, body.get("previous_response_id")
        asked_for = json.dumps([body.get("include"), body.get("reasoning")])
        for value, refused in dialect.refused.items():
            if value in asked_for:
                return refused
        if isinstance(body.get("tool_choice"), dict) and isinstance(dialect.forced, tuple):
            return dialect.forced
        if parent and callable(dialect.parent):
            return dialect.parent(parent)
        if dialect.needs_types and (wrong := _untyped(body["input"])):
            return refusal(400, wrong, code=400, type="invalid_request_error")
        if dialect.overflow and self.overflows:
            self.overflows -= 1
            return dialect.overflow
        before = self.kept.get(str(parent), []) if dialect.parent == "kept" else []
        return self._think(body, [*before, *body["input"]])

    def _think(self, body: dict[str, Any], seen: list[Item]) -> list[Item]:
        """The output of the model, which sees these items."""
        tools = [tool for tool in body.get("tools") or () if "name" in tool]
        forced = self._forced(body, [tool["name"] for tool in tools])
        if not tools or (self.talks and not forced):
            return [_message(questions(seen))]
        return [_call(*answering_call(tools, seen, forced))]

    def _forced(self, body: dict[str, Any], names: list[str]) -> str:
        choice = body.get("tool_choice")
        if isinstance(choice, dict):
            return choice["name"] if self.dialect.forced == "followed" else ""
        is_forced = choice == "required" and self.dialect.is_required_followed
        return names[-1] if is_forced else ""

    async def _send(
        self, request: web.Request, body: dict[str, Any], output: list[Item]
    ) -> web.StreamResponse:
        response_id, parent = new_id("resp"), body.get("previous_response_id")
        self.kept[response_id] = [*self.kept.get(str(parent), []), *body["input"], *output]
        response = {
            "id": response_id,
            "object": "response",
            "status": "completed",
            "model": body["model"],
            "output": output,
            "usage": {"input_tokens": 9, "output_tokens": 3},
        }
        if self.dialect.parent in ("kept", "other id", "ignored"):
            is_other = self.dialect.parent == "other id"
            response["previous_response_id"] = "c1" if is_other else parent
        if self.dialect.echoes_store is not None:
            response["store"] = self.dialect.echoes_store
        if not body.get("stream"):
            return web.json_response(response)
        return await _stream(request, self._lines(response))

    def _lines(self, response: dict[str, Any]) -> Iterator[str]:
        """The stream of a response in the server's dialect."""
        begun = {"id": response["id"], "object": "response", "status": "in_progress"}
        opening = begun if self.dialect.unplaced else {**response, **begun, "output": []}
        told = (
            *events.opening(opening),
            *events.body(response["output"]),
            *events.closing(response),
        )
        for number, event in enumerate(told):
            unsaid = {"output_index", "item_id"} if self.dialect.unplaced else set()
            data = {key: value for key, value in event.items() if key not in unsaid}
            if not (self.dialect.unplaced or self.dialect.bare):
                data["sequence_number"] = number
            name = "" if self.dialect.bare else f"event: {event['type']}\n"
            yield f"{name}data: {json.dumps(data)}\n\n"
        if self.dialect.bare:
            yield "data: [DONE]\n\n"

    async def list_models(self, _request: web.Request) -> web.Response:
        """GET /models."""
        return web.json_response({"object": "list", "data": [*map(self._described, self.models)]})

    async def describe(self, request: web.Request) -> web.Response:
        """GET /models/{name}."""
        name = request.match_info["name"]
        if self.dialect.described:
            status, said = self.dialect.described
            return web.json_response(said, status=status)
        if name in self.models:
            return web.json_response(self._described(name))
        return web.json_response(refusal(404, f"The model '{name}' does not exist.")[1], status=404)

    def _described(self, name: str) -> dict[str, Any]:
        windows: dict[str, dict[str, Any]] = {
            "meta.n_ctx": {"meta": {"n_ctx": self.window, "n_ctx_train": 131_072}},
            "max_model_len": {"max_model_len": self.window},
        }
        return {"id": name, "object": "model", **windows.get(self.dialect.window, {})}


def _untyped(items: list[Item]) -> str:
    """What llama.cpp's server says of an item that it refuses."""
    for item in items:
        if item.get("role") == "assistant" and item.get("type") != "message":
            return "Cannot determine type of 'item'"
        if item.get("type") == "reasoning" and not item.get("content"):
            return "item['content'] is not an array"
    return ""


def _message(text: str) -> Item:
    content = [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]
    return {
        "type": "message",
        "id": new_id("msg"),
        "role": "assistant",
        "status": "completed",
        "content": content,
    }


def _call(name: str, arguments: dict[str, Any]) -> Item:
    return {
        "type": "function_call",
        "id": new_id("fc"),
        "call_id": new_id("call"),
        "name": name,
        "arguments": json.dumps(arguments),
        "status": "completed",
    }


def questions(seen: list[Item]) -> str:
    """The questions that the model sees, marked with "Q" in tests."""
    said = [str(item.get("content")) for item in seen if item.get("role") == "user"]
    found = [word for text in said for word in text.split() if word.startswith("Q")]
    return " ".join(dict.fromkeys(found)) or "nothing"


def answering_call(
    tools: list[dict[str, Any]], seen: list[Item], forced: str
) -> tuple[str, dict[str, Any]]:
    """The name and arguments of the model's call: the forced one, `add` once for each question, or the
    result."""
    by_name = {tool["name"]: tool["parameters"]["properties"] for tool in tools}
    is_worked_on = "function_call_output" in seen[-1].values() or "tool" in seen[-1].values()
    is_over = is_worked_on or "add" not in by_name
    name = forced or (
        "complete_task" if is_over and "complete_task" in by_name else next(iter(by_name))
    )
    states = re.findall(r"the state ([\w-]+)", json.dumps(seen))
    known = {**answer(questions(seen)), "a": 1, "b": 1, "state": (states or ["unknown"])[0]}
    properties = by_name[name].items()
    return name, {key: known.get(key, (each.get("enum") or ["x"])[0]) for key, each in properties}


async def _stream(request: web.Request, lines: Any) -> web.StreamResponse:
    stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await stream.prepare(request)
    for line in lines:
        await stream.write(line.encode())
    return stream


@asynccontextmanager
async def served(app: web.Application) -> AsyncGenerator[str]:
    """Serve `app` on loopback. Yield its address."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def server(dialect: Dialect, **settings: Any) -> AsyncGenerator[Server]:
    """Serve the dialect's small server on loopback."""
    speaking = Server(dialect, **settings)
    app = web.Application()
    app.router.add_post("/v1/responses", speaking.respond)
    app.router.add_get("/v1/models", speaking.list_models)
    app.router.add_get("/v1/models/{name}", speaking.describe)
    async with served(app) as url:
        speaking.url = f"{url}/v1"
        yield speaking
