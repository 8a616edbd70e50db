"""The local model server: what a script says, and the shapes of responses and their events."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI
from openai.types.responses import Response, ResponseStreamEvent
from openai.types.responses.response_item_list import ResponseItemList
from pydantic import TypeAdapter

from bot.dev.model import (
    ModelRequest,
    Reply,
    ResponsesServer,
    Script,
    ScriptBook,
    call,
    calls,
    empty,
    finish,
    held,
    incomplete,
    raw,
    reasoning,
    refusal,
    respond,
    text,
)

EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
TWO_CALLS = reasoning("Two things at once", calls(("a", {"x": 1}), ("b", {})))

REPLIES = [
    pytest.param(TWO_CALLS, id="parallel calls"),
    pytest.param(text("Hello there, this is long enough for several deltas."), id="text"),
    pytest.param(text("I look.", phase="commentary"), id="commentary"),
    pytest.param(refusal("I will not do that."), id="refusal"),
    pytest.param(incomplete("max_output_tokens", text="Half a"), id="incomplete"),
    pytest.param(empty(), id="empty"),
    pytest.param(call("a", '{"broken'), id="malformed arguments"),
    pytest.param(
        raw([{"type": "compaction", "encrypted_content": "sealed"}]), id="raw compaction item"
    ),
]


@pytest.mark.parametrize("reply", REPLIES)
async def test_plain_and_streamed_responses_are_what_the_types_say(reply: Reply) -> None:
    """Every kind of answer validates, and the stream's last event holds the plain response."""
    async with (
        ResponsesServer.open(Script([reply, reply])) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key) as client,
    ):
        plain = await client.responses.with_raw_response.create(model="m", input="hi")
        body = json.loads(plain.text)
        Response.model_validate(body, strict=True)
        events = await streamed(client, model="m", input="hi")
    for event in events:
        EVENT.validate_python(event, strict=True)
    last = events[-1]
    assert last["type"] == f"response.{body['status']}"
    assert without_ids(last["response"]["output"]) == without_ids(body["output"])
    assert last["response"]["usage"]["total_tokens"] == body["usage"]["total_tokens"]
    assert plain.request_id


async def test_the_order_of_events_for_reasoning_and_two_parallel_calls() -> None:
    """As recorded from the real service; deltas are routed by item id and carry no name."""
    async with (
        ResponsesServer.open(Script([TWO_CALLS])) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key) as client,
    ):
        events = await streamed(client, model="m", input="hi", reasoning={"summary": "auto"})
    assert [short(event) for event in events] == [
        "created",
        "in_progress",
        "output_item.added 0",
        "reasoning_summary_part.added 0",
        "reasoning_summary_text.delta 0",
        "reasoning_summary_text.done 0",
        "reasoning_summary_part.done 0",
        "output_item.done 0",
        "output_item.added 1",
        "function_call_arguments.delta 1",
        "function_call_arguments.done 1",
        "output_item.done 1",
        "output_item.added 2",
        "function_call_arguments.delta 2",
        "function_call_arguments.done 2",
        "output_item.done 2",
        "completed",
    ]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert all("name" not in e for e in events if e["type"].endswith("arguments.done"))
    assert [e["response"]["usage"] for e in events[:2]] == [None, None]
    added = events[8]["item"]
    assert (added["name"], added["arguments"], added["status"]) == ("a", "", "in_progress")
    assert added["id"].startswith("fc_")
    assert added["call_id"].startswith("call_")


async def test_the_order_of_events_for_text() -> None:
    """A message grows part by part; its deltas add up to its text."""
    words = "A sentence that needs more than one delta to be said."
    async with (
        ResponsesServer.open(Script([text(words)]), chunk_delay=0.0001) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key) as client,
    ):
        events = await streamed(client, model="m", input="hi")
    order = list(dict.fromkeys(short(event) for event in events))
    assert order == [
        "created",
        "in_progress",
        "output_item.added 0",
        "content_part.added 0",
        "output_text.delta 0",
        "output_text.done 0",
        "content_part.done 0",
        "output_item.done 0",
        "completed",
    ]
    deltas = [e["delta"] for e in events if e["type"] == "response.output_text.delta"]
    assert len(deltas) > 1
    assert "".join(deltas) == words


async def test_reasoning_is_summarised_only_when_asked_and_sealed_always() -> None:
    """Without `reasoning.summary` a client gets the sealed content and no words."""
    async with (
        ResponsesServer.open(Script([TWO_CALLS])) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key) as client,
    ):
        response = await client.responses.create(model="m", input="hi")
    thought = response.output[0].to_dict()
    assert thought["summary"] == []
    assert "Two things" not in str(thought)
    assert thought["encrypted_content"]
    assert response.usage
    assert response.usage.output_tokens_details.reasoning_tokens > 0


async def test_retrieve_list_count_delete_and_models() -> None:
    """The small endpoints answer in the SDK's shapes."""
    async with (
        ResponsesServer.open(Script([text("one"), text("two")])) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key, max_retries=0) as client,
    ):
        first = await client.responses.create(model="m", input="hi")
        second = await client.responses.create(
            model="m", input="again", previous_response_id=first.id
        )
        assert (await client.responses.retrieve(second.id)).output_text == "two"
        page = await client.responses.input_items.list(second.id, order="asc", limit=2)
        ResponseItemList.model_validate(page.to_dict())
        assert page.has_more
        assert [item.type for item in page.data] == ["message", "message"]
        counted = await client.responses.input_tokens.count(
            model="m", input="again", previous_response_id=first.id
        )
        assert second.usage
        assert counted.input_tokens == second.usage.input_tokens
        assert "gpt-6.1-sol" in {model.id async for model in client.models.list()}
        await client.responses.delete(second.id)
        with pytest.raises(Exception, match="not found"):
            await client.responses.retrieve(second.id)


async def test_a_background_response_can_be_cancelled_and_others_cannot() -> None:
    """Cancel is for background responses only."""
    async with (
        ResponsesServer.open(Script([text("slow"), text("fast")]), latency=30) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key, max_retries=0) as client,
    ):
        slow = await client.responses.create(model="m", input="hi", background=True)
        assert slow.status == "queued"
        assert (await client.responses.cancel(slow.id)).status == "cancelled"
        api.latency = 0
        fast = await client.responses.create(model="m", input="hi")
        with pytest.raises(Exception, match="synchronous"):
            await client.responses.cancel(fast.id)


async def test_a_compacted_conversation_is_accepted_as_input() -> None:
    """Compaction keeps the user's messages and one sealed item."""
    async with (
        ResponsesServer.open(Script([text("one"), text("two")])) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key) as client,
    ):
        first = await client.responses.create(model="m", input="keep me")
        compacted = await client.responses.compact(model="m", previous_response_id=first.id)
        assert [item.type for item in compacted.output] == ["message", "compaction"]
        going_on: Any = [item.to_dict(warnings=False) for item in compacted.output]
        await client.responses.create(
            model="m", input=[*going_on, {"role": "user", "content": "go on"}]
        )


async def streamed(client: AsyncOpenAI, **body: Any) -> list[dict[str, Any]]:
    """Return all events of one streamed request as they were sent."""
    async with client.responses.with_streaming_response.create(stream=True, **body) as answer:
        lines = [line async for line in answer.iter_lines()]
    return [json.loads(line[6:]) for line in lines if line.startswith("data: ")]


def short(event: dict[str, Any]) -> str:
    """Return an event's type and the index of its item."""
    index = event.get("output_index")
    name = event["type"].removeprefix("response.")
    return name if index is None else f"{name} {index}"


def without_ids(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the items without ids and other values that differ between answers."""
    return [{k: v for k, v in item.items() if k not in ("id", "call_id")} for item in items]


TOOLS: Any = [
    {"type": "function", "name": name, "parameters": {"type": "object"}, "strict": False}
    for name in ("look", "complete_task")
]
FORCED: Any = {"type": "function", "name": "complete_task"}


async def test_a_script_that_runs_dry_says_so_once() -> None:
    """The error names the test's mistake and is not retried by the SDK."""
    script = Script([text("ok")])
    async with (
        ResponsesServer.open(script) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key, max_retries=5) as client,
    ):
        await client.responses.create(model="m", input="hi")
        with pytest.raises(openai.InternalServerError, match=r"script is used up.*one too many"):
            await client.responses.create(model="m", input="one too many")
        assert len(api.requests) == 2
    with pytest.raises(AssertionError, match="after the script was used up"):
        script.assert_done()


def test_replies_left_over_fail() -> None:
    """A script must be used up."""
    with pytest.raises(AssertionError, match="1 scripted replies"):
        Script([text("never asked for")]).assert_done()


@pytest.mark.parametrize(
    ("reply", "body"),
    [
        (text("no"), {"tool_choice": FORCED}),
        (call("look", {}), {"tool_choice": FORCED}),
        (text("no"), {"tool_choice": "required"}),
        (call("look", {}), {"tool_choice": "none"}),
        (calls(("look", {}), ("look", {})), {"parallel_tool_calls": False}),
    ],
)
async def test_a_reply_that_disobeys_is_a_test_error(reply: Reply, body: dict[str, Any]) -> None:
    """A real model keeps to `tool_choice`; a script must, unless it says `disobey=True`."""
    async with (
        ResponsesServer.open(Script([reply])) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key, max_retries=0) as client,
    ):
        with pytest.raises(openai.InternalServerError, match="Test error"):
            await client.responses.create(model="m", input="hi", tools=TOOLS, **body)


async def test_obedient_and_openly_disobedient_replies_pass() -> None:
    """Forced replies pass when they call the function, or when the script says why not."""
    replies = [finish({"summary": "x"}), text("I would rather talk.", disobey=True)]
    async with (
        ResponsesServer.open(Script(replies)) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key, max_retries=0) as client,
    ):
        for _ in replies:
            await client.responses.create(model="m", input="hi", tools=TOOLS, tool_choice=FORCED)


async def test_a_reply_worked_out_from_the_request() -> None:
    """A `respond` step sees what a model would see."""

    def echo(request: ModelRequest) -> Reply:
        return text(f"{request.instructions} {request.items[-1]['content']}")

    async with (
        ResponsesServer.open(Script([respond(echo)])) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key) as client,
    ):
        answer = await client.responses.create(model="m", input="there", instructions="Hello")
    assert answer.output_text == "Hello there"


async def test_a_book_keeps_conversations_apart() -> None:
    """Each conversation finds its own script by its content, in later turns too."""
    book = ScriptBook({"apples": [text("red"), text("sweet")], "pears": [text("green")]})
    async with (
        ResponsesServer.open(book) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key, max_retries=0) as client,
    ):
        pears, apples = await asyncio.gather(
            client.responses.create(model="m", input="about pears"),
            client.responses.create(model="m", input="about apples"),
        )
        more = await client.responses.create(
            model="m", input="and?", previous_response_id=apples.id
        )
        with pytest.raises(openai.InternalServerError, match="no script for this conversation"):
            await client.responses.create(model="m", input="plums")
    assert (pears.output_text, apples.output_text, more.output_text) == ("green", "red", "sweet")
    book.assert_done()


async def test_a_held_reply_waits_after_the_stream_has_begun() -> None:
    """H1: a client can be cancelled while the model thinks; the server finishes all the same."""
    gate = asyncio.Event()
    async with (
        ResponsesServer.open(Script([held(text("late"), gate)])) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key, max_retries=0) as client,
    ):
        stream = await client.responses.create(model="m", input="hi", stream=True)
        async with stream:
            first = await anext(aiter(stream))
        assert first.type == "response.created"
        assert api.responses[first.response.id].status == "in_progress"
        gate.set()
        await api.until(lambda: api.responses[first.response.id].status == "completed")


async def test_any_callable_can_be_the_brain() -> None:
    """An async function is awaited."""

    async def brain(request: ModelRequest) -> Reply:
        await asyncio.sleep(0)
        return text(request.model)

    async with (
        ResponsesServer.open(brain, latency=0.01) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key) as client,
    ):
        assert (await client.responses.create(model="m", input="hi")).output_text == "m"
