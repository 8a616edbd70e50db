"""Model calls through the SDK, judged by the stand-in with the SDK's own types."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from openai import AsyncOpenAI

from bot.core.chain import Usage
from bot.core.errors import ModelError, ModelErrorKind
from bot.dev.model import ResponsesServer, Script, calls, incomplete, reasoning, refusal, text
from bot.dev.model.errors import rate_limit
from bot.model import ArgumentsPart, ModelRequest, ModelResponse, Progress, ReasoningPart, TextPart
from bot.model.client import ResponsesModel, sdk_client

TOOL = {
    "type": "function",
    "name": "look",
    "description": "Looks.",
    "strict": True,
    "parameters": {
        "type": "object",
        "properties": {"at": {"type": "string"}},
        "required": ["at"],
        "additionalProperties": False,
    },
}
ASKED = ModelRequest(
    model="gpt-5.4-mini",
    instructions="Be brief.",
    input=({"role": "user", "content": "How many?"},),
    tools=(TOOL,),
    cache_key="T1:C1:1.0",
    user_hash="ab12",
)
both = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


@asynccontextmanager
async def service(
    *replies: Any, **settings: Any
) -> AsyncGenerator[tuple[ResponsesServer, ResponsesModel]]:
    """The strict stand-in, and our client of it; the SDK's retries are off."""
    async with (
        ResponsesServer.open(Script(replies)) as api,
        sdk_client(api.api_key, api.url, max_retries=0) as client,
    ):
        yield api, ResponsesModel(client, **settings)


async def parts(model: ResponsesModel, request: ModelRequest = ASKED) -> list[Progress]:
    return [part async for part in model.respond(request)]


async def response(model: ResponsesModel, request: ModelRequest = ASKED) -> ModelResponse:
    last = (await parts(model, request))[-1]
    assert isinstance(last, ModelResponse)
    return last


async def failure(model: ResponsesModel, request: ModelRequest = ASKED) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await parts(model, request)
    return caught.value


@both
async def test_a_request_is_what_the_service_takes(stream: bool) -> None:
    """B1: everything set goes out under the API's names, and nothing that is not set."""
    settings: dict[str, Any] = {
        "reasoning": {"effort": "low"},
        "temperature": 0.5,
        "max_output_tokens": 900,
    }
    async with service(calls(("look", {"at": "x"})), stream=stream, **settings) as (api, model):
        await parts(model, replace(ASKED, forced_tool="look"))
    [received] = api.requests
    assert received.error is None  # judged by the SDK's types
    assert received.body == {
        "model": "gpt-5.4-mini",
        "instructions": "Be brief.",
        "input": [{"role": "user", "content": "How many?"}],
        "tools": [TOOL],
        "tool_choice": {"type": "function", "name": "look"},
        "prompt_cache_key": "T1:C1:1.0",
        "safety_identifier": "ab12",
        **settings,
        **({"stream": True} if stream else {}),
    }


@both
async def test_every_request_is_built_as_the_sdk_builds_it(stream: bool) -> None:
    """B1: our client sends requests itself; the service sees no difference."""
    async with (
        ResponsesServer.open(Script([text("Yes."), text("No.")] * 2)) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key) as plain,
        sdk_client(api.api_key, api.url) as ours,
    ):
        for request in (ASKED, replace(ASKED, instructions="Be very brief.")):
            await parts(ResponsesModel(ours, stream=stream), request)
        for each in api.requests[:2]:
            await plain.post("/responses", cast_to=object, body=each.body)
    seen = [(each.headers, each.body) for each in api.requests]
    assert seen[2:] == seen[:2]


async def test_a_request_that_is_made_again_says_so() -> None:
    """H2: the SDK makes it, which counts its tries in a header."""
    replies: list[Any] = [text("Yes."), rate_limit("m", 0.01), text("No.")]
    async with (
        ResponsesServer.open(Script(replies)) as api,
        sdk_client(api.api_key, api.url) as client,
    ):
        for _ in range(2):
            await parts(ResponsesModel(client, stream=False))
    assert [each.headers["x-stainless-retry-count"] for each in api.requests] == ["0", "0", "1"]


@both
@pytest.mark.parametrize("kind", ["server_error", "rate_limit"])
async def test_a_first_try_of_ours_that_fails_is_tried_again_by_the_sdk(
    kind: str, stream: bool
) -> None:
    """H2: our own first try counts as the SDK's."""
    async with (
        ResponsesServer.open(Script([text("Yes."), text("No.")])) as api,
        sdk_client(api.api_key, api.url, max_retries=1) as client,
    ):
        model = ResponsesModel(client, stream=stream)
        await parts(model)
        api.faults.fail(kind)
        assert (await response(model)).text == "No."
        retries = [each.headers["x-stainless-retry-count"] for each in api.requests]
        api.faults.fail(kind, 2)
        assert (await failure(model)).kind is ModelErrorKind.OVERLOADED
    assert retries == ["0", "0", "1"]
    assert len(api.requests) == 5


async def test_the_arguments_of_one_function_are_heard_while_they_come() -> None:
    """I4: of the watched function and of no other, whatever else is called beside it."""
    replies = (calls(("look", {"at": "north"}), ("see", {"at": "south by south-east"})),)
    see = {**TOOL, "name": "see"}
    async with service(*replies) as (_, model):
        heard = await parts(model, replace(ASKED, tools=(TOOL, see), watched="see"))
    said = [part.text for part in heard if isinstance(part, ArgumentsPart)]
    assert len(said) > 1
    assert "".join(said) == '{"at":"south by south-east"}'


@both
async def test_the_chain_goes_on_by_the_id_of_the_response(stream: bool) -> None:
    """B1: only what is new is sent; the service knows the rest."""
    script = (calls(("look", {"at": "a"}), ("look", {"at": "b"})), text("Two."))
    async with service(*script, stream=stream) as (api, model):
        first = await response(model)
        outputs = tuple(
            {"type": "function_call_output", "call_id": call["call_id"], "output": "1"}
            for call in first.calls
        )
        second = await response(model, replace(ASKED, input=outputs, previous_response_id=first.id))
    assert second.text == "Two."
    assert api.requests[1].body["previous_response_id"] == first.id
    assert len(api.requests[1].body["input"]) == 2


@both
async def test_a_response_is_items_calls_text_and_usage(stream: bool) -> None:
    """B4 B6: opaque fields stay, tokens are counted as billed."""
    reply = reasoning("Let me look.", calls(("look", {"at": "x"})))
    async with service(reply, stream=stream) as (api, model):
        found = await response(model)
    assert [item["type"] for item in found.items] == ["reasoning", "function_call"]
    assert [call["arguments"] for call in found.calls] == ['{"at":"x"}']
    assert list(found.items) == api.responses[found.id].response["output"]
    assert found.model == "gpt-5.4-mini"
    assert found.incomplete is None
    billed = api.responses[found.id].response["usage"]
    assert found.usage == Usage(
        input_tokens=billed["input_tokens"],
        cached_tokens=billed["input_tokens_details"]["cached_tokens"],
        output_tokens=billed["output_tokens"],
        reasoning_tokens=billed["output_tokens_details"]["reasoning_tokens"],
    )
    assert found.usage.output_tokens > 0


@both
async def test_a_refusal_and_a_cut_are_told_apart_from_text(stream: bool) -> None:
    """C8: neither passes for an answer."""
    script = (refusal("I can't."), incomplete("max_output_tokens", "It is tw"))
    async with service(*script, stream=stream) as (_, model):
        refused, cut = await response(model), await response(model)
    assert (refused.refusal, refused.text) == ("I can't.", "")
    assert (cut.incomplete, cut.text) == ("max_output_tokens", "It is tw")


async def test_text_and_reasoning_come_in_parts_before_the_response() -> None:
    """I4: something to see while the model works; the parts are the whole."""
    reply = reasoning("First I look.", text("It is two. " * 20))
    async with service(reply, reasoning={"effort": "low", "summary": "auto"}) as (_, model):
        *shown, last = await parts(model)
    assert isinstance(last, ModelResponse)
    assert "".join(p.text for p in shown if isinstance(p, TextPart)) == last.text
    assert "".join(p.text for p in shown if isinstance(p, ReasoningPart)) == "First I look."
    assert len(shown) > 5


async def test_leaving_early_drops_the_connection() -> None:
    """A2: and the client can be used again at once."""
    async with service(text("A long answer."), text("Two.")) as (_, model):
        stream = model.respond(ASKED)
        await anext(stream)
        await stream.aclose()
        assert (await response(model)).text == "Two."


ROWS = [
    ("zero_data_retention", ModelErrorKind.MISSING_PARENT),
    ("missing_parent_once", ModelErrorKind.MISSING_PARENT),
    ("context_length", ModelErrorKind.CONTEXT_OVERFLOW),
    ("request_too_large", ModelErrorKind.CONTEXT_OVERFLOW),
    ("rate_limit", ModelErrorKind.OVERLOADED),
    ("quota", ModelErrorKind.QUOTA),
    ("server_error", ModelErrorKind.OVERLOADED),
    ("overloaded", ModelErrorKind.OVERLOADED),
    ("invalid_prompt", ModelErrorKind.POLICY),
    ("model_not_found", ModelErrorKind.MISSING_MODEL),
    (401, ModelErrorKind.AUTHENTICATION),
    (403, ModelErrorKind.AUTHENTICATION),
    (409, ModelErrorKind.OVERLOADED),
    (502, ModelErrorKind.OVERLOADED),
]


@both
@pytest.mark.parametrize(("kind", "sorted_as"), ROWS)
async def test_every_error_of_the_service_is_sorted(
    kind: str | int, sorted_as: ModelErrorKind, stream: bool
) -> None:
    """B8 E4 H2: the kind decides whether to wait, rebuild, compact or give up (responses-api §5)."""
    async with service(text("One."), stream=stream) as (api, model):
        parent = (await response(model)).id
        api.faults.fail(kind)
        error = await failure(model, replace(ASKED, previous_response_id=parent))
    assert error.kind is sorted_as
    assert str(error)
    assert error.request_id


@both
async def test_what_breaks_the_chain_is_sorted(stream: bool) -> None:
    """B2 B8: a parent nobody knows, and a call without output, which would be our bug."""
    async with service(calls(("look", {"at": "x"})), stream=stream) as (_, model):
        unknown = await failure(model, replace(ASKED, previous_response_id="resp_gone"))
        parent = await response(model)
        unanswered = await failure(model, replace(ASKED, previous_response_id=parent.id))
    assert unknown.kind is ModelErrorKind.MISSING_PARENT
    assert unanswered.kind is ModelErrorKind.BAD_REQUEST


@both
async def test_a_schema_that_the_service_refuses_is_our_bug(stream: bool) -> None:
    """Never retried: it would be refused again."""
    loose = {**TOOL, "parameters": {"type": "object", "properties": {}}}
    async with service(stream=stream) as (_, model):
        error = await failure(model, replace(ASKED, tools=(loose,)))
    assert error.kind is ModelErrorKind.BAD_REQUEST


@pytest.mark.parametrize(
    ("kind", "sorted_as"),
    [
        ("context_length", ModelErrorKind.CONTEXT_OVERFLOW),
        ("request_too_large", ModelErrorKind.CONTEXT_OVERFLOW),
        ("rate_limit", ModelErrorKind.INTERRUPTED),
        ("server_error", ModelErrorKind.INTERRUPTED),
        ("quota", ModelErrorKind.QUOTA),
    ],
)
@pytest.mark.parametrize("where", ["after_created", "mid_stream"])
async def test_errors_inside_a_stream_are_sorted(
    kind: str, where: Any, sorted_as: ModelErrorKind
) -> None:
    """H2 E4: the SDK retries none of these; what was momentary is ours to try again."""
    async with service(text("One.")) as (api, model):
        api.faults.fail(kind, where=where)
        assert (await failure(model)).kind is sorted_as
        assert (await response(model)).text == "One."


@pytest.mark.parametrize(
    "kind",
    [
        "cut",
        "clean_eof",
        "half_event",
        "bad_json",
        "no_terminal",
        "response_failed",
        "in_stream_error_flat",
        "in_stream_error_nested",
    ],
)
async def test_a_stream_without_its_end_is_an_interruption(kind: str) -> None:
    """H2: also where the SDK would end without a word."""
    async with service(text("One.")) as (api, model):
        api.faults.fail(kind)
        assert (await failure(model)).kind is ModelErrorKind.INTERRUPTED


async def test_a_service_that_is_not_there_is_unreachable() -> None:
    """H3: worth another try, or another model. Nothing timed out, and the log is to say where, once."""
    async with service() as (api, _):
        gone = api.url
    async with sdk_client("k", gone, max_retries=0) as client:
        failed = await failure(ResponsesModel(client))
    assert failed.kind is ModelErrorKind.UNREACHABLE
    assert failed.detail.startswith("127.0.0.1: Cannot connect")
    assert failed.said == ""
