"""The agent loop: ask, dispatch, feed back, stop.

Each turn has four phases: assemble the request, let the model reason, dispatch its calls, observe
what came out. What bounds a run stands in `guards`, what a response means in `observe`, and what
the model is told in `prompts`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from bot.agent import prompts
from bot.agent.complete import NAME as COMPLETE
from bot.agent.complete import ResponseType
from bot.agent.dispatch import CallOutput, Dispatch, Toolbox
from bot.agent.events import (
    Event,
    ReasoningDelta,
    Recorded,
    RunEnded,
    RunStarted,
    TextDelta,
    TextWithdrawn,
    ToolEnded,
    ToolStarted,
    TurnStarted,
)
from bot.agent.guards import gauge, tripped, usage_ratio
from bot.agent.interrupt import Interrupt, Interrupted
from bot.agent.limits import Limits
from bot.agent.observe import Ending, Notes, close, observe
from bot.agent.state import LoopState
from bot.core.chain import Item, LedgerEntry, Usage
from bot.core.context import RequestContext
from bot.core.errors import ModelError, ModelErrorKind
from bot.core.outcome import StopReason
from bot.model.types import Model, ModelRequest, ModelResponse, TextPart

_REDO = 2
"""How often a call is made again after its stream broke (H2)."""

_LAST_CALL_SECONDS = 60.0
"""Time for the one call that asks for what there is, after a guard has tripped (C6)."""


@dataclass(frozen=True, slots=True)
class Parts:
    """All that a run works with; the loop builds none of it (A7).

    `window` is the model's input limit in tokens. `cost` prices the usage of one response in
    dollars, None when the price is not known. `context` is the run's; it is refined each turn.
    """

    model: Model
    window: int
    cost: Callable[[Usage], float | None]
    toolbox: Toolbox
    response_type: ResponseType
    limits: Limits
    interrupt: Interrupt
    context: RequestContext
    user_hash: str = ""


@dataclass(frozen=True, slots=True)
class _Heard:
    """What a model call came to: a response, or why there is none."""

    response: ModelResponse | None = None
    stop: StopReason = StopReason.MODEL_ERROR
    error: ModelError | None = None


async def run(state: LoopState, parts: Parts) -> AsyncGenerator[Event]:
    """Work until the task is done or a guard ends it; the last event is RunEnded.

    `state.pending` holds the request. The consumer keeps what `Recorded` carries before it asks
    for the next event. Leaving early drops the model's stream and cancels running tools; another
    run can go on from the state of the last `Recorded`.
    """
    this = _Run(parts, began=asyncio.get_running_loop().time())
    yield RunStarted(parts.context.model)
    while True:
        state, notes = this.prepare(state)
        if notes:
            yield this.recorded(state, notes)
        request = this.assemble(state)
        yield TurnStarted(state.turn + 1, parts.limits.turns)

        heard = _Heard()
        async with aclosing(this.reason(request, state)) as reasoning:
            async for event in reasoning:
                if isinstance(event, _Heard):
                    heard = event
                else:
                    yield event
        if heard.response is None:
            if state.closing or heard.stop not in (StopReason.RUN_TIMEOUT, StopReason.TURN_TIMEOUT):
                yield this.ended(state, Ending(heard.stop), heard.error)
                return
            state, notes = close(state, heard.stop)
            yield this.recorded(state, notes)
            continue
        state = this.count(state, heard.response)
        yield this.recorded_response(state, heard.response)

        outputs: list[CallOutput] = []
        async with aclosing(this.dispatch(request, heard.response, state)) as dispatching:
            async for happened in dispatching:
                if isinstance(happened, list):
                    outputs = happened
                else:
                    yield happened

        state, notes, ending = observe(state, heard.response, outputs, parts.response_type)
        if notes:
            yield this.recorded(state, notes)
        if ending:
            yield this.ended(state, ending)
            return


@dataclass(slots=True)
class _Run:
    """The phases of one run, and what it has added to the conversation so far."""

    parts: Parts
    began: float
    new_items: list[Item] = field(default_factory=list)
    done: list[str] = field(default_factory=list)

    def prepare(self, state: LoopState) -> tuple[LoopState, Notes]:
        """Ask the guards; tell the model once when a limit comes near (C5)."""
        if state.closing:
            return state, ()
        limits = self.parts.limits
        elapsed = asyncio.get_running_loop().time() - self.began
        used = gauge(state, limits, elapsed=elapsed, window=self.parts.window)
        if reason := tripped(used, state, limits):
            return close(state, reason)
        limit, share = used.fullest
        if state.warned or share < limits.warn_at:
            return state, ()
        notes: Notes = (prompts.note(prompts.warning(limit, share)),)
        return state.go(state.transition, warned=True, pending=(*state.pending, *notes)), notes

    def assemble(self, state: LoopState) -> ModelRequest:
        """Only what is new goes out, on the chain; tools and instructions every time (B1)."""
        catalogue, context = self.parts.toolbox.catalogue, self.parts.context
        finish = self.parts.response_type.definition
        return ModelRequest(
            model=context.model,
            instructions=prompts.INSTRUCTIONS,
            input=state.pending,
            tools=(*catalogue.always, finish, *catalogue.acquired(state.acquired)),
            previous_response_id=state.parent,
            forced_tool=COMPLETE if state.force_finish else None,
            cache_key=context.request.thread_key,
            user_hash=self.parts.user_hash,
        )

    async def reason(
        self, request: ModelRequest, state: LoopState
    ) -> AsyncGenerator[TextDelta | ReasoningDelta | TextWithdrawn | _Heard]:
        """Make the call, again if its stream breaks; yields last what came of it."""
        deadline = self._call_deadline(state)
        for attempt in range(_REDO + 1):
            try:
                async with aclosing(self._call(request, deadline)) as parts:
                    async for part in parts:
                        yield part
            except Interrupted:
                yield _Heard(stop=StopReason.CANCELLED_STREAMING)
            except TimeoutError:
                yield _Heard(stop=self._which_timeout())
            except ModelError as error:
                if error.kind is ModelErrorKind.INTERRUPTED and attempt < _REDO:
                    yield TextWithdrawn()
                    continue
                overflow = error.kind is ModelErrorKind.CONTEXT_OVERFLOW
                stop = StopReason.PROMPT_TOO_LONG if overflow else StopReason.MODEL_ERROR
                yield _Heard(stop=stop, error=error)
            return

    async def _call(
        self, request: ModelRequest, deadline: float
    ) -> AsyncGenerator[TextDelta | ReasoningDelta | _Heard]:
        """One call to the model, every step of it bounded by `deadline` (G2)."""
        stream = self.parts.interrupt.each(self.parts.model.respond(request), deadline)
        async with aclosing(stream):
            async for part in stream:
                if isinstance(part, ModelResponse):
                    yield _Heard(part)
                elif isinstance(part, TextPart):
                    yield TextDelta(part.text)
                else:
                    yield ReasoningDelta(part.text)

    async def dispatch(
        self, request: ModelRequest, response: ModelResponse, state: LoopState
    ) -> AsyncGenerator[Event | list[CallOutput]]:
        """Run the calls of `response`; none of one that was cut off or refused."""
        if response.incomplete or not response.calls:
            return
        dispatch = Dispatch(
            toolbox=self.parts.toolbox,
            limits=self.parts.limits,
            interrupt=self.parts.interrupt,
            response_type=self.parts.response_type,
            context=self._context(state),
            deadline=self.began + self.parts.limits.run_seconds,
        )
        titles: dict[str, str] = {}
        offered = frozenset(tool["name"] for tool in request.tools)
        async with aclosing(dispatch.run(response.calls, offered)) as happenings:
            async for event in happenings:
                if isinstance(event, ToolStarted):
                    titles[event.call_id] = event.title
                elif isinstance(event, ToolEnded) and event.ok:
                    self.done.append(titles[event.call_id])
                yield event

    def count(self, state: LoopState, response: ModelResponse) -> LoopState:
        """`state` with what `response` took."""
        price = self.parts.cost(response.usage)
        return state.go(
            state.transition,
            turn=state.turn + 1,
            usage=state.usage + response.usage,
            last_usage=response.usage,
            cost=None if price is None or state.cost is None else state.cost + price,
            tool_calls=state.tool_calls + sum(c["name"] != COMPLETE for c in response.calls),
        )

    def recorded(self, state: LoopState, items: Notes) -> Recorded:
        self.new_items.extend(items)
        return Recorded(state, LedgerEntry(run_id=self.parts.context.run_id, items=items))

    def recorded_response(self, state: LoopState, response: ModelResponse) -> Recorded:
        """A response that was cut off is kept for the record, but is on no chain."""
        if not response.incomplete:
            self.new_items.extend(response.items)
        entry = LedgerEntry(
            run_id=self.parts.context.run_id,
            items=response.items,
            response_id=response.id,
            usage=response.usage,
            abandoned=response.incomplete is not None,
        )
        return Recorded(state, entry)

    def ended(self, state: LoopState, ending: Ending, error: ModelError | None = None) -> RunEnded:
        return RunEnded(
            state=state,
            status=ending.status(work_done=bool(self.done)),
            stop_reason=ending.reason,
            result=ending.result,
            error=error,
            done=tuple(self.done),
            new_items=tuple(self.new_items),
        )

    def _context(self, state: LoopState) -> RequestContext:
        limits = self.parts.limits
        return replace(
            self.parts.context,
            max_response_size=limits.tool_output,
            context_window=self.parts.window,
            usage_ratio=usage_ratio(state, self.parts.window),
            turns_left=limits.turns - state.turn,
            deadline=self.began + limits.run_seconds,
        )

    def _call_deadline(self, state: LoopState) -> float:
        now, limits = asyncio.get_running_loop().time(), self.parts.limits
        if state.closing:
            return now + min(_LAST_CALL_SECONDS, limits.turn_seconds)
        return min(now + limits.turn_seconds, self.began + limits.run_seconds)

    def _which_timeout(self) -> StopReason:
        elapsed = asyncio.get_running_loop().time() - self.began
        out_of_time = elapsed >= self.parts.limits.run_seconds
        return StopReason.RUN_TIMEOUT if out_of_time else StopReason.TURN_TIMEOUT
