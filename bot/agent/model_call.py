"""Model calls: one call with its progress, retries and result."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import aclosing
from dataclasses import dataclass

from bot.agent.builtin.complete_task import Draft
from bot.agent.calls.hosted_steps import HostedSteps
from bot.agent.events import Event, ReasoningDelta, ResultDelta, TextDelta, TextWithdrawn, emit
from bot.agent.interrupt import Interrupted
from bot.agent.loop_deps import LoopDeps
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

_RETRIES = 2
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
        for attempts_left in reversed(range(_RETRIES + 1)):
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
