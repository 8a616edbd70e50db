"""One call to every server: its stream, its errors and what it refuses."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web

from bot.core.errors import ModelError, ModelErrorKind
from bot.model import ArgumentsPart, ModelRequest, ModelResponse
from bot.model.client import ResponsesModel, delete_responses, sdk_client
from bot.model.listing import listed_models
from tests.servers.dialects import DIALECTS, MODEL, Dialect, Server, served, server

ADD: dict[str, Any] = {
    "type": "function",
    "name": "add",
    "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}},
}
ASKED = ModelRequest(
    model=MODEL,
    instructions="",
    input=({"role": "user", "content": "Q1 please"},),
    tools=(ADD,),
    watched="add",
)
dialects = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda each: each.name)


@asynccontextmanager
async def calling(
    dialect: Dialect, *, stream: bool = True, **settings: Any
) -> AsyncGenerator[tuple[Server, ResponsesModel]]:
    async with (
        server(dialect) as api,
        sdk_client(api.api_key, api.url, max_retries=0) as client,
    ):
        yield api, ResponsesModel(client, stream=stream, **settings)


async def response(model: ResponsesModel, request: ModelRequest = ASKED) -> ModelResponse:
    *_, last = [part async for part in model.respond(request)]
    assert isinstance(last, ModelResponse)
    return last


@dialects
@pytest.mark.parametrize("stream", [True, False])
async def test_a_call_and_its_usage_are_read(dialect: Dialect, stream: bool) -> None:
    """R8 B6: with and without event lines, numbers, places and ids of items."""
    async with calling(dialect, stream=stream) as (_, model):
        shown = [part async for part in model.respond(ASKED)]
    last = shown[-1]
    assert isinstance(last, ModelResponse)
    assert [(each["name"], each["arguments"]) for each in last.calls] == [("add", '{"a": 1}')]
    assert last.usage.input_tokens == 9
    heard = "".join(part.text for part in shown if isinstance(part, ArgumentsPart))
    assert heard == ('{"a": 1}' if stream else "")


@dialects
async def test_an_answer_without_its_conversation_is_an_error(dialect: Dialect) -> None:
    """B8: the text of such a response would be taken for the answer; from then on the server is known
    to store nothing. A parent that was not made here may have expired, which says nothing."""
    async with calling(dialect) as (_, model):
        first = await response(model)
        follow_up = replace(ASKED, previous_response_id=first.id)
        if dialect.parent == "kept":
            assert (await response(model, follow_up)).calls
            return
        for _ in range(2):
            with pytest.raises(ModelError) as caught:
                await response(model, follow_up)
            assert caught.value.kind is ModelErrorKind.MISSING_PARENT
        assert model.traits.stateless


@pytest.mark.parametrize("name", ["ogx that lost its store", "vLLM"])
async def test_a_parent_of_another_time_may_have_expired(name: str) -> None:
    """B8: a chain of long ago that is gone does not make a deployment stateless."""
    [dialect] = [each for each in DIALECTS if each.name == name]
    async with calling(dialect) as (_, model):
        for _ in range(2):
            with pytest.raises(ModelError):
                await response(model, replace(ASKED, previous_response_id="resp_of_last_month"))
    assert not model.traits.stateless


@pytest.mark.parametrize(
    "dialect", [each for each in DIALECTS if each.refused], ids=lambda each: each.name
)
async def test_what_a_server_refuses_is_not_sent_again(dialect: Dialect) -> None:
    """B1: a parameter that a call can do without costs one call, once."""
    searching = replace(ASKED, tools=(ADD, {"type": "web_search"}))
    async with calling(dialect, reasoning={"effort": "minimal"}) as (api, model):
        for _ in range(2):
            assert (await response(model, searching)).calls
    assert len(api.bodies) == 3


REFUSALS = [
    ("reasoning.effort", "Unsupported value: 'xhigh' is not supported with this model.", True),
    (None, '"small-model" does not support thinking', True),
    ("include", "Encrypted content is not supported with this model.", True),
    ("prompt_cache_key", "Unknown parameter: 'prompt_cache_key'.", True),
    (None, "body.safety_identifier: Extra inputs are not permitted", True),
    ("input", "Item 'rs_1' of type 'reasoning' was provided without its required item.", False),
    ("temperature", "Unsupported parameter: 'temperature' is not supported.", True),
]


@pytest.mark.parametrize(("param", "said", "is_left_out"), REFUSALS)
async def test_only_what_was_refused_is_left_out(
    param: str | None, said: str, is_left_out: bool
) -> None:
    """B1: what a call needs stays, and our own mistakes are not tried again."""
    bodies: list[dict[str, Any]] = []

    async def respond(request: web.Request) -> web.Response:
        bodies.append(await request.json())
        if len(bodies) == 1:
            return web.json_response({"error": {"message": said, "param": param}}, status=400)
        return web.json_response({"id": "resp_1", "status": "completed", "output": []})

    app = web.Application()
    app.router.add_post("/responses", respond)
    async with served(app) as url, sdk_client("k", url, max_retries=0) as client:
        model = ResponsesModel(client, reasoning={"effort": "xhigh"}, temperature=0.5)
        request = replace(ASKED, store=False, cache_key="k", user_hash="u")
        if is_left_out:
            await response(model, request)
            assert len(bodies[0].keys() - bodies[1].keys()) == 1
        else:
            with pytest.raises(ModelError):
                await response(model, request)
            assert len(bodies) == 1


async def test_an_address_may_have_a_query() -> None:
    """B1: Azure's dated interfaces name their version there, and take the key in its own header."""
    seen: list[web.Request] = []

    async def respond(request: web.Request) -> web.Response:
        seen.append(request)
        return web.json_response({"id": "resp_1", "status": "completed", "output": []})

    app = web.Application()
    app.router.add_post("/openai/responses", respond)
    async with served(app) as url:
        address = f"{url}/openai?api-version=2025-04-01-preview"
        async with sdk_client("secret", address, max_retries=0) as client:
            for _ in range(2):  # the second is built by us
                await response(ResponsesModel(client))
    assert [each.query["api-version"] for each in seen] == ["2025-04-01-preview"] * 2
    assert [each.headers["api-key"] for each in seen] == ["secret"] * 2


REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "of OpenAI"}
CALLED = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "add",
    "arguments": "{}",
}


async def test_a_thread_may_move_to_another_server() -> None:
    """B1 B8: what another server has thought is refused by the next one, which needs none of it."""
    [dialect] = [each for each in DIALECTS if each.needs_types]
    output = {"type": "function_call_output", "call_id": "call_1", "output": "2"}
    moved = replace(ASKED, input=(*ASKED.input, REASONING, CALLED, output), store=False)
    async with calling(dialect) as (api, model):
        assert (await response(model, moved)).calls
    assert [item.get("type") for item in api.bodies[-1]["input"]][1:] == [
        "function_call",
        "function_call_output",
    ]
    assert "id" not in api.bodies[-1]["input"][1]
    assert len(api.bodies) == 2


@pytest.mark.parametrize(
    ("status", "said", "is_over"),
    [
        (404, {"error": {"message": "Response with id 'resp_1' not found."}}, True),
        (405, {"detail": "Method Not Allowed"}, True),
        (500, {"error": {"message": "DELETE responses is not supported for anthropic"}}, True),
        (501, {"error": "Not Implemented"}, True),
        (500, {"error": {"message": "Internal error."}}, False),
        (401, {"error": {"message": "No such key."}}, False),
        (429, {"error": {"message": "Too many requests."}}, False),
    ],
)
async def test_an_erasure_ends_where_nothing_can_be_deleted(
    status: int, said: dict[str, Any], is_over: bool
) -> None:
    """O1: a server without deletion does not keep `bot erase` at work for ever; one that fails does."""

    async def delete(_request: web.Request) -> web.Response:
        return web.json_response(said, status=status)

    app = web.Application()
    app.router.add_delete("/responses/{id}", delete)
    async with served(app) as url, sdk_client("k", url, max_retries=0) as client:
        left = await delete_responses(client, ["resp_1"])
    assert left == ([] if is_over else ["resp_1"])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('{"data": [{"id": "a", "max_model_len": 4096}, {"id": "b"}]}', {"a": 4096, "b": None}),
        ('{"data": [{"id": "a", "meta": null}, {"id": 7}, "c"]}', {"a": None}),
        ('{"data": [{"id": "a", "meta": {"n_ctx": "many"}}]}', {"a": None}),
        ('{"data": [{"id": "a", "max_model_len": true, "context_length": 0}]}', {"a": None}),
        ('{"error": "Unexpected endpoint"}', None),
        ('{"data": {}}', None),
        ("[]", None),
        ("{not json", None),
        ("", None),
    ],
)
async def test_any_list_of_models_is_read_or_passed_over(body: str, expected: Any) -> None:
    """E1: the list is a convenience: nothing in it stops the bot."""

    async def models(_request: web.Request) -> web.Response:
        return web.Response(text=body, content_type="application/json")

    app = web.Application()
    app.router.add_get("/models", models)
    async with served(app) as url, sdk_client("k", url, max_retries=0) as client:
        assert await listed_models(client) == expected
