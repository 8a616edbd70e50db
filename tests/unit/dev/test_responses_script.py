"""Scripts give one reply per request, and fail when test and script do not fit."""

from __future__ import annotations

import asyncio
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI

from bot.dev.model import (
    ModelRequest,
    Reply,
    ResponsesServer,
    Script,
    ScriptBook,
    call,
    calls,
    finish,
    held,
    respond,
    text,
)

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
