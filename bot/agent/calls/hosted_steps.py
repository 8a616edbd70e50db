"""Hosted steps: what the service's own tools do during a model call, as steps that people see."""

from __future__ import annotations

import time
from collections.abc import Iterable

from bot.agent.calls.outputs import Step
from bot.agent.events import ToolEnded, ToolStarted
from bot.core.chain import Item
from bot.model.types import HostedPart
from bot.text.invisible_text import without_invisible
from bot.text.redaction import redacted

HostedEvent = ToolStarted | ToolEnded

_LONGEST = 200
_NAMES = {
    "web_search_call": ("web_search", "Search the web"),
    "file_search_call": ("file_search", "Search the vector stores"),
    "code_interpreter_call": ("code_interpreter", "Run a program"),
}


def hosted_steps(items: Iterable[Item]) -> tuple[Step, ...]:
    """Return the steps of a whole response that went well."""
    return tuple(
        Step(tool=_tool(item), title=_title(item), detail=_detail(item))
        for item in items
        if item.get("status") != "failed"
    )


class HostedSteps:
    """The hosted steps of one call. The service often tells the query only when a step is done, and
    tells all steps with the response if it does not stream."""

    def __init__(self) -> None:
        self._running: dict[str, tuple[Item, float]] = {}
        self._done: set[str] = set()

    def seen(self, part: HostedPart) -> list[HostedEvent]:
        """Return the events that a part of the stream adds."""
        key, events = part.item["id"], list[HostedEvent]()
        if key in self._done:
            return events
        if key not in self._running:
            self._running[key] = (part.item, time.monotonic())
            events.append(ToolStarted(key, _tool(part.item), _title(part.item)))
        if part.done:
            self._done.add(key)
            failed = part.item.get("status") == "failed"
            detail = "It did not work there." if failed else _detail(part.item)
            events.append(self._ended(key, part.item, detail, ok=not failed))
        return events

    def whole(self, items: Iterable[Item]) -> list[HostedEvent]:
        """Return the events that a whole response adds."""
        return [event for item in items for event in self.seen(HostedPart(item, done=True))]

    def broken_off(self) -> list[HostedEvent]:
        """Close steps that never reported an end."""
        left = [item for item, _ in self._running.values()]
        return [self._ended(each["id"], each, "It was broken off.", ok=False) for each in left]

    def _ended(self, key: str, item: Item, detail: str, *, ok: bool) -> ToolEnded:
        _, began = self._running.pop(key)
        seconds = time.monotonic() - began
        return ToolEnded(key, _tool(item), ok, detail, seconds, _title(item))


def _tool(item: Item) -> str:
    return _NAMES[item["type"]][0]


def _title(item: Item) -> str:
    """Return the query or the program of a step in one line."""
    action = item.get("action") or {}
    words = _NAMES[item["type"]][1]
    match item["type"], action.get("type"):
        case "web_search_call", "open_page":
            words, about = "Read a page", action.get("url")
        case "web_search_call", "find_in_page":
            words, about = "Look through a page", action.get("pattern")
        case "web_search_call", _:
            about = action.get("query") or ", ".join(action.get("queries") or ())
        case "file_search_call", _:
            about = ", ".join(item.get("queries") or ())
        case _:
            about = _first_line(item.get("code") or "")
    line = " ".join(without_invisible(redacted(about or "")).split())
    return f"{words}: {line}"[:_LONGEST] if line else words


def _first_line(code: str) -> str:
    """Return the first line of a program that does something."""
    lines = [line.strip() for line in code.splitlines()]
    telling = (line for line in lines if line and not line.startswith(("import ", "from ")))
    return next(telling, "")


def _detail(item: Item) -> str:
    """Return the result of a step, if the service tells it."""
    found = (item.get("action") or {}).get("sources") or item.get("results") or ()
    return f"{len(found)} found" if found else ""
