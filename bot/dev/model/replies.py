"""Replies of a brain, and short functions that make them.

Items are drafts: the server adds ids, statuses and sealed reasoning before it sends them.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

Item = dict[str, Any]
Arguments = dict[str, Any] | str
"""A mapping is sent as JSON, a string as it is, for malformed arguments."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The output of one request.

    `disobey` permits breaking `tool_choice` or `parallel_tool_calls`, as some models and servers
    do. `pause` (seconds) and `until` hold the reply back after `response.created` was sent.
    """

    items: tuple[Item, ...]
    status: Literal["completed", "incomplete", "failed"] = "completed"
    reason: str | None = None
    disobey: bool = False
    pause: float = 0.0
    until: asyncio.Event | None = None

    @property
    def called(self) -> list[str]:
        """The names of the called functions, in order."""
        return [item["name"] for item in self.items if item["type"] == "function_call"]


def call(name: str, arguments: Arguments, *, call_id: str = "", disobey: bool = False) -> Reply:
    """Return one function call; without a `call_id` it gets a new one."""
    return Reply((_call(name, arguments, call_id),), disobey=disobey)


def calls(*pairs: tuple[str, Arguments], disobey: bool = False) -> Reply:
    """Return several parallel function calls."""
    return Reply(tuple(_call(name, arguments) for name, arguments in pairs), disobey=disobey)


def finish(answer: Arguments) -> Reply:
    """Return a call of `complete_task`."""
    return call("complete_task", answer)


def text(words: str, *, phase: str = "final_answer", disobey: bool = False) -> Reply:
    """Return a plain message."""
    return Reply(({"type": "message", "text": words, "phase": phase},), disobey=disobey)


def refusal(words: str) -> Reply:
    """Return a message whose content is a refusal; the response itself is completed."""
    return Reply(({"type": "message", "refusal": words},), disobey=True)


def incomplete(reason: str, text: str = "", then: Reply | None = None) -> Reply:
    """Return a response cut off for `reason`, with the text or calls until then."""
    items = then.items if then else ()
    if text:
        items = ({"type": "message", "text": text}, *items)
    return Reply(items, status="incomplete", reason=reason, disobey=True)


def empty() -> Reply:
    """Return a completed response without any output."""
    return Reply((), disobey=True)


def raw(items: Sequence[Item]) -> Reply:
    """Return exactly these output items; only missing ids are added."""
    return Reply(tuple({**item, "_raw": True} for item in items), disobey=True)


def reasoning(thought: str, then: Reply) -> Reply:
    """Return `then` with a reasoning item before it."""
    return replace(then, items=({"type": "reasoning", "text": thought}, *then.items))


def held(reply: Reply, until: asyncio.Event) -> Reply:
    """Return `reply`, sent only when `until` is set; a stream sends `response.created` before."""
    return replace(reply, until=until)


def _call(name: str, arguments: Arguments, call_id: str = "") -> Item:
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
    return {"type": "function_call", "name": name, "arguments": arguments, "call_id": call_id}
