"""Calls the Responses API through OpenAI's SDK, with its connection handling and its retries.

It uses the SDK's generic `post`, and parses what comes back once: the transform of typed requests
and the typed events would cost more than all the rest of a turn (see tests/bench).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from http import HTTPStatus
from typing import Any, cast

from httpx2 import EventSource, HTTPError, Response, ServerSentEvent
from openai import AsyncOpenAI, AsyncStream, DefaultAioHttpClient, NotFoundError, OpenAIError
from pydantic_core import from_json

from bot.core.chain import Item, Usage
from bot.core.errors import ModelError, ModelErrorKind
from bot.core.failpoints import failpoint
from bot.model.errors import from_body, from_exception
from bot.model.types import (
    HOSTED_CALLS,
    ArgumentsPart,
    HostedPart,
    ModelRequest,
    ModelResponse,
    Progress,
    ReasoningPart,
    TextPart,
)

_PATH = "/responses"
_DELETIONS = 8  # at a time
_TERMINAL = frozenset({"response.completed", "response.incomplete", "response.failed"})


def sdk_client(api_key: str, base_url: str | None, *, max_retries: int = 2) -> AsyncOpenAI:
    """OpenAI's client on its aiohttp transport, which takes a third less CPU than the other."""
    return AsyncOpenAI(
        api_key=api_key,
        base_url=base_url,
        max_retries=max_retries,
        http_client=DefaultAioHttpClient(event_hooks={"response": [_spare_retries]}),
    )


async def _spare_retries(response: Response) -> None:
    """The SDK takes every 429 for one that passes; it does not when money is used up, or when the
    request alone is over the rate (H2)."""
    if response.status_code != HTTPStatus.TOO_MANY_REQUESTS:
        return
    try:
        kind = from_body(from_json(await response.aread())).kind
    except (ValueError, AttributeError):  # not the service's own words
        return
    if kind in (ModelErrorKind.QUOTA, ModelErrorKind.CONTEXT_OVERFLOW):
        response.headers["x-should-retry"] = "false"


async def delete_responses(client: AsyncOpenAI, ids: Iterable[str]) -> list[str]:
    """Have the service forget stored responses; those that it could not be brought to. One that it
    does not know is forgotten."""
    places = asyncio.Semaphore(_DELETIONS)

    async def deleted(each: str) -> bool:
        async with places:
            try:
                await client.responses.delete(each)
            except NotFoundError:
                return True
            except OpenAIError:
                return False
        return True

    names = sorted(ids)
    done = await asyncio.gather(*map(deleted, names))
    return [name for name, was_deleted in zip(names, done, strict=True) if not was_deleted]


class ResponsesModel:
    """`stream` decides how responses are fetched: as events that can be shown while they come,
    or whole, which costs less when nobody watches."""

    def __init__(
        self,
        client: AsyncOpenAI,
        *,
        stream: bool = True,
        reasoning: dict[str, str] | None = None,
        temperature: float | None = None,
        max_output_tokens: int | None = None,
    ) -> None:
        self._client = client
        self._stream = stream
        self._settings = {
            "reasoning": reasoning,
            "temperature": temperature,
            "max_output_tokens": max_output_tokens,
        }

    async def respond(self, request: ModelRequest) -> AsyncGenerator[Progress]:
        """See `Model.respond`."""
        body = self._body(request)
        failpoint("model-asking")
        try:
            if not self._stream:
                yield await self._whole(body)
                return
            async with aclosing(self._events(body, _Watch(request.watched))) as parts:
                async for part in parts:
                    yield part
        except OpenAIError as error:
            raise from_exception(error) from error
        except (HTTPError, ValueError) as error:
            raise ModelError(ModelErrorKind.INTERRUPTED, f"The stream broke: {error}") from error

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": request.model,
            "instructions": request.instructions,
            "input": request.input,
            "tools": request.tools,
            "previous_response_id": request.previous_response_id,
            "prompt_cache_key": request.cache_key,
            "safety_identifier": request.user_hash,
            **self._settings,
        }
        if request.forced_tool:
            body["tool_choice"] = {"type": "function", "name": request.forced_tool}
        include = [] if request.store else ["reasoning.encrypted_content"]
        if any(tool["type"] == "web_search" for tool in request.tools):
            include.append("web_search_call.action.sources")
        body["include"] = include or None
        if not request.store:
            body["store"] = False
        return {key: value for key, value in body.items() if value is not None and value != ""}

    async def _whole(self, body: dict[str, Any]) -> ModelResponse:
        raw = await self._client.post(_PATH, cast_to=Response, body=body)
        return _response(from_json(raw.content))

    async def _events(self, body: dict[str, Any], watch: _Watch) -> AsyncGenerator[Progress]:
        response: ModelResponse | None = None
        body = {**body, "stream": True}
        async with await self._client.post(
            _PATH, cast_to=object, body=body, stream=True, stream_cls=AsyncStream[object]
        ) as stream:
            failpoint("model-asked")
            events = cast("AsyncGenerator[ServerSentEvent]", aiter(EventSource(stream.response)))
            async with aclosing(events):
                # Read to the very end, so that the connection can be used again.
                async for event in events:
                    if event.event in _TERMINAL:
                        response = _response(from_json(event.data)["response"])
                    elif part := _part(event) or _hosted_part(event) or watch.part(event):
                        failpoint("model-streaming")
                        yield part
        if response is None:
            raise ModelError(ModelErrorKind.INTERRUPTED, "The stream ended without a response.")
        failpoint("model-answered")
        yield response


class _Watch:
    """Picks out the arguments of one function's calls; no other event is parsed for it."""

    def __init__(self, function: str) -> None:
        self._function = function
        self._item = ""

    def part(self, event: ServerSentEvent) -> ArgumentsPart | None:
        if not self._function:
            return None
        if event.event == "response.output_item.added":
            item = from_json(event.data)["item"]
            self._item = item["id"] if item.get("name") == self._function else ""
        elif self._item and event.event == "response.function_call_arguments.delta":
            delta = from_json(event.data)
            if delta["item_id"] == self._item:
                return ArgumentsPart(delta["delta"])
        return None


def _part(event: ServerSentEvent) -> Progress | None:
    """What can be shown of an event. The terminal event repeats all the others carry, so only
    these are parsed. Raises ModelError for an error that came in the stream."""
    if event.event == "response.output_text.delta":
        return TextPart(from_json(event.data)["delta"])
    if event.event == "response.reasoning_summary_text.delta":
        return ReasoningPart(from_json(event.data)["delta"])
    if event.event == "error":
        raise from_body(from_json(event.data))
    return None


def _hosted_part(event: ServerSentEvent) -> HostedPart | None:
    """Other items are not parsed for it."""
    kind, _, stage = event.event.rpartition(".")
    if kind != "response.output_item" or not any(each in event.data for each in HOSTED_CALLS):
        return None
    item = from_json(event.data)["item"]
    return HostedPart(item, done=stage == "done") if item["type"] in HOSTED_CALLS else None


def _response(body: dict[str, Any]) -> ModelResponse:
    status = body.get("status")
    if status not in ("completed", "incomplete"):
        raise from_body(body.get("error") or {"message": f"The response is {status}."})
    reason = (body.get("incomplete_details") or {}).get("reason") or "unknown"
    return ModelResponse(
        id=body["id"],
        items=tuple(body["output"]),
        usage=_usage(body.get("usage") or {}, body["output"]),
        model=body.get("model", ""),
        incomplete=reason if status == "incomplete" else None,
    )


def _usage(body: dict[str, Any], output: list[Item]) -> Usage:
    used = [each for each in output if each.get("type") in HOSTED_CALLS]
    ran = [each["container_id"] for each in used if each.get("container_id")]
    return Usage(
        input_tokens=body.get("input_tokens", 0),
        cached_tokens=(body.get("input_tokens_details") or {}).get("cached_tokens", 0),
        output_tokens=body.get("output_tokens", 0),
        reasoning_tokens=(body.get("output_tokens_details") or {}).get("reasoning_tokens", 0),
        web_searches=sum(map(_is_web_search, used)),
        file_searches=sum(each["type"] == "file_search_call" for each in used),
        containers=tuple(dict.fromkeys(ran)),
    )


def _is_web_search(item: Item) -> bool:
    """Opening a page that was found costs no fee."""
    action = item.get("action") or {}
    return item["type"] == "web_search_call" and action.get("type") in (None, "search")
