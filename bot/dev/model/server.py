"""The Responses API over a real socket, strict about everything the real one refuses.

`ResponsesServer.open(brain=…)` serves it on loopback; the brain (a script, the demo or any
callable) is asked for a reply once a request has passed every check.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from aiohttp import web

from . import errors, items
from .cache import InputTokens, PromptCache
from .chains import Chains, Stored
from .checks import as_items, check_body, check_choice, check_tools, parse
from .faults import STREAM_KINDS, Fault, Faults
from .replies import Item, Reply
from .request import ModelRequest
from .routes import add_routes
from .sealing import Seal
from .speech import Heard, read_form, transcribed
from .streaming import Sender

Brain = Callable[[ModelRequest], Reply | Awaitable[Reply]]
DEFAULT_WINDOW = 922_000
MAX_BODY_BYTES = 64 * 1024 * 1024


@dataclass(slots=True)
class Received:
    """A request that reached the server; `at` is in seconds since the epoch."""

    body: dict[str, Any]
    headers: dict[str, str]
    at: float
    response_id: str | None = None
    error: dict[str, Any] | None = None


@dataclass
class ResponsesServer:
    """The state of one server; open it with `ResponsesServer.open`.

    `windows` maps a model to its maximum of input tokens; `latency` and `chunk_delay` are in
    seconds; `strict=False` skips the checks of shapes, for benchmarks. `counts_tokens=False` reports no
    tokens, for brains that are no models. Without `transcribes` there are no transcriptions, as at many
    services; `heard` are those that were asked for, which are answered once `listening` is set, if it is
    given.
    """

    brain: Brain
    api_key: str = "sk-key-for-local-use"
    url: str = ""
    strict: bool = True
    counts_tokens: bool = True
    latency: float = 0.0
    chunk_delay: float = 0.0
    windows: dict[str, int] = field(default_factory=dict)
    transcribes: bool = True
    listening: asyncio.Event | None = None
    heard: list[Heard] = field(default_factory=list)
    requests: list[Received] = field(default_factory=list)
    faults: Faults = field(default_factory=Faults)
    seal: Seal = field(default_factory=Seal)

    def __post_init__(self) -> None:
        self.chains = Chains(self.seal)
        self.cache = PromptCache()
        self.closing = asyncio.Event()
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self._changed = asyncio.Event()

    @classmethod
    @asynccontextmanager
    async def open(
        cls, brain: Brain, *, host: str = "127.0.0.1", port: int = 0, **settings: Any
    ) -> AsyncGenerator[ResponsesServer]:
        """Serve until the block ends; port 0 takes a free one."""
        server = cls(brain, **settings)
        app = web.Application(client_max_size=MAX_BODY_BYTES)
        add_routes(app, server)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
        await runner.setup()
        try:
            site = web.TCPSite(runner, host, port)
            await site.start()
            server.url = f"http://{host}:{runner.addresses[0][1]}/v1"
            yield server
        finally:
            server.closing.set()
            for task in server.tasks.values():
                task.cancel()
            await asyncio.gather(*server.tasks.values(), return_exceptions=True)
            await runner.cleanup()

    @property
    def responses(self) -> dict[str, Stored]:
        """Every response, stored or not, by id."""
        return self.chains.responses

    def conversation(self, response_id: str) -> list[Item]:
        """Return all items of the chain that ends with this response, oldest first."""
        return self.chains.responses[response_id].conversation()

    async def until(self, condition: Callable[[], object], timeout: float = 10) -> None:  # noqa: ASYNC109 (the tests' own interface)
        """Wait until `condition()` is true. Raises TimeoutError after `timeout` seconds."""
        async with asyncio.timeout(timeout):
            while not condition():
                self._changed.clear()
                # The condition may depend on more than this server, hence the short wait.
                try:
                    await asyncio.wait_for(self._changed.wait(), 0.02)
                except TimeoutError:
                    continue

    def window(self, model: str) -> int:
        """Return the maximum of input tokens of a model."""
        return self.windows.get(model, DEFAULT_WINDOW)

    def admit(self, body: dict[str, Any]) -> ModelRequest:
        """Return the request once it has passed every check. Raises ApiError."""
        tools_text = json.dumps(body.get("tools") or [])
        if self.strict:
            check_body(body)
            check_tools(tools_text)
        parent = self.chains.parent_of(body)
        new_items = self.chains.resolve(as_items(body.get("input")))
        extra = [
            tool
            for item in new_items
            if item.get("type") == "additional_tools"
            for tool in item["tools"]
        ]
        tools = [*(body.get("tools") or ()), *(parent.extra_tools if parent else ()), *extra]
        check_choice(body, tools)
        self.chains.check_items(new_items, parent, store=body.get("store") is not False)
        self.chains.pair(parent, new_items)
        return ModelRequest(body, new_items, parent, tools, tools_text)

    async def create(self, http: web.Request) -> web.StreamResponse:
        """Handle POST /responses."""
        raw = await http.read()
        received = Received({}, dict(http.headers), time.time())
        self.requests.append(received)
        headers = {"x-request-id": items.new_id("req"), "openai-processing-ms": "1"}
        try:
            received.body = parse(raw)
            return await self._answer(http, self.admit(received.body), received, headers)
        except errors.ApiError as refused:
            received.error = refused.error
            return web.json_response(
                refused.body, status=refused.status, headers={**headers, **refused.headers}
            )
        finally:
            self._changed.set()

    async def transcribe(self, http: web.Request) -> web.StreamResponse:
        """Handle POST /audio/transcriptions."""
        if not self.transcribes:
            raise web.HTTPNotFound
        heard, data = await read_form(http)
        self.heard.append(heard)
        self._changed.set()
        if self.listening:
            await self.listening.wait()
        try:
            return transcribed(heard, data)
        except errors.ApiError as refused:
            heard.error = refused.error
            raise

    async def _answer(
        self, http: web.Request, request: ModelRequest, received: Received, headers: dict[str, str]
    ) -> web.StreamResponse:
        fault = self.faults.take(request)
        in_stream = fault and (fault.kind in STREAM_KINDS or fault.where != "before")
        if fault and not in_stream and fault.kind != "content_filter":
            raise fault.refusal(request)
        measured = self._measure(request)
        sender = Sender(http, headers, self.chunk_delay, self.closing)
        if fault and in_stream:
            return await self._spoil(sender, request, fault, received)
        reply = fault.saying if fault else await self._ask(request)
        node = self._announce(request, measured, received)
        if request.body.get("background"):
            self.tasks[node.id] = asyncio.create_task(self._finish_later(request, node, reply))
            queued = {**node.response, "status": "queued"}
            return web.json_response(queued, headers=headers)
        if request.body.get("stream"):
            await sender.open(node.response)
            await self._pause(reply)
            await sender.finish(self._finish(request, node, reply, measured.cached))
            return sender.stream
        await self._pause(reply)
        done = self._finish(request, node, reply, measured.cached)
        return web.json_response(done, headers=headers)

    def _measure(self, request: ModelRequest) -> InputTokens:
        measured = self.cache.measure(request)
        window = self.window(request.model)
        if measured.input_tokens <= window:
            return measured
        if request.body.get("truncation") == "auto":
            return replace(measured, input_tokens=window, cached=min(measured.cached, window))
        raise errors.context_length()

    def _announce(self, request: ModelRequest, measured: InputTokens, received: Received) -> Stored:
        response = items.blank_response(request)
        node = Stored(
            id=response["id"],
            body=request.body,
            input=request.input,
            parent=request.parent,
            response=response,
            extra_tools=tuple(request.tools[len(request.body.get("tools") or ()) :]),
            context_tokens=measured.context_tokens,
            input_tokens=measured.input_tokens,
            head=measured.head,
            kept=request.stored,
        )
        received.response_id = node.id
        self.chains.add(node)
        self.cache.remember(request, measured.head)
        self._changed.set()
        return node

    def _finish(
        self, request: ModelRequest, node: Stored, reply: Reply, cached: int
    ) -> dict[str, Any]:
        summary = bool((request.body.get("reasoning") or {}).get("summary"))
        output = items.output_items(reply, self.seal, summary=summary)
        response = items.finished_response(node.response, reply, output, node.input_tokens, cached)
        if not self.counts_tokens:
            response["usage"] = items.usage(0, 0, 0, 0)
        node.context_tokens += response["usage"]["output_tokens"]
        self.chains.finish(node, response)
        self._changed.set()
        return response

    async def _finish_later(self, request: ModelRequest, node: Stored, reply: Reply) -> None:
        await self._pause(reply)
        self._finish(request, node, reply, 0)

    async def _pause(self, reply: Reply) -> None:
        if self.latency or reply.pause:
            await asyncio.sleep(self.latency + reply.pause)
        if reply.until:
            await reply.until.wait()

    async def _ask(self, request: ModelRequest) -> Reply:
        answer = self.brain(request)
        reply = await answer if inspect.isawaitable(answer) else answer
        if not reply.disobey:
            _check_obedience(request, reply)
        return reply

    async def _spoil(
        self, sender: Sender, request: ModelRequest, fault: Fault, received: Received
    ) -> web.StreamResponse:
        """Send half an answer and keep the response as failed."""
        node = self._announce(request, self.cache.measure(request), received)
        refusal = fault.refusal(request)
        received.error = {**refusal.error, "fault": fault.kind}
        code = refusal.code or "server_error"
        failed = items.failed_response(node.response, code, refusal.message)
        self.chains.finish(node, failed)
        unfinished = {**failed, "output": items.output_items(fault.saying, self.seal, summary=True)}
        if not request.body.get("stream"):
            return await sender.spoil_plain(fault, {**failed, "output": []})
        await sender.open(items.blank_response(request) | {"id": node.id})
        await sender.spoil(fault, unfinished, refusal.error)
        return sender.stream


def _check_obedience(request: ModelRequest, reply: Reply) -> None:
    """Check that a reply keeps to `tool_choice` and `parallel_tool_calls`."""
    called, choice = reply.called, request.body.get("tool_choice")
    if request.forced and set(called) != {request.forced}:
        raise errors.test_error(f"{request.forced!r} is forced, but the reply calls {called}")
    if choice == "required" and not called:
        raise errors.test_error("tool_choice is 'required', but the reply calls nothing")
    if choice == "none" and called:
        raise errors.test_error(f"tool_choice is 'none', but the reply calls {called}")
    if request.body.get("parallel_tool_calls") is False and len(called) > 1:
        raise errors.test_error(f"parallel_tool_calls is false, but the reply calls {called}")
