"""Client of the Responses API: what a request says, and how it is asked again if the server refuses a part.

`endpoint` sends requests over the connections of OpenAI's SDK, `decoding` reads replies without its types.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from dataclasses import replace
from functools import cache
from ssl import SSLContext
from types import NoneType
from typing import Any

from aiohttp import ClientError
from httpx2 import URL
from pydantic_core import to_json

from bot.core.chain import NO_USAGE, Item, Usage
from bot.core.errors import ModelError, ModelErrorKind
from bot.core.failpoints import failpoint
from bot.model.decoding import ResponseReader
from bot.model.endpoint import Endpoint, content_of
from bot.model.errors import from_exception, said_by_service, stores_nothing
from bot.model.sdk import (
    APIStatusError,
    AsyncOpenAI,
    DefaultAioHttpClient,
    NotFoundError,
    OpenAIError,
    default_ssl_context,
    path_template,
)
from bot.model.traits import FORCING, ServerTraits
from bot.model.types import ModelRequest, ModelResponse, Progress, TextPart

log = logging.getLogger(__name__)

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
_EVENTS = re.compile(rb"\s*(event|data|id|retry)?:")
_ANY = {"accept": "*/*"}


def sdk_client(api_key: str, base_url: str | None, *, max_retries: int = 2) -> AsyncOpenAI:
    """Return OpenAI's client on its aiohttp transport, over whose connections `Endpoint` sends requests.

    A query in `base_url` is sent with each request. Azure's dated interfaces have one, `api-version`,
    and take the key in a header of their own.
    """
    address = URL(base_url) if base_url else None
    query = dict(address.params) if address else {}
    return AsyncOpenAI(
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
        self._endpoint = Endpoint(client)
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
                        if paid is not NO_USAGE and isinstance(part, ModelResponse):
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
        failpoint("model-asking")
        try:
            async with aclosing(self._parts(body, reader)) as parts:
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
        except ClientError as error:
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
        if not request.forced_tool or forcing != FORCING[0] or response.calls:
            return
        if response.text and not response.incomplete and "{" not in response.text:
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
            "stream": self._stream or None,
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

    async def _parts(
        self, body: dict[str, Any], reader: ResponseReader
    ) -> AsyncGenerator[Progress]:
        """Post `body`; return what the reply says as it arrives, the response last."""
        async with await self._endpoint.post(to_json(body)) as reply:
            if not self._stream:
                yield reader.read_whole(await content_of(reply))
                return
            failpoint("model-asked")
            if "event-stream" in reply.headers.get("content-type", ""):
                # Read to the end, so that the connection can be reused.
                while chunk := await reply.content.readany():
                    for part in reader.read(chunk):
                        failpoint("model-streaming")
                        yield part
            else:
                content = await content_of(reply)
                if not _EVENTS.match(content):  # the service does not stream
                    yield reader.read_whole(content)
                    return
                for part in reader.read(content):
                    yield part
        yield reader.read_end()


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
