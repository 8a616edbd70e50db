"""Model calls: one call with its progress, retries and result."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace

from bot.agent.builtin.complete_task import Draft
from bot.agent.calls.hosted_steps import HostedEvent, HostedSteps
from bot.agent.events import ReasoningDelta, ResultDelta, TextDelta, TextWithdrawn
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

Delta = TextDelta | ReasoningDelta | ResultDelta
Shown = Delta | TextWithdrawn | HostedEvent
"""What people see of a call while it lasts."""


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


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A call that must end at `deadline`, in a run that must end at `run_ends`; both in seconds on
    the event loop's clock."""

    deps: LoopDeps
    deadline: float
    run_ends: float

    async def make(self, request: ModelRequest) -> AsyncGenerator[Shown | CallResult]:
        """Make the call, with retries if the stream breaks. Yield its progress, then its result."""
        before: tuple[str, ...] = ()
        for attempt in range(_RETRIES + 1):
            written, draft, steps = "", "", HostedSteps()
            try:
                async with aclosing(self._attempt(request, steps)) as parts:
                    async for part in parts:
                        written += part.text if isinstance(part, TextDelta | ResultDelta) else ""
                        draft += part.text if isinstance(part, ResultDelta) else ""
                        yield (
                            replace(part, partials=before) if isinstance(part, CallResult) else part
                        )
            except Interrupted:
                for ended in steps.broken_off():
                    yield ended
                stop = self.deps.interrupt.reason_or(StopReason.CANCELLED_STREAMING)
                yield CallResult(stop=stop, draft=draft[:_MOST_DRAFT])
            except TimeoutError:
                for ended in steps.broken_off():
                    yield ended
                yield TextWithdrawn()
                yield CallResult(
                    stop=self._which_timeout(), partials=_appended(before, written), may_close=True
                )
            except CallRefused as refused:
                if refused.reason is StopReason.PAUSED:  # stop sub-agents too
                    self.deps.interrupt.request(StopReason.PAUSED)
                yield CallResult(stop=refused.reason, partials=before, may_close=refused.may_close)
            except ModelError as error:
                for ended in steps.broken_off():
                    yield ended
                yield TextWithdrawn()
                before = _appended(before, written)
                if error.kind is ModelErrorKind.INTERRUPTED and attempt < _RETRIES:
                    continue
                overflow = error.kind is ModelErrorKind.CONTEXT_OVERFLOW
                stop = StopReason.PROMPT_TOO_LONG if overflow else StopReason.MODEL_ERROR
                yield CallResult(stop=stop, error=error, partials=before)
            return

    async def _attempt(
        self, request: ModelRequest, steps: HostedSteps
    ) -> AsyncGenerator[Delta | HostedEvent | CallResult]:
        """Make one attempt, with every step bounded by the deadline."""
        draft = Draft(self.deps.response_type, self.deps.hooks.filled_text)
        visible = StreamedText()
        offered = frozenset(str(tool["name"]) for tool in request.tools if "name" in tool)
        stream = self.deps.interrupt.iterate(self.deps.model.respond(request), self.deadline)
        async with aclosing(stream):
            async for part in stream:
                match part:
                    case ModelResponse(hosted=hosted):
                        for event in steps.whole(hosted):
                            yield event
                        yield CallResult(understood(part, offered))
                    case HostedPart():
                        for event in steps.seen(part):
                            yield event
                    case TextPart(text):
                        if written := visible.more(text):
                            yield TextDelta(written)
                    case ReasoningPart(text):
                        yield ReasoningDelta(text)
                    case ArgumentsPart(text):
                        if written := draft.more(text):
                            yield ResultDelta(written)

    def _which_timeout(self) -> StopReason:
        out_of_time = asyncio.get_running_loop().time() >= self.run_ends
        return StopReason.RUN_TIMEOUT if out_of_time else StopReason.TURN_TIMEOUT


def _appended(before: tuple[str, ...], written: str) -> tuple[str, ...]:
    return (*before, written) if written else before
