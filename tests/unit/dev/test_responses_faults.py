"""Ordered faults look to the SDK like real ones (loop H2, G2, E4; faults §4)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI

from bot.dev.model import ResponsesServer, Script, text


async def drain(client: AsyncOpenAI, **body: Any) -> list[str]:
    """Return the types of all events of one stream."""
    stream = await client.responses.create(model="m", input="hi", stream=True, **body)
    async with stream:
        return [event.type async for event in stream]


@pytest.mark.parametrize(
    ("kind", "status", "code"),
    [
        ("server_error", 500, "server_error"),
        (500, 500, "server_error"),
        (502, 502, "server_error"),
        ("overloaded", 503, "server_error"),
        ("rate_limit", 429, "rate_limit_exceeded"),
        ("request_too_large", 429, "rate_limit_exceeded"),
        ("quota", 429, "insufficient_quota"),
        ("context_length", 400, "context_length_exceeded"),
        ("invalid_prompt", 400, "invalid_prompt"),
        ("wrong_key", 401, "invalid_api_key"),
        ("model_not_found", 400, "model_not_found"),
    ],
)
async def test_faults_before_the_answer(kind: str | int, status: int, code: str) -> None:
    """The request fails once; the next one gets the reply, so the script loses nothing."""
    script = Script([text("ok")])
    async with (
        ResponsesServer.open(script) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key, max_retries=0) as client,
    ):
        api.faults.fail(kind)
        with pytest.raises(openai.APIStatusError) as caught:
            await client.responses.create(model="m", input="hi")
        assert (caught.value.status_code, caught.value.code) == (status, code)
        assert api.faults.left == 0
        assert (await client.responses.create(model="m", input="hi")).output_text == "ok"
    script.assert_done()


async def test_the_sdk_retries_what_it_retries() -> None:
    """The client's own retries overcome a rate limit and a 500."""
    async with (
        ResponsesServer.open(Script([text("ok")])) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key, max_retries=2) as client,
    ):
        api.faults.fail("rate_limit", times=2)
        assert (await client.responses.create(model="m", input="hi")).output_text == "ok"
        assert [bool(received.error) for received in api.requests] == [True, True, False]


async def test_a_parent_that_is_missing_once() -> None:
    """The fault waits for a request with a parent."""
    async with (
        ResponsesServer.open(Script([text("one"), text("two")])) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key, max_retries=0) as client,
    ):
        api.faults.fail("missing_parent_once")
        first = await client.responses.create(model="m", input="hi")
        with pytest.raises(openai.BadRequestError) as caught:
            await client.responses.create(model="m", input="hi", previous_response_id=first.id)
        assert caught.value.code == "previous_response_not_found"
        await client.responses.create(model="m", input="hi", previous_response_id=first.id)


@pytest.mark.parametrize("kind", ["clean_eof", "half_event", "no_terminal"])
async def test_streams_that_end_without_an_error(kind: str) -> None:
    """The SDK ends such a stream silently, without a final event."""
    async with (
        ResponsesServer.open(Script([])) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key, max_retries=0) as client,
    ):
        api.faults.fail(kind)
        try:
            seen = await drain(client)
        except json.JSONDecodeError:
            assert kind == "half_event"
            return
    assert seen[:2] == ["response.created", "response.in_progress"]
    assert len(seen) > 2
    assert not {"response.completed", "response.failed", "response.incomplete"} & set(seen)


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("cut", openai.APIConnectionError),
        ("bad_json", json.JSONDecodeError),
        ("in_stream_error_nested", openai.APIError),
    ],
)
async def test_streams_that_raise(kind: str, error: type[Exception]) -> None:
    """A reset, broken JSON and a nested error event each raise while the stream is read."""
    async with (
        ResponsesServer.open(Script([])) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key, max_retries=0) as client,
    ):
        api.faults.fail(kind)
        with pytest.raises(error):
            await drain(client)


@pytest.mark.parametrize(
    ("kind", "last"),
    [
        ("in_stream_error_flat", "error"),
        ("response_failed", "response.failed"),
        ("content_filter", "response.incomplete"),
    ],
)
async def test_streams_whose_last_event_tells(kind: str, last: str) -> None:
    """A flat error, a failed response and a content filter arrive as events."""
    async with (
        ResponsesServer.open(Script([])) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key, max_retries=0) as client,
    ):
        api.faults.fail(kind)
        assert (await drain(client))[-1] == last


async def test_an_http_error_in_mid_stream() -> None:
    """Context overflow and rate limits also come as a nested event inside the stream."""
    async with (
        ResponsesServer.open(Script([])) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key, max_retries=0) as client,
    ):
        api.faults.fail("context_length", where="after_created")
        with pytest.raises(openai.APIError) as caught:
            await drain(client)
    assert caught.value.code == "context_length_exceeded"
    assert not isinstance(caught.value, openai.APIStatusError)


@pytest.mark.parametrize("kind", ["hang", "trickle"])
@pytest.mark.parametrize("stream", [True, False])
async def test_answers_that_never_end(kind: str, stream: bool) -> None:
    """Only the caller's own deadline ends them, and the server still closes at once."""
    async with (
        ResponsesServer.open(Script([])) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key, max_retries=0) as client,
    ):
        api.faults.fail(kind)
        plain = client.responses.create
        answer: Any = drain(client) if stream else plain(model="m", input="hi")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(answer, 0.3)
        assert api.requests[0].error


@pytest.mark.parametrize("kind", ["cut", "clean_eof", "bad_json", "response_failed"])
async def test_the_same_trouble_without_a_stream(kind: str) -> None:
    """A plain request gets a dropped connection, broken JSON or a failed response."""
    async with (
        ResponsesServer.open(Script([])) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key, max_retries=0) as client,
    ):
        api.faults.fail(kind)
        try:
            response = await client.responses.create(model="m", input="hi")
        except (openai.APIError, json.JSONDecodeError):
            assert kind != "response_failed"
            return
    assert kind == "response_failed"
    assert response.status == "failed"
    assert response.error
    assert response.error.code == "server_error"


async def test_a_fault_can_wait_for_a_later_request() -> None:
    """`skip` lets requests pass before it."""
    async with (
        ResponsesServer.open(Script([text("one"), text("two")])) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key, max_retries=0) as client,
    ):
        api.faults.fail("server_error", skip=1)
        await client.responses.create(model="m", input="hi")
        with pytest.raises(openai.InternalServerError):
            await client.responses.create(model="m", input="hi")
        await client.responses.create(model="m", input="hi")


def test_an_unknown_fault_is_the_tests_own_mistake() -> None:
    """A kind that does not exist is refused when it is ordered."""
    with pytest.raises(ValueError, match="unknown kind"):
        ResponsesServer(Script([])).faults.fail("thunder")
