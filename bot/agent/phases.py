"""The phases of a turn, and what a run adds to the conversation."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from bot.agent import prompts
from bot.agent.complete import NAME as COMPLETE
from bot.agent.dispatch import CallOutput, Dispatch
from bot.agent.events import (
    Event,
    ReasoningDelta,
    Recorded,
    RunEnded,
    TextDelta,
    TextWithdrawn,
    ToolEnded,
    ToolStarted,
)
from bot.agent.guards import gauge, tripped, usage_ratio
from bot.agent.interrupt import Interrupted
from bot.agent.observe import Ending, Notes, close
from bot.agent.parts import Parts
from bot.agent.state import LoopState
from bot.core.chain import NO_USAGE, Item, LedgerEntry, Usage
from bot.core.context import RequestContext
from bot.core.errors import ModelError, ModelErrorKind
from bot.core.outcome import StopReason
from bot.model.types import ModelRequest, ModelResponse, TextPart

_REDO = 2
"""How often a call is made again after its stream broke (H2)."""

_LAST_CALL_SECONDS = 60.0
"""Time for the one call that asks for what there is, after a guard has tripped (C6)."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What a model call came to: a response, or why there is none. `partial` is what the model
    had said when it broke off."""

    response: ModelResponse | None = None
    stop: StopReason = StopReason.MODEL_ERROR
    error: ModelError | None = None
    partial: str = ""

    @property
    def timed_out(self) -> bool:
        return self.stop in (StopReason.RUN_TIMEOUT, StopReason.TURN_TIMEOUT)


@dataclass(slots=True)
class Phases:
    """The phases of one run; `began` on the event loop's clock.

    `heard` and `outputs` are what the last call and the last dispatch came to. `window` is the
    whole conversation, kept in stateless mode only. `new_items` and `done` grow with the run.
    """

    parts: Parts
    began: float
    heard: Heard = field(default_factory=Heard)
    outputs: list[CallOutput] = field(default_factory=list)
    window: list[Item] = field(default_factory=list)
    new_items: list[Item] = field(default_factory=list)
    done: list[str] = field(default_factory=list)

    def model(self, state: LoopState) -> str:
        return self.parts.models[state.fallback]

    def window_size(self, state: LoopState) -> int:
        return self.parts.prices.window(self.model(state))

    async def prepare(self, state: LoopState) -> tuple[LoopState, Notes]:
        """Ask the guards; tell the model once when a limit comes near (C5)."""
        if state.closing:
            return state, ()
        limits = self.parts.limits
        elapsed = asyncio.get_running_loop().time() - self.began
        used = gauge(state, limits, elapsed=elapsed, window=self.window_size(state))
        reason = tripped(used, state, limits)
        if reason is None and state.turn:
            reason = await self.parts.hooks.should_stop_after_turn(state)
        if reason:
            return close(state, reason)
        limit, share = used.fullest
        if state.warned or share < limits.warn_at:
            return state, ()
        notes: Notes = (prompts.note(prompts.warning(limit, share)),)
        return state.go(state.transition, warned=True, pending=(*state.pending, *notes)), notes

    async def assemble(self, state: LoopState) -> ModelRequest:
        """Only what is new goes out, on the chain; tools and instructions every time (B1)."""
        catalogue, parts = self.parts.toolbox.catalogue, self.parts
        finish = parts.response_type.definition
        request = ModelRequest(
            model=self.model(state),
            instructions=prompts.INSTRUCTIONS,
            input=tuple(self.window) if parts.stateless else state.pending,
            tools=(*catalogue.always, finish, *catalogue.acquired(state.acquired)),
            previous_response_id=None if parts.stateless else state.parent,
            forced_tool=COMPLETE if state.force_finish else None,
            store=not parts.stateless,
            cache_key=parts.context.request.thread_key,
            user_hash=parts.user_hash,
        )
        return await parts.hooks.transform_context(request)

    async def reason(
        self, request: ModelRequest, state: LoopState
    ) -> AsyncGenerator[TextDelta | ReasoningDelta | TextWithdrawn]:
        """Make the call, again if its stream breaks; what came of it is then in `heard`."""
        deadline = self._call_deadline(state)
        for attempt in range(_REDO + 1):
            said = ""
            try:
                async with aclosing(self._call(request, deadline)) as parts:
                    async for part in parts:
                        said += part.text if isinstance(part, TextDelta) else ""
                        yield part
            except Interrupted:
                self.heard = Heard(stop=StopReason.CANCELLED_STREAMING)
            except TimeoutError:
                self.heard = Heard(stop=self._which_timeout(), partial=said)
            except ModelError as error:
                yield TextWithdrawn()
                if error.kind is ModelErrorKind.INTERRUPTED and attempt < _REDO:
                    continue
                overflow = error.kind is ModelErrorKind.CONTEXT_OVERFLOW
                stop = StopReason.PROMPT_TOO_LONG if overflow else StopReason.MODEL_ERROR
                self.heard = Heard(stop=stop, error=error, partial=said)
            return

    async def _call(
        self, request: ModelRequest, deadline: float
    ) -> AsyncGenerator[TextDelta | ReasoningDelta]:
        """One call to the model, every step of it bounded by `deadline` (G2)."""
        stream = self.parts.interrupt.each(self.parts.model.respond(request), deadline)
        async with aclosing(stream):
            async for part in stream:
                if isinstance(part, ModelResponse):
                    self.heard = Heard(part)
                elif isinstance(part, TextPart):
                    yield TextDelta(part.text)
                else:
                    yield ReasoningDelta(part.text)

    async def dispatch(
        self, request: ModelRequest, response: ModelResponse, state: LoopState
    ) -> AsyncGenerator[Event]:
        """Run the calls of `response`, none of one that was cut off; their outputs are then in
        `outputs`."""
        self.outputs = []
        if response.incomplete or not response.calls:
            return
        dispatch = Dispatch(
            toolbox=self.parts.toolbox,
            limits=self.parts.limits,
            interrupt=self.parts.interrupt,
            response_type=self.parts.response_type,
            hooks=self.parts.hooks,
            context=self._context(state),
            deadline=self.began + self.parts.limits.run_seconds,
        )
        titles: dict[str, str] = {}
        offered = frozenset(tool["name"] for tool in request.tools)
        async with aclosing(dispatch.run(response.calls, offered)) as happenings:
            async for event in happenings:
                if isinstance(event, list):
                    self.outputs = event
                    continue
                if isinstance(event, ToolStarted):
                    titles[event.call_id] = event.title
                elif isinstance(event, ToolEnded) and event.ok:
                    self.done.append(titles[event.call_id])
                yield event

    def count(self, state: LoopState, response: ModelResponse) -> LoopState:
        """`state` with what `response` took."""
        counted = self.spend(state, response.usage)
        return counted.go(
            state.transition,
            turn=state.turn + 1,
            last_usage=response.usage,
            tool_calls=state.tool_calls + sum(c["name"] != COMPLETE for c in response.calls),
        )

    def spend(self, state: LoopState, usage: Usage) -> LoopState:
        """`state` with the usage of one more call to the model, whoever made it (G6)."""
        if usage == NO_USAGE:
            return state
        price = self.parts.prices.cost(self.model(state), usage)
        cost = None if price is None or state.cost is None else state.cost + price
        return state.go(state.transition, usage=state.usage + usage, cost=cost)

    def recorded(self, state: LoopState, items: Notes, *, checkpoint: bool = False) -> Recorded:
        """`items` were added; a `checkpoint` takes the place of everything before."""
        if checkpoint:
            self.window.clear()
        else:
            self.new_items.extend(items)
        self.window.extend(items)
        entry = LedgerEntry(run_id=self.parts.context.run_id, items=items, checkpoint=checkpoint)
        return Recorded(state, entry)

    def recorded_response(self, state: LoopState, response: ModelResponse) -> Recorded:
        """A response that was cut off is kept for the record, but is on no chain."""
        if not response.incomplete:
            self.new_items.extend(response.items)
            self.window.extend(response.items)
        entry = LedgerEntry(
            run_id=self.parts.context.run_id,
            items=response.items,
            response_id=response.id,
            usage=response.usage,
            abandoned=response.incomplete is not None,
        )
        return Recorded(state, entry)

    def tombstone(self, state: LoopState, partial: str) -> Recorded:
        """What a failed model left half said: kept in the record, never sent, never shown (H3)."""
        item = {"role": "assistant", "content": partial}
        entry = LedgerEntry(run_id=self.parts.context.run_id, items=(item,), abandoned=True)
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
        limits, window = self.parts.limits, self.window_size(state)
        return replace(
            self.parts.context,
            max_response_size=limits.tool_output,
            context_window=window,
            usage_ratio=usage_ratio(state, window),
            turns_left=limits.turns - state.turn,
            model=self.model(state),
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
