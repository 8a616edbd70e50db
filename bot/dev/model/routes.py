"""The paths of the API other than creating a response, and the check of the key."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from aiohttp import web

from . import errors, items, tokens
from .chains import Stored
from .checks import KEYS, as_items, parse
from .replies import Item
from .request import ModelRequest, item_text

if TYPE_CHECKING:
    from .server import ResponsesServer

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
MODELS = ("gpt-6.1-sol", "gpt-6.1-terra", "gpt-6-luna", "gpt-5.6-sol", "gpt-5.4-mini")
ID_PREFIXES = {"message": "msg", "function_call": "fc", "function_call_output": "fco"}
COMPACT_KEYS = {
    "input", "instructions", "model", "previous_response_id", "prompt_cache_key",
    "prompt_cache_options", "prompt_cache_retention", "service_tier", "image",
}  # fmt: skip
COUNT_KEYS = (KEYS | {"personality"}) - {"stream", "store", "metadata", "include"}


def add_routes(app: web.Application, server: ResponsesServer) -> None:
    """Add every path to the application."""
    routes = Routes(server)
    app.middlewares.append(_guard(server))
    app.add_routes([
        web.post("/v1/responses", server.create),
        web.post("/v1/responses/input_tokens", routes.count_tokens),
        web.post("/v1/responses/compact", routes.compact),
        web.get("/v1/responses/{id}", routes.retrieve),
        web.delete("/v1/responses/{id}", routes.delete),
        web.post("/v1/responses/{id}/cancel", routes.cancel),
        web.get("/v1/responses/{id}/input_items", routes.input_items),
        web.post("/v1/audio/transcriptions", server.transcribe),
        web.get("/v1/models", routes.models),
        web.get("/v1/models/{id}", routes.model),
    ])  # fmt: skip


def _guard(server: ResponsesServer) -> Any:
    @web.middleware
    async def guard(http: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            _check_key(http.headers.get("Authorization", ""), server.api_key)
            return await handler(http)
        except errors.ApiError as refused:
            answer = web.json_response(refused.body, status=refused.status, headers=refused.headers)
        except (web.HTTPNotFound, web.HTTPMethodNotAllowed):
            unknown = errors.not_found(f"{http.method} {http.path}")
            answer = web.json_response(unknown.body, status=unknown.status)
        answer.headers["x-request-id"] = items.new_id("req")
        return answer

    return guard


def _check_key(header: str, expected: str) -> None:
    if not header:
        raise errors.no_key()
    key = header.removeprefix("Bearer ")
    if key != expected:
        raise errors.wrong_key(key)


class Routes:
    """Handlers of the small endpoints."""

    def __init__(self, server: ResponsesServer) -> None:
        self._server = server

    async def retrieve(self, http: web.Request) -> web.Response:
        """Handle GET /responses/{id}."""
        return web.json_response(self._stored(http).response)

    async def delete(self, http: web.Request) -> web.Response:
        """Handle DELETE /responses/{id}; responses that continue it keep their chain."""
        node = self._stored(http)
        node.kept = False
        return web.json_response({"id": node.id, "object": "response", "deleted": True})

    async def cancel(self, http: web.Request) -> web.Response:
        """Handle POST /responses/{id}/cancel, for background responses only."""
        node = self._stored(http)
        if not node.body.get("background"):
            raise errors.ApiError(400, "Cannot cancel a synchronous response.")
        task = self._server.tasks.get(node.id)
        if task and not task.done():
            task.cancel()
            node.response = {**node.response, "status": "cancelled"}
        return web.json_response(node.response)

    async def input_items(self, http: web.Request) -> web.Response:
        """Handle GET /responses/{id}/input_items with `order` (desc), `after` and `limit`."""
        node = self._stored(http)
        before = node.parent.conversation() if node.parent else []
        listed = [_listed(node.id, n, item) for n, item in enumerate([*before, *node.input])]
        if http.query.get("order", "desc") == "desc":
            listed.reverse()
        ids = [item["id"] for item in listed]
        after = http.query.get("after")
        start = ids.index(after) + 1 if after in ids else 0
        end = start + int(http.query.get("limit", "20"))
        page = listed[start:end]
        return web.json_response({
            "object": "list",
            "data": page,
            "first_id": page[0]["id"] if page else "",
            "last_id": page[-1]["id"] if page else "",
            "has_more": end < len(listed),
        })  # fmt: skip

    async def count_tokens(self, http: web.Request) -> web.Response:
        """Handle POST /responses/input_tokens."""
        request = await self._request(http, COUNT_KEYS)
        counted = self._server.cache.measure(request).input_tokens
        return web.json_response({"object": "response.input_tokens", "input_tokens": counted})

    async def compact(self, http: web.Request) -> web.Response:
        """Handle POST /responses/compact: keep the user's messages, seal the rest in one item."""
        request = await self._request(http, COMPACT_KEYS)
        kept = [_user_message(item) for item in request.items if item.get("role") == "user"]
        text = "\n".join(item_text(item) for item in request.items)
        sealed = {
            "id": items.new_id("cmp"),
            "type": "compaction",
            "encrypted_content": self._server.seal.close(text[-2000:]),
        }
        measured = self._server.cache.measure(request)
        output_tokens = tokens.count(text[-2000:])
        return web.json_response({
            "id": items.new_id("resp"),
            "object": "response.compaction",
            "created_at": int(time.time()),
            "output": [*kept, sealed],
            "usage": items.usage(measured.input_tokens, measured.cached, output_tokens, 0),
        })  # fmt: skip

    async def models(self, _: web.Request) -> web.Response:
        """Handle GET /models."""
        names = dict.fromkeys((*MODELS, *self._server.windows))
        return web.json_response({"object": "list", "data": [_model(name) for name in names]})

    async def model(self, http: web.Request) -> web.Response:
        """Handle GET /models/{id}."""
        return web.json_response(_model(http.match_info["id"]))

    async def _request(self, http: web.Request, keys: set[str]) -> ModelRequest:
        body = parse(await http.read())
        for key in body:
            if key not in keys:
                raise errors.unknown_parameter(key)
        parent = self._server.chains.parent_of(body)
        tools = body.get("tools") or []
        return ModelRequest(body, as_items(body.get("input")), parent, tools, str(tools))

    def _stored(self, http: web.Request) -> Stored:
        response_id = http.match_info["id"]
        node = self._server.responses.get(response_id)
        if node is None or not node.kept:
            raise errors.response_not_found(response_id)
        return node


def _listed(owner: str, number: int, item: Item) -> Item:
    """Return an input item as it is listed, with an id even if it was sent without one."""
    kind = item.get("type", "message")
    shown = {"type": kind, **item}
    shown.setdefault("id", f"{ID_PREFIXES.get(kind, kind)}_{owner.removeprefix('resp_')}{number}")
    if kind == "message" and isinstance(item.get("content"), str):
        shown["content"] = [{"type": "input_text", "text": item["content"]}]
    if kind != "reasoning":
        shown.setdefault("status", "completed")
    return shown


def _user_message(item: Item) -> Item:
    return {**_listed(items.new_id("cmp"), 0, item), "status": "completed"}


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 1_780_000_000, "owned_by": "local"}
