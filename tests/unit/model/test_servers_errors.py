"""Refusals in the words of the servers that people run, over a real socket, sorted by kind."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web

from bot.core.errors import ModelError, ModelErrorKind
from bot.model import ModelRequest, ModelResponse
from bot.model.client import ResponsesModel, sdk_client

OVERFLOW, MODEL = ModelErrorKind.CONTEXT_OVERFLOW, ModelErrorKind.MISSING_MODEL
PARENT, ADDRESS = ModelErrorKind.MISSING_PARENT, ModelErrorKind.NO_RESPONSES_API
OURS, KEY = ModelErrorKind.BAD_REQUEST, ModelErrorKind.AUTHENTICATION

FINISH = {"type": "function", "name": "finish", "parameters": {}, "strict": True}
OTHER = {**FINISH, "name": "other"}
ASKED = ModelRequest(model="m", instructions="", input=(), tools=(OTHER, FINISH))
FORCED = ModelRequest(
    model="m", instructions="", input=(), tools=(OTHER, FINISH), forced_tool="finish"
)


def error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


SAID: list[tuple[int, Any, ModelErrorKind]] = [
    (
        400,
        error(
            "Your input exceeds the context window of this model. Please adjust your input and "
            "try again.",
            code="context_length_exceeded",
        ),
        OVERFLOW,
    ),
    (400, error("Invalid 'input': string too long.", code="string_above_max_length"), OVERFLOW),
    (
        400,
        error(
            "the request exceeds the available context size (4096 tokens), try increasing it",
            code=400,
            type="exceed_context_size_error",
            n_ctx=4096,
        ),
        OVERFLOW,
    ),
    (500, error("Too long.", code=500, type="exceed_context_size_error"), OVERFLOW),
    (
        400,
        error(
            "This model's maximum context length is 8192 tokens. However, your request has 9001 "
            "input tokens.",
            type="BadRequestError",
            code=400,
        ),
        OVERFLOW,
    ),
    (
        400,
        error(
            "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
            code=400,
        ),
        OVERFLOW,
    ),
    (
        400,
        error(
            "litellm.ContextWindowExceededError: AnthropicException - prompt is too long",
            code="400",
        ),
        OVERFLOW,
    ),
    (
        400,
        error(
            "This endpoint's maximum context length is 131072 tokens. However, you requested about "
            "200000 tokens.",
            code=400,
        ),
        OVERFLOW,
    ),
    (
        400,
        {
            "error": "The number of tokens to keep from the initial prompt is greater than the "
            "context length. Try to load the model with a larger context length."
        },
        OVERFLOW,
    ),
    (
        400,
        {
            "type": "error",
            "error": {
                "type": "invalid_request_error",
                "message": "prompt is too long: 210032 tokens > 200000 maximum",
            },
        },
        OVERFLOW,
    ),
    (
        400,
        error("input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000"),
        OVERFLOW,
    ),
    (413, {"error": {"type": "request_too_large", "message": "Exceeds the size."}}, OVERFLOW),
    (400, error("Input is too long for requested model."), OVERFLOW),
    (
        400,
        error("The input token count (1200000) exceeds the maximum number of tokens allowed."),
        OVERFLOW,
    ),
    (400, error("This model's maximum prompt length is 131072 but it contains 140000."), OVERFLOW),
    (400, error("Please reduce the length of the messages or completion."), OVERFLOW),
    (400, error("The requested model 'm' does not exist.", code="model_not_found"), MODEL),
    (404, error("The model `m` does not exist.", type="NotFoundError", code=404), MODEL),
    (
        403,
        error("Project `p` does not have access to model `m`.", code="model_not_found"),
        MODEL,
    ),
    (404, error('model "m:7b" not found, try pulling it first'), MODEL),
    (404, error("model 'gpt-5.4-mini' not found", type="api_error"), MODEL),
    (400, error("m/m-9 is not a valid model ID", code=400), MODEL),
    (404, error("No endpoints found for m/m-9.", code=404), MODEL),
    (400, {"error": "No models loaded. Please load a model in the developer page."}, MODEL),
    (404, {"type": "error", "error": {"type": "not_found_error", "message": "model: m"}}, MODEL),
    (404, error("The API deployment does not exist.", code="DeploymentNotFound"), MODEL),
    (400, {"error": {"message": "/responses: Invalid model name passed in model=m"}}, MODEL),
    (400, error("llama.cpp does not support 'previous_response_id'.", code=400), PARENT),
    (404, error("Response with id 'resp_1' not found.", code=404), PARENT),
    (404, error("Response 'resp_1' not found"), PARENT),
    (404, {"detail": "Not Found"}, ADDRESS),
    (404, "404 page not found", ADDRESS),
    (404, "<html>Nothing here</html>", ADDRESS),
    (404, "", ADDRESS),
    (405, {"detail": "Method Not Allowed"}, ADDRESS),
    (404, error("Invalid URL (POST /v1/v1/responses)"), ADDRESS),
    (404, error("File Not Found", type="not_found_error", code=404), ADDRESS),
    (404, error("Resource not found", code="404"), ADDRESS),
    (200, {"error": "Unexpected endpoint or method. (POST /responses)"}, ADDRESS),
    (200, "<html>Welcome</html>", ADDRESS),
    (401, error("Incorrect API key provided: no model is not found."), KEY),
    (403, error("Country not supported."), KEY),
    (402, error("Insufficient credits. Add more.", code=402), ModelErrorKind.QUOTA),
    (400, error("Missing required parameter: 'model'.", code="invalid_prompt"), OURS),
    (
        400,
        error("Your prompt was flagged as violating our usage policy.", code="invalid_prompt"),
        ModelErrorKind.POLICY,
    ),
    (400, error("Blocked.", code="bio_policy"), ModelErrorKind.POLICY),
    (400, error("The response was filtered.", code="content_filter"), ModelErrorKind.POLICY),
    (
        400,
        error("Your request was rejected.", code="content_policy_violation"),
        ModelErrorKind.POLICY,
    ),
    (
        400,
        {"error": {"message": "x", "innererror": {"code": "ResponsibleAIPolicyViolation"}}},
        ModelErrorKind.POLICY,
    ),
    (
        400,
        error("litellm.BadRequestError: ContentPolicyViolationError: AzureException - filtered"),
        ModelErrorKind.POLICY,
    ),
    (400, error("This model does not support image input."), OURS),
    (404, error("Vector store vs_1 not found."), OURS),
    (
        422,
        {"detail": [{"msg": "Field required", "input": "What is a context window of a model?"}]},
        OURS,
    ),
]


@asynccontextmanager
async def server(
    *replies: tuple[int, Any], **settings: Any
) -> AsyncGenerator[tuple[ResponsesModel, list[dict[str, Any]]]]:
    """A client of a server that sends these replies, the last of them again and again."""
    asked: list[dict[str, Any]] = []

    async def respond(request: web.Request) -> web.Response:
        asked.append(await request.json())
        status, said = replies[min(len(asked), len(replies)) - 1]
        if isinstance(said, str):
            return web.Response(status=status, text=said, content_type="text/html")
        return web.json_response(said, status=status)

    app = web.Application()
    app.router.add_post("/v1/responses", respond)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        async with sdk_client("k", url, max_retries=0) as client:
            yield ResponsesModel(client, **settings), asked
    finally:
        await runner.cleanup()


@pytest.mark.parametrize(("status", "said", "kind"), SAID)
async def test_a_refusal_is_sorted_by_the_servers_own_words(
    status: int, said: Any, kind: ModelErrorKind
) -> None:
    """E4 H3 C8: what decides whether to compact, take the next model, rebuild the chain, or tell the
    operator where to look; what a server echoes of a request decides nothing."""
    async with server((status, said)) as (model, _):
        with pytest.raises(ModelError) as caught:
            _ = [part async for part in model.respond(ASKED)]
    assert caught.value.kind is kind
    assert ("OPENAI_BASE_URL" in str(caught.value)) is (kind is ADDRESS)


CHOICE = "Invalid tool_choice type: 'object'. Supported string values: none, auto, required"
ONLY_AUTO = "Only 'auto' tool_choice is supported in response API"
DONE = {"id": "resp_1", "object": "response", "status": "completed", "output": [], "model": "m"}


@pytest.mark.parametrize(
    ("refusals", "choice"),
    [
        ([], {"type": "function", "name": "finish"}),
        ([(400, {"error": CHOICE})], "required"),
        ([(422, error("Not possible.", param="tool_choice"))], "required"),
        ([(400, error(CHOICE)), (501, error(ONLY_AUTO))], "auto"),
    ],
)
async def test_a_choice_that_is_refused_is_made_in_another_way(
    refusals: list[tuple[int, Any]], choice: Any
) -> None:
    """C4: the tool is offered alone, and required if the service knows how; that is found out once."""
    async with server(*refusals, (200, DONE)) as (model, asked):
        for _ in range(2):
            *_, last = [part async for part in model.respond(FORCED)]
            assert isinstance(last, ModelResponse)
        *_, last = [part async for part in model.respond(ASKED)]
    *_, forced, again, free = asked
    assert forced["tool_choice"] == again["tool_choice"] == choice
    assert [tool["name"] for tool in again["tools"]] == ["other", "finish"][bool(refusals) :]
    assert "tool_choice" not in free
    assert len(free["tools"]) == 2
    assert len(asked) == len(refusals) + 3


async def test_another_refusal_of_a_forced_call_is_an_error() -> None:
    """C4: nothing is tried in another way that has nothing to do with it."""
    async with server((400, error("Invalid 'input'."))) as (model, asked):
        with pytest.raises(ModelError):
            _ = [part async for part in model.respond(FORCED)]
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("said", "part"),
    [
        ("Unsupported parameter: 'temperature' is not supported with this model.", "temperature"),
        ("temperature: Extra inputs are not permitted", "temperature"),
        ("Unknown parameter: 'max_output_tokens'.", "max_output_tokens"),
        ("max_tokens must be at most 4096", "max_output_tokens"),
        ("Unrecognized request argument supplied: store", "store"),
        ("store is not supported by this provider", "store"),
        ("tools.0.strict: Extra inputs are not permitted", "strict"),
    ],
)
async def test_what_a_call_can_do_without_is_left_out_when_it_is_refused(
    said: str, part: str
) -> None:
    """C4 C8: whatever part the refusal names; that is found out once."""
    replies = [(400, error(said)), (200, DONE)]
    settings: dict[str, Any] = {"stream": False, "temperature": 0.2, "max_output_tokens": 9_000}
    async with server(*replies, **settings) as (model, asked):
        for _ in range(2):
            *_, last = [each async for each in model.respond(replace(ASKED, store=False))]
            assert isinstance(last, ModelResponse)
    assert [part in json.dumps(body) for body in asked] == [True, False, False]


async def test_a_reply_that_is_not_used_is_paid() -> None:
    """F1: text in the place of a forced call is asked for again, and counts in totals and budgets."""
    said = {"type": "message", "content": [{"type": "output_text", "text": "Done."}]}
    usage = {"input_tokens": 100, "output_tokens": 20}
    ignored = {**DONE, "output": [said], "usage": usage}
    async with server((200, ignored), (200, {**DONE, "usage": usage})) as (model, _):
        *_, last = [part async for part in model.respond(FORCED)]
    assert isinstance(last, ModelResponse)
    assert last.usage.input_tokens == 100
    assert (last.billed.input_tokens, last.billed.output_tokens) == (200, 40)


async def test_a_reply_of_as_many_tokens_as_it_may_have_is_cut() -> None:
    """C6: whatever the server says of it."""
    reply = (200, {**DONE, "usage": {"output_tokens": 300}})
    for most, reason in ((300, "max_output_tokens"), (301, None)):
        async with server(reply, stream=False, max_output_tokens=most) as (model, _):
            *_, last = [part async for part in model.respond(ASKED)]
            assert isinstance(last, ModelResponse)
            assert last.incomplete == reason
