"""Replies of other servers, and broken ones, over a real socket: a response or one clear error."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given, settings
from hypothesis import strategies as st
from openai import APIStatusError

from bot.core.errors import ModelError, ModelErrorKind
from bot.model import ArgumentsPart, ModelRequest, ModelResponse, Progress, TextPart
from bot.model.client import ResponsesModel, sdk_client
from bot.model.decoding import ResponseReader
from bot.model.event_stream import EventStream
from tests.support.mutated import mutated, places

ASKED = ModelRequest(model="m", instructions="", input=(), tools=(), watched="look")
CALL: dict[str, Any] = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "look",
    "arguments": '{"at":"x"}',
    "status": "completed",
}
SAID: dict[str, Any] = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Two.", "annotations": []}],
}
SEARCHED: dict[str, Any] = {
    "type": "web_search_call",
    "id": "ws_1",
    "status": "completed",
    "action": {"type": "search", "query": "x", "sources": [{"type": "url", "url": "https://a.b"}]},
}
USAGE = {
    "input_tokens": 12,
    "input_tokens_details": {"cached_tokens": 4},
    "output_tokens": 3,
    "output_tokens_details": {"reasoning_tokens": 1},
}


def body(*items: Any, **changes: Any) -> dict[str, Any]:
    """A completed response; what is changed to ... is left out."""
    whole = {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "output": list(items),
        "usage": USAGE,
        "model": "m",
        **changes,
    }
    return {key: value for key, value in whole.items() if value is not ...}


def changed(item: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {key: value for key, value in {**item, **changes}.items() if value is not ...}


def events(*datas: Any, named: bool = False) -> bytes:
    """As a stream, with or without `event:` lines."""
    lines = []
    for each in datas:
        name = f"event: {each['type']}\n" if named and isinstance(each, dict) else ""
        lines.append(f"{name}data: {each if isinstance(each, str) else json.dumps(each)}\n\n")
    return "".join(lines).encode()


@asynccontextmanager
async def server(
    *replies: bytes,
    content_type: str = "text/event-stream",
    encoding: str = "identity",
    status: int = 200,
    stream: bool = True,
) -> AsyncGenerator[tuple[ResponsesModel, list[int]]]:
    """A client that asks a server which sends these bytes for a stream; one entry for each request.
    The last bytes are sent again and again."""
    asked: list[int] = []

    async def respond(request: web.Request) -> web.Response:
        await request.read()
        asked.append(len(asked))
        reply = replies[min(len(asked), len(replies)) - 1]
        headers = {"Content-Type": content_type, "Content-Encoding": encoding}
        return web.Response(body=reply, headers=headers, status=status)

    app = web.Application()
    app.router.add_post("/v1/responses", respond)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        async with sdk_client("k", url, max_retries=0) as client:
            yield ResponsesModel(client, stream=stream), asked
    finally:
        await runner.cleanup()


async def parts(model: ResponsesModel) -> list[Progress]:
    return [part async for part in model.respond(ASKED)]


def whole(reply: object) -> ModelResponse:
    return ResponseReader(ASKED).read_whole(json.dumps(reply).encode())


DELTA = {"type": "response.output_text.delta", "delta": "Two."}
DIALECTS: dict[str, bytes] = {
    "event lines": events(
        DELTA, {"type": "response.completed", "response": body(SAID)}, named=True
    ),
    "no event lines, [DONE]": events(
        DELTA, {"type": "response.completed", "response": body(SAID)}, "[DONE]"
    ),
    "items only on their own": events(
        {"type": "response.created", "response": {}},
        DELTA,
        {"type": "response.output_item.done", "item": SAID},
        {"type": "response.completed", "response": body(output=[])},
    ),
    "no items, usage or status in the end": events(
        DELTA,
        {"type": "response.output_item.done", "item": SAID},
        {"type": "response.completed", "response": {"id": "resp_1", "model": "m"}},
    ),
    "fields nobody knows": events(
        {"type": "response.new_thing", "x": 1},
        {**DELTA, "obfuscation": "a", "logprobs": [], "sequence_number": "seven"},
        {"type": "response.completed", "response": body({"type": "new", "id": "n"}, SAID, new=1)},
    ),
}


@pytest.mark.parametrize("stream", DIALECTS.values(), ids=DIALECTS)
async def test_every_dialect_of_a_stream_gives_the_answer(stream: bytes) -> None:
    """R8: with and without event lines, item ids, sequence numbers, usage, [DONE]."""
    async with server(stream) as (model, _):
        *shown, last = await parts(model)
    assert shown == [TextPart("Two.")]
    assert isinstance(last, ModelResponse)
    assert (last.id, last.text) == ("resp_1", "Two.")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=repr)
def test_a_stream_may_be_cut_anywhere(end: str) -> None:
    """R8: into what arrives together, with every end of a line."""
    lines = [
        ": ping",
        "",
        "event: a",
        "data: 1",
        "data:2",
        "id: x",
        "",
        "data: ü",
        "",
        "",
        "data: half",
    ]
    stream = end.join(lines).encode()
    for place in range(len(stream) + 1):
        reader = EventStream()
        assert reader.read(stream[:place]) + reader.read(stream[place:]) == [
            ("a", b"1\n2"),
            ("", "ü".encode()),
        ]


def test_a_long_line_takes_no_more_time_in_many_chunks() -> None:
    """R9: each as a network's packet; to copy what came before for each would take ten seconds."""
    reader, packet = EventStream(), b"x" * 1400
    reader.read(b"data: ")
    began = time.process_time()
    for _ in range(11_000):
        assert reader.read(packet) == []
    assert reader.read(b"\n\n") == [("", 11_000 * packet)]
    assert time.process_time() - began < 1


async def test_arguments_are_shown_without_item_ids() -> None:
    """R8 I4: llama.cpp names neither the item nor its place; another call's arguments stay out."""
    added = "response.output_item.added"
    delta = "response.function_call_arguments.delta"
    other = {"type": "function_call", "name": "see", "call_id": "c2"}
    stream = events(
        {"type": added, "item": changed(CALL, id=...)},
        {"type": delta, "delta": '{"at":'},
        {"type": delta, "delta": '"x"}'},
        {"type": added, "item": other},
        {"type": delta, "delta": "{}"},
        {"type": "response.completed", "response": body(CALL)},
    )
    async with server(stream) as (model, _):
        shown = [part.text for part in await parts(model) if isinstance(part, ArgumentsPart)]
    assert shown == ['{"at":', '"x"}']


async def test_a_server_that_does_not_stream_is_read_whole() -> None:
    """R8: it was asked to stream, and answers with one JSON document."""
    reply = json.dumps(body(SAID)).encode()
    async with server(reply, content_type="application/json") as (model, _):
        [last] = await parts(model)
    assert isinstance(last, ModelResponse)
    assert last.text == "Two."


@pytest.mark.parametrize("mebibytes", [3, 15])
async def test_a_long_event_is_read(mebibytes: int) -> None:
    """R9: the terminal event repeats the whole response."""
    long = changed(SAID, content=[{"type": "output_text", "text": "x" * (mebibytes << 20)}])
    stream = events({"type": "response.completed", "response": body(long)}, named=True)
    async with server(stream) as (model, asked):
        [last] = await parts(model)
    assert isinstance(last, ModelResponse)
    assert len(last.text) == mebibytes << 20
    assert asked == [0]


async def test_a_page_in_the_place_of_a_stream_says_what_is_wrong() -> None:
    """R8: somebody's web server at the address; asking again changes nothing."""
    async with server(b"<h1>Hello</h1>", content_type="text/html") as (model, asked):
        with pytest.raises(ModelError, match="OPENAI_BASE_URL") as caught:
            await parts(model)
    assert caught.value.kind is ModelErrorKind.NO_RESPONSES_API
    assert asked == [0]


async def test_an_event_that_is_too_long_says_so() -> None:
    """R9: asking again would bring the same, so its kind is none that is tried again."""
    stream = b"data: " + b"x" * (17 << 20) + b"\n\n"
    async with server(stream) as (model, asked):
        with pytest.raises(ModelError, match="16 MiB") as caught:
            await parts(model)
    assert caught.value.kind is ModelErrorKind.BAD_REQUEST
    assert asked == [0]


async def test_a_stream_that_is_too_long_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """R9: many events, each of which may be, with or without an end; after the answer as well."""
    monkeypatch.setattr("bot.model.event_stream._MOST_OF_A_STREAM", 1 << 20)
    words = {"type": "response.output_text.delta", "delta": "x" * (1 << 17)}
    end = {"type": "response.completed", "response": body(SAID)}
    for many in ([words] * 9, [end, *[words] * 9]):
        async with server(events(*many)) as (model, asked):
            with pytest.raises(
                ModelError, match="stream is too large: it may have 1 MiB"
            ) as caught:
                await parts(model)
        assert caught.value.kind is ModelErrorKind.BAD_REQUEST
        assert asked == [0]


@pytest.mark.parametrize("stream", [True, False])
async def test_a_whole_response_that_is_too_long_says_so(*, stream: bool) -> None:
    """R9: where nothing is streamed, too, by us or by the server; also one that is small until it is
    unpacked."""
    long = b'{"id": "' + b"x" * (17 << 20)
    for encoding, reply in (("identity", long), ("gzip", gzip.compress(long))):
        served = server(reply, content_type="application/json", encoding=encoding, stream=stream)
        async with served as (model, asked):
            with pytest.raises(ModelError, match="16 MiB") as caught:
                await parts(model)
        assert caught.value.kind is ModelErrorKind.BAD_REQUEST
        assert asked == [0]


async def test_of_an_error_only_the_beginning_is_read() -> None:
    """R9: its words are there, whatever the server sends after them."""
    said = b"Error: maximum context length is 8192 tokens. " + b"x" * (40 << 20)
    async with server(said, content_type="text/plain", status=400) as (model, asked):
        with pytest.raises(ModelError) as caught:
            await parts(model)
    assert caught.value.kind is ModelErrorKind.CONTEXT_OVERFLOW
    cause = caught.value.__cause__
    assert isinstance(cause, APIStatusError)
    assert len(cause.response.content) < 100_000
    assert asked == [0]


@pytest.mark.parametrize("content_type", ["text/plain", "application/octet-stream"])
async def test_events_and_objects_are_read_under_any_type(content_type: str) -> None:
    """R8: some servers and proxies name another type than they send."""
    stream = events({"type": "response.completed", "response": body(SAID)})
    for reply in (stream, json.dumps(body(SAID)).encode()):
        async with server(reply, content_type=content_type) as (model, _):
            *_, last = await parts(model)
        assert isinstance(last, ModelResponse)
        assert last.text == "Two."


async def test_a_page_from_a_server_that_has_answered_is_an_interruption() -> None:
    """R8 H3: a proxy says that the server starts anew; asking again helps."""
    stream = events({"type": "response.completed", "response": body(SAID)})
    async with server(stream, b"<h1>One moment</h1>", stream) as (model, asked):
        await parts(model)
        with pytest.raises(ModelError) as caught:
            await parts(model)
        assert caught.value.kind is ModelErrorKind.INTERRUPTED
        await parts(model)
    assert asked == [0, 1, 2]


@pytest.mark.parametrize("output", [..., None, "Two.", {"text": "Two."}, []], ids=repr)
async def test_an_output_that_is_none_is_what_was_streamed(output: object) -> None:
    """R8: finished items, or the text where no item was finished; also without a last response."""
    finished = {"type": "response.output_item.done", "item": SAID}
    spoken = {"type": "response.output_text.delta", "delta": "Two."}
    for streamed in (finished, spoken):
        for last in (body(output=output), None):
            async with server(
                events(streamed, {"type": "response.completed", "response": last})
            ) as (
                model,
                _,
            ):
                *_, found = await parts(model)
            assert isinstance(found, ModelResponse)
            assert found.text == "Two."


UNANSWERABLE: list[object] = [..., None, "", 7, [], {"a": 1}]


@pytest.mark.parametrize("call_id", UNANSWERABLE, ids=repr)
def test_a_call_without_its_id_is_answered_under_that_of_its_item(call_id: object) -> None:
    """R8: servers that leave it out do not compare it; without any it gets one."""
    assert whole(body(changed(CALL, call_id=call_id))).calls[0]["call_id"] == "fc_1"
    assert whole(body(changed(CALL, call_id=call_id, id=...))).calls[0]["call_id"]


@pytest.mark.parametrize("response_id", [..., None, 7])
def test_a_response_without_an_id_is_not_stored(response_id: object) -> None:
    """R8 B1: the conversation goes on without the server's help."""
    reader = ResponseReader(ASKED)
    assert reader.read_whole(json.dumps(body(SAID, id=response_id)).encode()).text == "Two."
    assert reader.stores_nothing


def test_text_of_another_interface_is_text() -> None:
    """R8: parts of Chat Completions, which the Responses API refuses in its input."""
    [said] = whole(body(changed(SAID, content=[{"type": "text", "text": "Two."}]))).items
    assert said["content"] == [{"type": "output_text", "text": "Two.", "annotations": []}]


@pytest.mark.parametrize("name", [..., None, "", 7, ["look"]], ids=repr)
def test_a_call_without_a_name_is_told_to_the_model(name: object) -> None:
    """R8: it is dispatched under a name that no tool has, and its output says so."""
    [call] = whole(body(changed(CALL, name=name))).calls
    assert (call["name"], call["call_id"]) == ("unnamed", "call_1")


@pytest.mark.parametrize(
    ("arguments", "read"),
    [(..., ""), (None, ""), ({"at": "x"}, '{"at": "x"}'), (7, "7"), (["x"], '["x"]')],
    ids=repr,
)
def test_arguments_are_always_text(arguments: object, read: str) -> None:
    """R8: an object is what some servers send; anything else fails the tool's own check."""
    [call] = whole(body(changed(CALL, arguments=arguments))).calls
    assert call["arguments"] == read


@pytest.mark.parametrize("usage", [..., None, 7, [], {"input_tokens": "many"}, {"input_tokens": -1},
                                   {"input_tokens_details": 3, "output_tokens": 1e300}])  # fmt: skip
def test_usage_that_is_none_counts_nothing(usage: object) -> None:
    """R8: local servers leave it out."""
    found = whole(body(SAID, usage=usage)).usage
    assert (found.input_tokens, found.cached_tokens, found.output_tokens) == (0, 0, 0)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ([], ModelErrorKind.INTERRUPTED),
        ({}, ModelErrorKind.NO_RESPONSES_API),
        (
            {"error": "Unexpected endpoint or method. (POST /responses)"},
            ModelErrorKind.NO_RESPONSES_API,
        ),
        ({"detail": "Not Found"}, ModelErrorKind.NO_RESPONSES_API),
        ({"choices": [], "id": "chatcmpl-1"}, ModelErrorKind.NO_RESPONSES_API),
        (body(output=...), ModelErrorKind.NO_RESPONSES_API),
        (body(output="Two."), ModelErrorKind.INTERRUPTED),
        (body(status="failed", error={"code": 404, "message": ["x"]}), ModelErrorKind.INTERRUPTED),
        (body(status="failed", error={"code": ["x"], "message": None}), ModelErrorKind.INTERRUPTED),
        (body(status="failed", error=7), ModelErrorKind.INTERRUPTED),
        (body(status=["failed"], output=None), ModelErrorKind.INTERRUPTED),
        (
            {"error": {"code": "insufficient_quota", "message": "No money."}},
            ModelErrorKind.QUOTA,
        ),
    ],
    ids=repr,
)
def test_what_is_no_response_is_one_clear_error(reply: object, kind: ModelErrorKind) -> None:
    """R8: asked again where that may help, and not where the address is wrong."""
    with pytest.raises(ModelError) as caught:
        whole(reply)
    assert caught.value.kind is kind


@pytest.mark.parametrize("code", [404, "404", None, {"a": 1}, ["x"]], ids=repr)
async def test_an_error_in_a_stream_may_have_any_code(code: object) -> None:
    """R8: ogx says that a parent is gone in a stream of status 200, with a number for a code."""
    said = "Previous response with id 'resp_0' not found."
    failed = body(status="failed", error={"code": code, "message": said})
    for last in ({"type": "response.failed", "response": failed}, {"error": failed["error"]}):
        async with server(events(last)) as (model, _):
            with pytest.raises(ModelError) as caught:
                await parts(model)
        assert caught.value.kind is ModelErrorKind.MISSING_PARENT


def test_half_a_character_is_replaced() -> None:
    """R8: a lone surrogate is JSON, and no text that could be sent or kept."""
    reply = json.dumps(body(changed(SAID, content="a\ud83d b \U0001f600")))
    found = ResponseReader(ASKED).read_whole(reply.encode())
    assert found.text == "a\ufffd b \U0001f600"


def test_what_is_right_stays_as_it_came() -> None:
    """B4: nothing is added to items, or taken from them, that fit."""
    new = {"type": "something_new", "x": {"y": None}}
    items = [SAID, CALL, SEARCHED, {"type": "reasoning", "id": "r", "summary": []}, new]
    assert list(whole(body(*items)).items) == items


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


def read_through(response: ModelResponse) -> None:
    """What the rest of the bot takes of a response."""
    assert all(isinstance(call[key], str) for call in response.calls
               for key in ("call_id", "name", "arguments"))  # fmt: skip
    assert isinstance(response.text + response.refusal + response.id + response.model, str)
    assert all(isinstance(link, str) for link in response.links)
    assert all(isinstance(item["type"], str) for item in response.items)
    assert all(isinstance(item["id"], str) for item in response.hosted)
    assert response.usage.input_tokens >= 0


GOOD = body(SAID, CALL, SEARCHED, incomplete_details={"reason": "max_output_tokens"}, error=None)


@settings(max_examples=100, deadline=None)
@given(place=st.sampled_from(places(GOOD)), odd=ODD | st.just(...))
def test_any_field_may_be_anything(place: tuple[Any, ...], odd: object) -> None:
    """R8, for all fields: a response that can be used, or a ModelError; never another exception."""
    reply = mutated(GOOD, place, odd)
    for read in (lambda: whole(reply), lambda: _streamed(reply)):
        _usable(read)


@settings(max_examples=100, deadline=None)
@given(reply=ODD, text=st.text(max_size=40))
def test_a_reply_may_be_anything(reply: object, text: str) -> None:
    """R8: no JSON, another shape, and every kind of event with it."""
    _usable(lambda: whole(reply))
    _usable(lambda: ResponseReader(ASKED).read_whole(text.encode()))
    names = ["message", "error", "response.completed", "response.output_text.delta",
             "response.output_item.added", "response.output_item.done",
             "response.function_call_arguments.delta"]  # fmt: skip
    for name in names:
        for data in (text, json.dumps(reply), json.dumps({"type": name, "item": reply})):
            lines = b"".join(b"data: %b\n" % line for line in data.encode().splitlines())
            with suppress(ModelError):
                list(ResponseReader(ASKED).read(b"event: %b\n%b\n" % (name.encode(), lines)))


def _streamed(reply: object) -> ModelResponse:
    reader = ResponseReader(ASKED)
    output = reply.get("output") if isinstance(reply, dict) else None
    for item in output if isinstance(output, list) else ():
        for stage in ("added", "done"):
            kind = f"response.output_item.{stage}"
            list(reader.read(events({"type": kind, "item": item}, named=True)))
    list(reader.read(events({"type": "response.completed", "response": reply})))
    return reader.read_end()


def _usable(read: Callable[[], ModelResponse]) -> None:
    with suppress(ModelError):
        read_through(read())
