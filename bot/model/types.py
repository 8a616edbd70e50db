"""Types of a model call: the request, its progress and the response."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from bot.core.chain import NO_USAGE, Item, Usage


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """The request of one call. `input` and `tools` are sent verbatim.

    `forced_tool` names the one function that must be called, if any. Without `store` the service
    stores nothing and returns encrypted reasoning, which the next call sends again. `cache_key`
    groups requests that share a prefix. `user_hash` identifies the person to the service without
    naming them. The arguments of calls to the function `watched` are streamed. `is_last` means that
    the run makes no call after this one. `effort` replaces the configured reasoning effort.
    """

    model: str
    instructions: str
    input: tuple[Item, ...]
    tools: tuple[dict[str, Any], ...]
    previous_response_id: str | None = None
    forced_tool: str | None = None
    store: bool = True
    cache_key: str = ""
    user_hash: str = ""
    watched: str = ""
    is_last: bool = False
    effort: str | None = None


@dataclass(frozen=True, slots=True)
class TextPart:
    """More visible text."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """More of a reasoning summary."""

    text: str


@dataclass(frozen=True, slots=True)
class ArgumentsPart:
    """More of the JSON that the watched function is called with."""

    text: str


HOSTED_CALLS = frozenset({"web_search_call", "file_search_call", "code_interpreter_call"})
"""Types of output items for the service's hosted tools."""


@dataclass(frozen=True, slots=True)
class HostedPart:
    """The begin or, with `done`, the end of a hosted tool; `item` describes it as far as known."""

    item: Item
    done: bool


CONTENT_FILTER = "content_filter"
"""The reason of a response that the content filter cut; other incomplete ones were too long."""


@dataclass(frozen=True)
class ModelResponse:
    """A finished response; `incomplete` is the reason why it was cut, or None.

    `rewritten`: its items are not those of the service's own copy. `unreadable`: its text holds what
    looks like a call and cannot be read. `paid_before` is the usage of replies to the same request
    that were asked for again.
    """

    id: str
    items: tuple[Item, ...]
    usage: Usage
    model: str = ""
    incomplete: str | None = None
    rewritten: bool = False
    unreadable: bool = False
    paid_before: Usage = NO_USAGE

    @property
    def billed(self) -> Usage:
        """The usage of all replies to the request."""
        return self.usage + self.paid_before

    @cached_property
    def calls(self) -> tuple[Item, ...]:
        """The function calls, in order; one per call id, as the service allows one output each."""
        found = {item["call_id"]: item for item in self._of_type("function_call")}
        return tuple(found.values())

    @cached_property
    def hosted(self) -> tuple[Item, ...]:
        """The items of the service's hosted tools."""
        return tuple(i for i in self.items if i.get("type") in HOSTED_CALLS and i.get("id"))

    @cached_property
    def text(self) -> str:
        """The visible text of all messages."""
        return "\n\n".join(filter(None, self._texts("output_text", "text")))

    @cached_property
    def refusal(self) -> str:
        """The model's text when it refused; empty otherwise."""
        return "\n\n".join(filter(None, self._texts("refusal", "refusal")))

    @cached_property
    def links(self) -> tuple[str, ...]:
        """Addresses found by the service's own web search."""
        searches = (item.get("action") or {} for item in self._of_type("web_search_call"))
        found = [source.get("url") for each in searches for source in each.get("sources") or ()]
        for part in self._content("output_text"):
            found += [each.get("url") for each in part.get("annotations") or ()]
        return tuple(dict.fromkeys(filter(None, found)))

    def _of_type(self, kind: str) -> list[Item]:
        return [item for item in self.items if item.get("type") == kind]

    def _texts(self, kind: str, field: str) -> list[str]:
        return [str(part.get(field) or "") for part in self._content(kind)]

    def _content(self, kind: str) -> list[dict[str, Any]]:
        messages = self._of_type("message")
        parts = (part for message in messages for part in message.get("content") or ())
        return [part for part in parts if part.get("type") == kind]


Progress = TextPart | ReasoningPart | ArgumentsPart | HostedPart | ModelResponse
"""What a call yields: parts as they arrive, then exactly one response."""


class Model(Protocol):
    """A model service."""

    def respond(self, request: ModelRequest) -> AsyncGenerator[Progress]:
        """Make one call. The last thing yielded is the response.

        Raises ModelError. Closing the generator early drops the connection.
        """


async def whole_response(model: Model, request: ModelRequest) -> ModelResponse:
    """Make one call and return its response. Raises ModelError."""
    async with aclosing(model.respond(request)) as parts:
        async for part in parts:
            if isinstance(part, ModelResponse):
                return part
    raise RuntimeError("a model must end with a response")
