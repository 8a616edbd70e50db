"""Client of the Responses API on OpenAI's SDK, with the SDK's connections and retries.

It uses the SDK's generic `post` and parses responses once: the SDK's typed requests and events would
take more CPU than the rest of a turn (see tests/bench).
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing, asynccontextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import cache
from http import HTTPStatus
from ssl import SSLContext
from types import NoneType
from typing import Any, cast

from httpx2 import (
    URL,
    AsyncByteStream,
    ByteStream,
    EventSource,
    HTTPError,
    Request,
    Response,
    ServerSentEvent,
    SSEError,
)
from pydantic_core import to_json
from typing_extensions import override

from bot.core.chain import NO_USAGE, Item, Usage
from bot.core.errors import ModelError, ModelErrorKind
from bot.core.failpoints import failpoint
from bot.model.decoding import ResponseReader, read_object
from bot.model.errors import from_body, from_exception, said_by_service, stores_nothing
from bot.model.sdk import (
    APIStatusError,
    AsyncOpenAI,
    AsyncStream,
    DefaultAioHttpClient,
    FinalRequestOptions,
    NotFoundError,
    OpenAIError,
    default_ssl_context,
    path_template,
)
from bot.model.traits import FORCING, ServerTraits
from bot.model.types import ModelRequest, ModelResponse, Progress, TextPart

log = logging.getLogger(__name__)

_PATH = "/responses"
_REFUSED = (400, 422, 501)
_NO_DELETION = re.compile(r"not supported|unsupported|not implemented|method not allowed|\b405\b")
_DISPENSABLE = {
    "include": re.compile(r"\binclude\b|encrypted[_ ]content is not supported"),
    "reasoning": re.compile(
        r"\b(reasoning|effort|thinking)\b.{0,60}\b(not support|unsupported|invalid|must be)"
        r"|(not support|unsupported|invalid)\b.{0,60}\b(reasoning|effort|thinking)\b"
    ),
    "prompt_cache_key": re.compile("prompt_cache_key"),
    "safety_identifier": re.compile("safety_identifier"),
    "temperature": re.compile(r"\btemperature\b"),
    "max_output_tokens": re.compile(r"\bmax_(output_|completion_)?tokens\b"),
    "store": re.compile(
        r"\bstore\b.{0,60}\b(not (support|permitted|allowed)|un(supported|known|recognized|expected)|extra)"
        r"|\b(un(supported|known|recognized|expected)|extra|not support)\w*\b.{0,60}\bstore\b"
    ),
    "strict": re.compile(r"\bstrict\b"),
}
"""Parts that a call can do without, with the words of servers that refuse them: parameters, and
`strict` of its tools, whose arguments are validated here in any case."""
_REASONING_ITEM = re.compile(r"reasoning|item\['content'\]|encrypted[_ ]content|'rs_")
_DELETIONS = 8  # at a time
_POST = FinalRequestOptions.construct(method="post", url=_PATH)
_EVENTS = re.compile(rb"\s*(event|data|id|retry)?:")
_ANY = {"accept": "*/*"}
_EVENT_STREAM = {"content-type": "text/event-stream"}
_MOST_OF_AN_EVENT = 16 * 1024 * 1024  # bytes; the terminal event repeats the whole response
_MOST_OF_A_STREAM = 4 * _MOST_OF_AN_EVENT
_MOST_OF_AN_ERROR = 64 * 1024  # bytes; a few sentences, after which some servers echo the request


def sdk_client(api_key: str, base_url: str | None, *, max_retries: int = 2) -> AsyncOpenAI:
    """Return OpenAI's client on its aiohttp transport, which takes a third less CPU than httpx.

    A query in `base_url` is sent with each request. Azure's dated interfaces have one, `api-version`,
    and take the key in a header of their own.
    """
    address = URL(base_url) if base_url else None
    query = dict(address.params) if address else {}
    return _Client(
        api_key=api_key,
        base_url=address and address.copy_with(query=None),
        default_query=query or None,
        default_headers={"api-key": api_key} if "api-version" in query else None,
        max_retries=max_retries,
        http_client=DefaultAioHttpClient(verify=_certificates()),
    )


@cache
def _certificates() -> SSLContext:
    """Read the trusted certificates once for all clients of the process: that takes 50 ms of CPU."""
    return default_ssl_context()


_first_try: ContextVar[Response | Exception | None] = ContextVar("first_try", default=None)
"""The result of our first attempt, which the SDK takes as its own."""


class _Client(AsyncOpenAI):
    """An SDK client that makes the first attempt of a call to `_PATH` directly on its transport.

    The attempt reuses the headers of the first request that the SDK built: requests differ only in
    their bodies, and the layers in between take a tenth of the CPU of a turn. The SDK takes a failed
    attempt as its own: it decides about retries, and raises the error.
    """

    _template: Request | None = None

    @property
    @override
    def user_agent(self) -> str:
        return super().user_agent.replace(type(self).__name__, AsyncOpenAI.__name__)

    @override
    async def request(self, cast_to: Any, options: FinalRequestOptions, **how: Any) -> Any:
        if cast_to is not Response or self._template is None:
            return await super().request(cast_to, options, **how)
        tried = await self._first_attempt(
            _with_body(self._template, cast("bytes", options.content))
        )
        if isinstance(tried, Response) and tried.is_success:
            return tried
        token = _first_try.set(tried)
        try:
            return await super().request(cast_to, options, **how)
        finally:
            _first_try.reset(token)

    async def _first_attempt(self, request: Request) -> Response | Exception | None:
        """Return the response or the error; None for a redirect, which the SDK follows instead."""
        try:
            transport = self._client._transport_for_url(request.url)  # a proxy's, where one is set
            response = await transport.handle_async_request(request)
        except Exception as error:  # noqa: BLE001 - raised where the SDK expects it
            return error
        if response.is_redirect:
            await response.aclose()
            return None
        return response

    @override
    def _build_request(self, options: FinalRequestOptions, *, retries_taken: int = 0) -> Request:
        request = super()._build_request(options, retries_taken=retries_taken)
        if options.url == _PATH and not retries_taken:
            self._template = _with_body(request, b"")
        return request

    @override
    async def _send_request(self, request: Request, *, stream: bool, **kwargs: Any) -> Response:
        tried = _first_try.get()
        _first_try.set(None)
        if isinstance(tried, Exception):
            raise tried
        response = tried or await super()._send_request(request, stream=stream, **kwargs)
        if response.is_error:
            _bound_error(response)
            await _spare_retries(response)
        return response


def _with_body(template: Request, content: bytes) -> Request:
    """Return `template` with another body, and without cookies."""
    headers = template.headers.copy()
    headers.pop("cookie", None)
    headers["content-length"] = str(len(content))
    request = Request(
        template.method,
        template.url,
        headers=headers,
        stream=ByteStream(content),
        extensions={"timeout": template.extensions["timeout"]},
    )
    request.read()
    return request


class _Truncated(AsyncByteStream):
    """The first `most` bytes of a stream."""

    def __init__(self, stream: AsyncByteStream, most: int) -> None:
        self._stream = stream
        self._most = most

    @override
    async def __aiter__(self) -> AsyncGenerator[bytes]:
        left = self._most
        async for chunk in self._stream:
            yield chunk[:left]
            left -= len(chunk)
            if left <= 0:
                return

    @override
    async def aclose(self) -> None:
        await self._stream.aclose()


def _bound_error(response: Response) -> None:
    """Truncate the body of an error, which the SDK would read whole."""
    if isinstance(response.stream, AsyncByteStream):
        response.stream = _Truncated(response.stream, _MOST_OF_AN_ERROR)


def _too_large(what: str, most: int) -> ModelError:
    text = f"The model service's {what} is too large: it may have {most // 2**20} MiB."
    return ModelError(ModelErrorKind.BAD_REQUEST, text)


async def _content_of(response: Response) -> bytes:
    """Read a whole body. Raises ModelError, which is not retried, when it is too large."""
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > _MOST_OF_AN_EVENT:
            raise _too_large("response", _MOST_OF_AN_EVENT)
        parts.append(part)
    return b"".join(parts)


async def _spare_retries(response: Response) -> None:
    """Stop the SDK from retrying a permanent 429: no credit left, or a request above the rate limit."""
    if response.status_code != HTTPStatus.TOO_MANY_REQUESTS:
        return
    try:
        kind = from_body(read_object(await response.aread())).kind
    except ModelError:  # not an error of the service
        return
    if kind in (ModelErrorKind.QUOTA, ModelErrorKind.CONTEXT_OVERFLOW):
        response.headers["x-should-retry"] = "false"


async def delete_responses(client: AsyncOpenAI, ids: Iterable[str]) -> list[str]:
    """Delete stored responses. Return the ids that could not be deleted.

    A response that the service does not know counts as deleted. So does one of a service that has no
    deletion: to try again would not help.
    """
    places = asyncio.Semaphore(_DELETIONS)

    async def deleted(each: str) -> bool:
        async with places:
            try:
                path = path_template("/responses/{id}", id=each)
                await client.delete(path, cast_to=NoneType, options={"headers": _ANY})
            except NotFoundError:
                return True
            except OpenAIError as error:
                body = error.body if isinstance(error, APIStatusError) else ""
                if not _NO_DELETION.search(f"{error} {body}".lower()):
                    return False
                log.warning("The model server cannot delete responses: %s", error)
        return True

    names = sorted(ids)
    done = await asyncio.gather(*map(deleted, names))
    return [name for name, was_deleted in zip(names, done, strict=True) if not was_deleted]


class _AskOtherwise(Exception):
    """The server refused or ignored a part of the request that can be sent in another way, or not.

    `request` is the other form, unless what was learnt changes the form by itself. `paid` is the
    usage of a reply that is not used.
    """

    def __init__(self, request: ModelRequest | None = None, paid: Usage = NO_USAGE) -> None:
        super().__init__()
        self.request = request
        self.paid = paid


class ResponsesModel:
    """A model server with the Responses API.

    With `stream`, responses arrive as events that can be shown at once; without, they arrive whole,
    which takes less CPU. `traits` are what the server cannot do; calls learn from its replies.
    """

    def __init__(
        self,
        client: AsyncOpenAI,
        *,
        traits: ServerTraits | None = None,
        stream: bool = True,
        reasoning: dict[str, str] | None = None,
        temperature: float | None = None,
        max_output_tokens: int | None = None,
    ) -> None:
        self._client = client
        self._stream = stream
        self.traits = traits or ServerTraits()
        self._settings = {
            "reasoning": reasoning,
            "temperature": temperature,
            "max_output_tokens": max_output_tokens,
        }

    async def respond(self, request: ModelRequest) -> AsyncGenerator[Progress]:
        """See `Model.respond`."""
        paid = NO_USAGE
        while True:
            try:
                async with aclosing(self._once(request)) as parts:
                    async for part in parts:
                        if paid != NO_USAGE and isinstance(part, ModelResponse):
                            part = replace(part, paid_before=paid)  # noqa: PLW2901
                        yield part
            except _AskOtherwise as other:
                request, paid = other.request or request, paid + other.paid
            except ModelError as error:
                if error.kind is ModelErrorKind.NO_RESPONSES_API and self.traits.has_answered:
                    error.kind = ModelErrorKind.INTERRUPTED  # a proxy's page, for the moment
                error.said = said_by_service(error, str(request.input))
                error.usage = (error.usage or NO_USAGE) + paid if paid != NO_USAGE else error.usage
                raise
            else:
                return

    async def _once(self, request: ModelRequest) -> AsyncGenerator[Progress]:
        """Make the call. Raises ModelError, and _AskOtherwise when another form of it may work."""
        forcing = self.traits.forcing
        body, reader = self._body(request, forcing), ResponseReader(request)
        calls = self._events(body, reader) if self._stream else self._whole(body, reader)
        failpoint("model-asking")
        try:
            async with aclosing(calls) as parts:
                async for part in parts:
                    if isinstance(part, ModelResponse):
                        most = body.get("max_output_tokens")
                        if most and part.usage.output_tokens >= most and part.incomplete is None:
                            # llama.cpp's server calls a reply completed that ends at its limit.
                            part = replace(part, incomplete="max_output_tokens")  # noqa: PLW2901
                        self._learn(request, part, forcing)
                        failpoint("model-answered")
                    elif request.forced_tool and isinstance(part, TextPart):
                        continue  # the call may be made again
                    yield part
        except ModelError as error:  # inside the stream or the response
            self._note_lost(request, error)
            raise
        except OpenAIError as error:
            raise self._understood(error, request, body, forcing) from error
        except SSEError as error:  # the event is too large, and would be again
            most = f"One event may have {_MOST_OF_AN_EVENT // 2**20} MiB."
            text = f"The model service's stream cannot be read: {error} {most}"
            raise ModelError(ModelErrorKind.BAD_REQUEST, text) from error
        except HTTPError as error:
            raise ModelError(ModelErrorKind.INTERRUPTED, f"The stream broke: {error}") from error
        finally:
            if reader.stores_nothing:
                self.traits.note_stateless()

    def _learn(self, request: ModelRequest, response: ModelResponse, forcing: str) -> None:
        """Learn from a response. Raises _AskOtherwise when it ignores that one tool is forced by name
        and does not hold JSON, which may be the result."""
        self.traits.has_answered = True
        if request.store:
            self.traits.note_response(response.id)
        is_text = bool(response.text) and not response.incomplete and "{" not in response.text
        if request.forced_tool and forcing == FORCING[0] and is_text and not response.calls:
            self.traits.note_not_forced(forcing)
            raise _AskOtherwise(paid=response.usage)

    def _understood(
        self, error: OpenAIError, request: ModelRequest, body: dict[str, Any], forcing: str
    ) -> ModelError | _AskOtherwise:
        """Return what to raise for an error, after learning from it."""
        understood = from_exception(error)
        if request.forced_tool and forcing != FORCING[-1] and _is_about_choice(error):
            self.traits.note_not_forced(forcing)
            return _AskOtherwise()
        if understood.kind is ModelErrorKind.BAD_REQUEST and (name := _refused_part(error, body)):
            self.traits.note_refused(request.model, name)
            return _AskOtherwise()
        if understood.kind is ModelErrorKind.BAD_REQUEST and _is_about_reasoning(error):
            without = _without_reasoning(request.input)
            if without != request.input:
                return _AskOtherwise(replace(request, input=without))
        self._note_lost(request, understood)
        return understood

    def _note_lost(self, request: ModelRequest, error: ModelError) -> None:
        """Learn from the error whether the server stores responses at all."""
        parent = request.previous_response_id
        if error.kind is ModelErrorKind.MISSING_PARENT and parent:
            if stores_nothing(error):
                self.traits.note_stateless()
            self.traits.note_missing(parent)

    def _body(self, request: ModelRequest, forcing: str) -> dict[str, Any]:
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
        if request.effort:
            body["reasoning"] = {**(body["reasoning"] or {}), "effort": request.effort}
        if request.forced_tool and forcing == "named":
            body["tool_choice"] = {"type": "function", "name": request.forced_tool}
        elif request.forced_tool:
            body["tools"] = [t for t in request.tools if t.get("name") == request.forced_tool]
            body["tool_choice"] = forcing
        include = [] if request.store else ["reasoning.encrypted_content"]
        if any(tool["type"] == "web_search" for tool in body["tools"]):
            include.append("web_search_call.action.sources")
        body["include"] = include or None
        if not request.store:
            body["store"] = False
        left_out = self.traits.left_out.get(request.model, ())
        if "strict" in left_out:
            body["tools"] = [
                {k: v for k, v in tool.items() if k != "strict"} for tool in body["tools"]
            ]
        body |= dict.fromkeys(left_out)
        return {key: value for key, value in body.items() if value is not None and value != ""}

    async def _whole(
        self, body: dict[str, Any], reader: ResponseReader
    ) -> AsyncGenerator[Progress]:
        async with self._sent(body) as response:
            yield reader.read_whole(await _content_of(response))

    @asynccontextmanager
    async def _sent(self, body: dict[str, Any]) -> AsyncGenerator[Response]:
        """Post `body`. Yield the response with its body unread."""
        options = _POST.model_copy(update={"content": to_json(body)})
        how: Any = {"stream": True, "stream_cls": AsyncStream[object]}  # leaves the body unread
        response = await self._client.request(Response, options, **how)
        try:
            yield response
        finally:
            await response.aclose()

    async def _events(
        self, body: dict[str, Any], reader: ResponseReader
    ) -> AsyncGenerator[Progress]:
        response: ModelResponse | None = None
        left = _MOST_OF_A_STREAM
        async with self._sent({**body, "stream": True}) as sent:
            failpoint("model-asked")
            if "event-stream" not in sent.headers.get("content-type", ""):
                content = await _content_of(sent)
                if not _EVENTS.match(content):  # the service does not stream
                    yield reader.read_whole(content)
                    return
                named = Response(200, headers=_EVENT_STREAM, content=content, request=sent.request)
            else:
                named = sent
            source = EventSource(named, max_event_size=_MOST_OF_AN_EVENT)
            async with aclosing(cast("AsyncGenerator[ServerSentEvent]", aiter(source))) as events:
                # Read to the end, so that the connection can be reused.
                async for event in events:
                    left -= len(event.data)
                    if left < 0:
                        raise _too_large("stream", _MOST_OF_A_STREAM)
                    part = reader.read(event) if response is None else None
                    if isinstance(part, ModelResponse):
                        response = part
                    elif part is not None:
                        failpoint("model-streaming")
                        yield part
        if response is None:
            raise ModelError(ModelErrorKind.INTERRUPTED, "The stream ended without a response.")
        yield response


def _is_about_choice(error: OpenAIError) -> bool:
    """Return whether the service refused the request because of its `tool_choice`."""
    return "tool_choice" in _refusal(error)


def _is_about_reasoning(error: OpenAIError) -> bool:
    """Return whether the service refused an item of reasoning, as those of another server are."""
    return bool(_REASONING_ITEM.search(_refusal(error).lower()))


def _without_reasoning(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """Return `items` without reasoning, and without the ids that would ask for it."""
    if not any(item.get("type") == "reasoning" for item in items):
        return items
    kept = (item for item in items if item.get("type") != "reasoning")
    return tuple({key: each for key, each in item.items() if key != "id"} for item in kept)


def _refused_part(error: OpenAIError, body: dict[str, Any]) -> str | None:
    """Return the dispensable parameter of `body` that the service refused, if that is why it failed."""
    text = _refusal(error).lower()
    sent = {*body, *(key for tool in body["tools"] for key, value in tool.items() if value)}
    return next((n for n, words in _DISPENSABLE.items() if n in sent and words.search(text)), None)


def _refusal(error: OpenAIError) -> str:
    """Return all that a service says when it refuses a request as wrong; empty for other errors."""
    if not isinstance(error, APIStatusError) or error.status_code not in _REFUSED:
        return ""
    return f"{error.param} {error.message} {error.body}"
