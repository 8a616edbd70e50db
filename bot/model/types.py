"""One model call: the request, its progress and the response."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from bot.core.chain import Item, Usage


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What one call sends. `input` and `tools` go out verbatim.

    `forced_tool` names the one function that must be called, if any. Without `store` the service
    keeps nothing, and reasoning comes back encrypted, to be sent again. `cache_key` groups
    requests that share a prefix. `user_hash` identifies the person to the service without naming
    them. Arguments of calls of the function `watched` are wanted while they come. `is_last` says that
    the run makes no call after this one.
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
"""Types of the items that say what the service's own tools did."""


@dataclass(frozen=True, slots=True)
class HostedPart:
    """A tool of the service has begun, or is done; `item` says what it did as far as is known."""

    item: Item
    done: bool


CONTENT_FILTER = "content_filter"
"""Why a response is incomplete that the service's content filter cut; any other was too long."""


@dataclass(frozen=True)
class ModelResponse:
    """A response that reached its end. `incomplete` says why it was cut, None when it was not."""

    id: str
    items: tuple[Item, ...]
    usage: Usage
    model: str = ""
    incomplete: str | None = None

    @cached_property
    def calls(self) -> tuple[Item, ...]:
        """The function calls, in order; one per call id, as the service allows one output each."""
        found = {item["call_id"]: item for item in self._of_type("function_call")}
        return tuple(found.values())

    @cached_property
    def hosted(self) -> tuple[Item, ...]:
        """What the service's own tools did."""
        return tuple(i for i in self.items if i.get("type") in HOSTED_CALLS and i.get("id"))

    @cached_property
    def text(self) -> str:
        """The visible text of all messages."""
        return "\n\n".join(filter(None, self._said("output_text", "text")))

    @cached_property
    def refusal(self) -> str:
        """What the model said when it refused; empty when it did not."""
        return "\n\n".join(filter(None, self._said("refusal", "refusal")))

    @cached_property
    def links(self) -> tuple[str, ...]:
        """Addresses that a search by the service itself brought in."""
        searches = (item.get("action") or {} for item in self._of_type("web_search_call"))
        found = [source.get("url") for each in searches for source in each.get("sources") or ()]
        for part in self._content("output_text"):
            found += [each.get("url") for each in part.get("annotations") or ()]
        return tuple(dict.fromkeys(filter(None, found)))

    def _of_type(self, kind: str) -> list[Item]:
        return [item for item in self.items if item.get("type") == kind]

    def _said(self, kind: str, field: str) -> list[str]:
        return [str(part.get(field) or "") for part in self._content(kind)]

    def _content(self, kind: str) -> list[dict[str, Any]]:
        messages = self._of_type("message")
        parts = (part for message in messages for part in message.get("content") or ())
        return [part for part in parts if part.get("type") == kind]


Progress = TextPart | ReasoningPart | ArgumentsPart | HostedPart | ModelResponse
"""What a call yields: parts while it runs, then exactly one response."""


class Model(Protocol):
    """A model service that keeps chains."""

    def respond(self, request: ModelRequest) -> AsyncGenerator[Progress]:
        """Make one call. The last thing yielded is the response.

        Raises ModelError. Closing the generator early drops the connection.
        """
