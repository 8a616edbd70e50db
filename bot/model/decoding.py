"""Decoder of the Responses API: stream events and whole responses, in the dialects of all servers.

Everything is validated here, once. The rest of the bot relies on it: items have a type, function
calls have their three strings, and usage consists of numbers.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from pydantic_core import from_json

from bot.core.chain import Item, Usage
from bot.core.errors import ModelError, ModelErrorKind
from bot.core.ids import new_id
from bot.model.errors import from_body, no_responses_api
from bot.model.event_stream import EventStream
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

log = logging.getLogger(__name__)

_ENDED = ("completed", "incomplete", "failed", "cancelled")
_TERMINAL = frozenset(f"response.{status}" for status in _ENDED)
_MOST_TOKENS = 10**9  # more than any response uses: a larger number is a bug of the server
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNNAMED = "unnamed"
_HOSTED_CALLS = tuple(kind.encode() for kind in HOSTED_CALLS)


class ResponseReader:
    """A reader of the reply to one request: the events of a stream, or a whole response.

    It returns the arguments of calls to the function `request.watched` as they arrive.
    `stores_nothing` turns true when the reply says that the service stores no responses.
    """

    def __init__(self, request: ModelRequest) -> None:
        self.stores_nothing = False
        self._request = request
        self._watched = request.watched
        self._call: dict[str, Any] | None = None  # the keys of the watched call's events
        self._events = EventStream()
        # What was streamed, unparsed: most servers repeat it at the end.
        self._done: list[bytes] = []  # events of finished items
        self._text: list[str] = []
        self._last: ModelResponse | None = None

    def read(self, chunk: bytes) -> Iterator[Progress]:
        """Return the progress that more bytes of a stream report, without the response, which
        `read_end` returns. Raises ModelError."""
        for name, data in self._events.read(chunk):
            if self._last is None and (part := self._read(name, data)):
                yield part

    def read_end(self) -> ModelResponse:
        """Return the response that the stream ended with. Raises ModelError if there is none."""
        if self._last is None:
            raise ModelError(ModelErrorKind.INTERRUPTED, "The stream ended without a response.")
        return self._last

    def _read(self, kind: str, data: bytes) -> Progress | None:
        """Return the progress that an event reports; keep the response."""
        if data.strip() in (b"", b"[DONE]"):
            return None
        if not kind.startswith("response.") and kind != "error":  # only the data names the type
            body = read_object(data)
            kind = _text(body.get("type")) or ("error" if body.get("error") else "")
        part: Progress | None = None
        match kind:
            case "response.output_text.delta":
                part = TextPart(_text(read_object(data).get("delta")))
                self._text.append(part.text)
            case "response.reasoning_summary_text.delta":
                part = ReasoningPart(_text(read_object(data).get("delta")))
            case "response.function_call_arguments.delta":
                part = self._arguments(data)
            case "response.output_item.added":
                part = self._begun(data)
            case "response.output_item.done":
                self._done.append(data)
                part = _hosted(data, done=True)
            case "error":
                raise from_body(read_object(data))
            case _ if kind in _TERMINAL:
                self._last = self._response(kind, read_object(data).get("response"))
            case _:  # not shown; the last event repeats its content
                pass
        return part

    def _begun(self, data: bytes) -> Progress | None:
        if self._watched:
            event = read_object(data)
            item = _object(event.get("item"))
            is_watched = item.get("name") == self._watched
            names = {"item_id": item.get("id"), "output_index": event.get("output_index")}
            self._call = names if is_watched else None
        return _hosted(data, done=False)

    def _arguments(self, data: bytes) -> ArgumentsPart | None:
        """Return the delta, unless it belongs to another item than the watched call."""
        if self._call is None:
            return None
        delta = read_object(data)
        for key, ours in self._call.items():
            if None not in (ours, delta.get(key)) and delta[key] != ours:
                return None
        return ArgumentsPart(_text(delta.get("delta")))

    def _response(self, kind: str, body: object) -> ModelResponse:
        """Return the response that ended the stream, with what was streamed if it does not repeat it."""
        given = _object(body)
        output = given.get("output")
        if not isinstance(output, list) or not output:
            streamed = [read_object(each).get("item") for each in self._done]
            if not streamed and (words := "".join(self._text)):
                streamed = [{"type": "message", "content": words}]
            if streamed:
                body = {**given, "output": streamed}
        return self._checked(body, ended=kind.removeprefix("response."))

    def read_whole(self, data: bytes) -> ModelResponse:
        """Return the response that is the body of a reply. Raises ModelError."""
        if data.lstrip()[:1] == b"<":  # a web page
            raise no_responses_api()
        return self._checked(read_object(data))

    def _checked(self, body: object, *, ended: str = "") -> ModelResponse:
        """Return the response. Raises ModelError, of the kind for a missing parent when it was made
        without the conversation that `previous_response_id` names."""
        request = self._request
        response = read_response(body, ended=ended)
        echo = _object(body)
        parent = request.previous_response_id
        if parent and echo.get("previous_response_id") != parent:
            self.stores_nothing = True
            message = "The model service answered without the conversation before the request."
            raise ModelError(ModelErrorKind.MISSING_PARENT, message)
        # What has no id cannot be continued either.
        is_stored = echo.get("store") is not False and bool(_text(echo.get("id")))
        self.stores_nothing = request.store and not is_stored
        return response


def read_response(body: object, *, ended: str = "") -> ModelResponse:
    """Return the response that `body` describes; `ended` is the status that its event names.

    Raises ModelError, of a retried kind when a retry may help.
    """
    if not isinstance(body, dict):
        raise ModelError(ModelErrorKind.INTERRUPTED, "The model service sent no response object.")
    output = body.get("output")
    status = body.get("status")
    if status not in _ENDED:
        status = ended or ("completed" if isinstance(output, list) else status)
    if status not in ("completed", "incomplete"):
        raise _failed(body) if status else _foreign(body)
    if not isinstance(output, list):
        raise _foreign(body) if output is None and not ended else _malformed("no list of items")
    items = tuple(_items(output))
    reason = _text(_object(body.get("incomplete_details")).get("reason")) or "unknown"
    return ModelResponse(
        id=_text(body.get("id")) or new_id("resp"),
        items=items,
        usage=_usage(_object(body.get("usage")), items),
        model=_text(body.get("model")),
        incomplete=reason if status == "incomplete" else None,
    )


def read_object(data: bytes) -> dict[str, Any]:
    """Parse a JSON object; what is no UTF-8, and half of a surrogate pair, becomes U+FFFD.

    Raises ModelError when the data is not a JSON object.
    """
    try:
        value = from_json(data)
    except ValueError:
        value = _repaired(data)
    if not isinstance(value, dict):
        raise _malformed("JSON that is no object")
    return value


def _repaired(data: bytes) -> object:
    """Parse JSON with lone surrogates, which Python's parser accepts and the fast parser does not."""
    try:
        text = json.dumps(json.loads(data.decode(errors="replace")), ensure_ascii=False)
        return from_json(_SURROGATE.sub("\ufffd", text))
    except (ValueError, RecursionError):
        raise _malformed("something that is not JSON") from None


def _malformed(what: str) -> ModelError:
    return ModelError(ModelErrorKind.INTERRUPTED, f"The model service sent {what}.")


def _foreign(body: Mapping[str, Any]) -> ModelError:
    """Return the error for a reply of something other than a Responses API; a retry is useless."""
    if isinstance(body.get("error"), dict):
        return from_body(body)
    message = _text(body.get("error")) or _text(body.get("detail")) or _text(body.get("message"))
    return no_responses_api(message)


def _items(output: Iterable[object]) -> Iterable[Item]:
    for raw in output:
        if not isinstance(raw, dict):
            log.warning("The model service sent an output item that is no object: left out")
            continue
        kind = raw.get("type")
        if not isinstance(kind, str):
            kind = "message" if "content" in raw else ""
        if not kind:
            log.warning("The model service sent an output item without a type: left out")
            continue
        item = raw if raw.get("type") == kind else {**raw, "type": kind}
        if kind == "function_call":
            item = _call(item)
        elif kind == "message":
            item = _message(item)
        yield _without_wrong_types(item, _FIELDS.get(kind, _ANY))


def _call(item: Item) -> Item:
    """Return a call that can be dispatched; the model reads of its mistakes in the call's output."""
    if not _text(item.get("call_id")):
        item = {**item, "call_id": _text(item.get("id")) or new_id("call")}
    name, arguments = item.get("name"), item.get("arguments")
    if isinstance(name, str) and name and isinstance(arguments, str):
        return item
    if not isinstance(arguments, str):
        arguments = "" if arguments is None else json.dumps(arguments)
    return {**item, "name": _text(name) or _UNNAMED, "arguments": arguments}


def _message(item: Item) -> Item:
    content = item.get("content")
    if isinstance(content, str):
        content = [{"type": "output_text", "text": content, "annotations": []}]
    elif not isinstance(content, list):
        content = []
    parts = [_part(part) for part in content if isinstance(part, dict)]
    if item.get("role") == "assistant" and parts == item.get("content"):
        return item
    return {**item, "role": "assistant", "content": parts}


def _part(part: dict[str, Any]) -> dict[str, Any]:
    """Return a part of a message; some servers give the text of Chat Completions."""
    if part.get("type") == "text":
        part = {"annotations": [], **part, "type": "output_text"}
    return _without_wrong_types(part, _PART)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _is_objects(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


Shape = Mapping[str, Callable[[Any], bool]]

_ANY: Shape = {"id": _is_text, "status": _is_text}
_ACTION: Shape = {
    **dict.fromkeys(("type", "query", "url", "pattern"), _is_text),
    "queries": _is_texts,
    "sources": lambda value: _is_objects(value) and all(_has_address(each) for each in value),
}
_PART: Shape = {
    **dict.fromkeys(("type", "text", "refusal"), _is_text),
    "annotations": lambda value: _is_objects(value) and all(_has_address(each) for each in value),
}
_FIELDS: Mapping[str, Shape] = {
    "web_search_call": {**_ANY, "action": lambda value: _fits(value, _ACTION)},
    "file_search_call": {**_ANY, "queries": _is_texts, "results": _is_list},
    "code_interpreter_call": {**_ANY, "code": _is_text, "container_id": _is_text},
}


def _has_address(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("url", ""), str | None)


def _fits(value: object, shape: Shape) -> bool:
    return isinstance(value, dict) and _without_wrong_types(value, shape) is value


def _without_wrong_types(value: dict[str, Any], shape: Shape) -> dict[str, Any]:
    """Return `value` without known fields of a wrong type; `value` itself if there are none."""
    wrong = {
        name
        for name, is_right in shape.items()
        if value.get(name) is not None and not is_right(value[name])
    }
    return {key: each for key, each in value.items() if key not in wrong} if wrong else value


def _hosted(data: bytes, *, done: bool) -> HostedPart | None:
    """Return the hosted tool's step in an item's event; None, unparsed, for other items."""
    if not any(kind in data for kind in _HOSTED_CALLS):
        return None
    item = next(iter(_items([read_object(data).get("item")])), {})
    is_step = item.get("type") in HOSTED_CALLS and item.get("id")
    return HostedPart(item, done=done) if is_step else None


def _failed(body: Mapping[str, Any]) -> ModelError:
    """Return the error of a response that failed, with what it used: the service bills that."""
    error, output = from_body(body), body.get("output")
    listed = output if isinstance(output, list) else []
    items = [
        each for each in listed if isinstance(each, dict) and isinstance(each.get("type"), str)
    ]
    usage = _usage(_object(body.get("usage")), items)
    error.usage = usage if usage.input_tokens or usage.output_tokens else None
    return error


def _usage(body: Mapping[str, Any], items: Iterable[Item]) -> Usage:
    used = [each for each in items if each["type"] in HOSTED_CALLS]
    ran = [each["container_id"] for each in used if each.get("container_id")]
    return Usage(
        input_tokens=_count(body.get("input_tokens")),
        cached_tokens=_count(_object(body.get("input_tokens_details")).get("cached_tokens")),
        output_tokens=_count(body.get("output_tokens")),
        reasoning_tokens=_count(_object(body.get("output_tokens_details")).get("reasoning_tokens")),
        web_searches=sum(map(_is_web_search, used)),
        file_searches=sum(each["type"] == "file_search_call" for each in used),
        containers=tuple(dict.fromkeys(ran)),
    )


def _is_web_search(item: Item) -> bool:
    """Return whether the item is a search, which has a fee; opening a found page is free."""
    action = item.get("action") or {}
    return item["type"] == "web_search_call" and action.get("type") in (None, "search")


def _count(value: object) -> int:
    """Return a number of tokens; 0 when `value` is not a plausible count."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return 0
    return int(value) if 0 <= value <= _MOST_TOKENS else 0


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
