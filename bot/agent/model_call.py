"""Model calls: one call with its progress, retries, hosted steps and result."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from contextlib import aclosing
from dataclasses import dataclass

from bot.agent.builtin.complete_task import Draft
from bot.agent.calls.outputs import Step
from bot.agent.events import (
    Event,
    ReasoningDelta,
    ResultDelta,
    TextDelta,
    TextWithdrawn,
    ToolEnded,
    ToolStarted,
    emit,
)
from bot.agent.interrupt import Interrupted
from bot.agent.loop_deps import LoopDeps
from bot.core.chain import Item
from bot.core.errors import CallRefused, ModelError, ModelErrorKind
from bot.core.outcome import StopReason
from bot.model.text_calls import StreamedText, understood
from bot.model.types import (
    ArgumentsPart,
    HostedPart,
    ModelRequest,
    ModelResponse,
    ReasoningPart,
    TextPart,
)
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
        running = [item for item, _ in self._running.values()]
        return [self._ended(item["id"], item, "It was broken off.", ok=False) for item in running]

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
    results = (item.get("action") or {}).get("sources") or item.get("results") or ()
    return f"{len(results)} found" if results else ""


_STREAM_RETRIES = 2
"""How often a call whose stream broke is retried."""

_MOST_DRAFT = 4_000  # characters


@dataclass(frozen=True, slots=True)
class CallResult:
    """The result of a model call: a response, or why there is none.

    `partials` are the texts of attempts that broke off, `draft` is the beginning of the result that
    the model was writing. With `may_close` the run may make one last call instead."""

    response: ModelResponse | None = None
    stop: StopReason = StopReason.MODEL_ERROR
    error: ModelError | None = None
    partials: tuple[str, ...] = ()
    draft: str = ""
    may_close: bool = False


class _Attempt:
    """What one attempt of a call has said so far."""

    def __init__(self) -> None:
        self.written = ""
        self.draft = ""
        self.steps = HostedSteps()


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A call that must end at `deadline`, in a run that must end at `run_ends`; both in seconds on
    the event loop's clock."""

    deps: LoopDeps
    deadline: float
    run_ends: float

    async def make(self, request: ModelRequest) -> CallResult:
        """Make the call, with retries if the stream breaks, and emit its progress."""
        partials: tuple[str, ...] = ()
        for attempts_left in reversed(range(_STREAM_RETRIES + 1)):
            attempt = _Attempt()
            try:
                response = await self._respond(request, attempt)
                return CallResult(response, partials=partials)
            except CallRefused as refused:
                if refused.reason is StopReason.PAUSED:  # stop sub-agents too
                    self.deps.interrupt.request(StopReason.PAUSED)
                return CallResult(
                    stop=refused.reason, partials=partials, may_close=refused.may_close
                )
            except Interrupted:
                await _emit_all(attempt.steps.broken_off())
                stop = self.deps.interrupt.reason_or(StopReason.CANCELLED_STREAMING)
                return CallResult(stop=stop, draft=attempt.draft[:_MOST_DRAFT])
            except (TimeoutError, ModelError) as error:
                await _emit_all(attempt.steps.broken_off())
                await emit(TextWithdrawn())
                if attempt.written:
                    partials = (*partials, attempt.written)
                if not (attempts_left and _is_cut(error)):
                    return self._failed(error, partials)
        raise AssertionError("the last attempt has a result")

    async def _respond(self, request: ModelRequest, attempt: _Attempt) -> ModelResponse | None:
        """Make one attempt, with every step bounded by the deadline."""
        response: ModelResponse | None = None
        draft = Draft(self.deps.response_type, self.deps.hooks.filled_text)
        visible = StreamedText()
        async with aclosing(self.deps.model.respond(request)) as stream:
            while True:
                with self.deps.interrupt.within(self.deadline):
                    part = await anext(stream, None)
                match part:
                    case None:
                        return response
                    case ModelResponse(hosted=hosted):
                        await _emit_all(attempt.steps.whole(hosted))
                        response = understood(part, _offered(request))
                    case HostedPart():
                        await _emit_all(attempt.steps.seen(part))
                    case ReasoningPart(text):
                        await emit(ReasoningDelta(text))
                    case TextPart(text):
                        if written := visible.more(text):
                            attempt.written += written
                            await emit(TextDelta(written))
                    case ArgumentsPart(text):
                        if written := draft.more(text):
                            attempt.written += written
                            attempt.draft += written
                            await emit(ResultDelta(written))

    def _failed(self, error: TimeoutError | ModelError, partials: tuple[str, ...]) -> CallResult:
        if isinstance(error, ModelError):
            is_too_long = error.kind is ModelErrorKind.CONTEXT_OVERFLOW
            stop = StopReason.PROMPT_TOO_LONG if is_too_long else StopReason.MODEL_ERROR
            return CallResult(stop=stop, error=error, partials=partials)
        is_out_of_time = asyncio.get_running_loop().time() >= self.run_ends
        stop = StopReason.RUN_TIMEOUT if is_out_of_time else StopReason.TURN_TIMEOUT
        return CallResult(stop=stop, partials=partials, may_close=True)


def _is_cut(error: Exception) -> bool:
    return isinstance(error, ModelError) and error.kind is ModelErrorKind.INTERRUPTED


def _offered(request: ModelRequest) -> frozenset[str]:
    return frozenset(str(tool["name"]) for tool in request.tools if "name" in tool)


async def _emit_all(events: Iterable[Event]) -> None:
    for event in events:
        await emit(event)
