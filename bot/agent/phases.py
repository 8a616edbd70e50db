"""The phases of a turn, and the events that record what a run adds to the conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from bot.agent import prompts
from bot.agent.builtin import checkpoint
from bot.agent.builtin.complete_task import NAME as COMPLETE
from bot.agent.calls.dispatch import NOT_RUN, Dispatch
from bot.agent.calls.outputs import CallOutput, cancelled_result
from bot.agent.events import Event, Paused, Recorded, RunEnded, SavePoint, emit
from bot.agent.handover import accepted_result, begun_stateless, with_history
from bot.agent.interrupt import Interrupted
from bot.agent.limits import ContextAction, context_action, usage_ratio
from bot.agent.loop_deps import LoopDeps
from bot.agent.model_call import CallResult, ModelCall, hosted_steps
from bot.agent.observe import Items, end_run, judge_result, leave_calls, open_response
from bot.agent.state import LoopState, OpenResponse
from bot.agent.window import whole_pairs, with_own_ids, without_stray_reasoning
from bot.core.chain import NO_USAGE, Item, LedgerEntry, Usage
from bot.core.context import RequestContext
from bot.core.errors import ModelError
from bot.core.outcome import StopReason
from bot.model.types import ModelRequest, ModelResponse
from bot.text.token_estimate import estimated_tokens
from bot.toolkit.size import Room, room_for_calls

T = TypeVar("T")

_LAST_CALL_SECONDS = 60.0
"""Time for the one call that asks for what there is, after a guard has tripped."""

_HOOK_SECONDS = 10.0
"""Time that a turn gives its after-response hooks once the calls are done."""


@dataclass(frozen=True, slots=True)
class Phases:
    """The phases of a run's turns. It holds no state of the run. `began` is the run's start in
    seconds on the event loop's clock, shifted by the time in which no worker had the run."""

    deps: LoopDeps
    began: float

    def model(self, state: LoopState) -> str:
        """Return the model that is asked now; a resumed run may have had more to fall back on."""
        models = self.deps.models
        return models[min(state.fallback, len(models) - 1)]

    def window_size(self, state: LoopState) -> int:
        return self.deps.prices.window(self.model(state))

    def context_action(self, state: LoopState) -> ContextAction:
        """Return what to do about the context before the next call."""
        return context_action(
            usage_ratio(state.last_usage, self.window_size(state)), state, self.deps.limits
        )

    def offers_restart(self, state: LoopState) -> bool:
        """Return whether the next request lets the model begin a fresh chain."""
        return self.context_action(state) is ContextAction.OFFER

    async def load_history(self, state: LoopState) -> LoopState:
        """Return `state` with the items that only the ledger holds, and with an ending if version 1
        accepted a result without keeping one."""
        deps = self.deps
        if not (state.stateless or deps.traits.stateless or state.has_begun):
            return state
        entries = await deps.history()
        state = begun_stateless(state, entries) if deps.traits.stateless else state
        state = with_history(state, entries, deps.context.run_id)
        result = await accepted_result(state, entries, deps.response_type)
        return end_run(state, state.closing or StopReason.COMPLETED, result) if result else state

    def elapsed(self) -> float:
        """Return the seconds that workers have spent on the run."""
        return asyncio.get_running_loop().time() - self.began

    def with_time(self, event: Event) -> Event:
        """Return an event that is saved with the elapsed time and the memory of hooks in its state;
        any other as it is."""
        if not isinstance(event, Recorded | SavePoint):
            return event
        return replace(event, state=self.with_hook_memory(event.state, elapsed=self.elapsed()))

    def with_hook_memory(self, state: LoopState, **changes: Any) -> LoopState:
        """Return `state` with the memory of hooks, and `changes`."""
        hooks = state.hooks | self.deps.hooks.memory(state)
        return state.replace(hooks=hooks, **changes)

    def tools(self, state: LoopState, *, restart: bool) -> tuple[dict[str, Any], ...]:
        """Return the definitions that a request carries; `restart` offers a fresh chain."""
        catalogue, finish = self.deps.toolbox.catalogue, self.deps.response_type.definition
        more = (checkpoint.DEFINITION,) if restart else ()
        return (*catalogue.always, finish, *catalogue.acquired(state.acquired), *more)

    def input(self, state: LoopState) -> tuple[Item, ...]:
        """Return the items that the next request sends; that of the last call demands a result."""
        items = with_own_ids(whole_pairs(state.conversation) if state.stateless else state.pending)
        return (*items, prompts.note(prompts.closing(state.closing))) if state.closing else items

    async def assemble(self, state: LoopState) -> ModelRequest:
        """Return the next request: the new items on the chain, with instructions and tools each
        time."""
        deps = self.deps
        request = ModelRequest(
            model=self.model(state),
            instructions=deps.instructions,
            input=self.input(state),
            tools=self.tools(state, restart=self.offers_restart(state)),
            previous_response_id=None if state.stateless else state.parent,
            forced_tool=COMPLETE if state.force_finish else None,
            store=not state.stateless,
            cache_key=deps.context.request.thread_key,
            user_hash=deps.user_hash,
            watched=COMPLETE,
            is_last=state.closing is not None,
        )
        return await self.ask(state, deps.hooks.transform_context(request), request)

    async def reason(self, request: ModelRequest, state: LoopState) -> CallResult:
        """Make the model call."""
        run_ends = self.began + self.deps.limits.run_seconds
        return await ModelCall(self.deps, self.call_deadline(state), run_ends).make(request)

    async def dispatch(self, state: LoopState) -> tuple[LoopState, tuple[CallOutput, ...]] | Paused:
        """Run the calls of the open response. Return the state with what was spent on it, and the
        outputs; Paused while people have to decide."""
        if not open_response(state).calls:
            return state, ()
        dispatch = self._dispatch(state)
        outputs = await dispatch.run()
        return outputs if isinstance(outputs, Paused) else (dispatch.state, outputs)

    def is_stopped_before_calls(self, state: LoopState) -> bool:
        """Return whether the run was stopped before any call of the open response began; False for
        a response with only a result, which is accepted anyway."""
        if state.open is None or not self.deps.interrupt.requested:
            return False
        response = state.open.response
        return any(call["name"] != COMPLETE for call in response.calls)

    async def leave_calls(self, state: LoopState) -> LoopState:
        """End a run that was stopped before any call of its open response began: the response is on no
        chain."""
        left = open_response(state).id
        return await self.record(*leave_calls(state, self.deps.interrupt), abandons=(left,))

    async def judge(
        self, state: LoopState, outputs: Sequence[CallOutput]
    ) -> tuple[LoopState, tuple[CallOutput, ...]]:
        """Ask the stop hooks about a valid result, if there is one. Return the state with their usage
        and memory, and the outputs with their verdict."""
        final = next((output for output in outputs if output.result is not None), None)
        if final is None:
            return state, tuple(outputs)
        unjudged = (final, NO_USAGE, dict[str, Any]())  # the result is taken as it is
        verdict = await self.ask(state, judge_result(state, final, self.deps.hooks), unjudged)
        judged, usage, changes = verdict
        if self.deps.interrupt.requested:  # a stop that comes while the result is judged wins
            judged = cancelled_result(final)
        state = state.replace(**self._spent(state, usage), **changes)
        return state, tuple(judged if output is final else output for output in outputs)

    def _dispatch(self, state: LoopState) -> Dispatch:
        limits, window, response = (
            self.deps.limits,
            self.window_size(state),
            open_response(state),
        )
        calls = len(response.calls)
        asked = min(calls, limits.calls_per_turn)
        answers = calls * estimated_tokens(NOT_RUN)  # one for each call, though it is not run
        ratio = usage_ratio(state.last_usage, window)
        most, room = room_for_calls(limits.tool_output, window, ratio, asked, answers)
        tools = self.tools(state, restart=state.checkpoint_offered)
        return Dispatch(
            deps=self.deps,
            state=state,
            context=self._context(state, response.id, room),
            deadline=self.began + limits.run_seconds,
            most=most,
            offered=frozenset(tool["name"] for tool in tools if "name" in tool),
        )

    def _counted(self, state: LoopState, response: ModelResponse) -> dict[str, Any]:
        """Return how the usage, turn and calls of `response` change the state."""
        called = sum(call["name"] != COMPLETE for call in response.calls)
        ratio = usage_ratio(response.usage, self.window_size(state))
        return {
            **self._spent(state, response.billed),
            "turn": state.turn + 1,
            "last_usage": response.usage,
            "checkpoint_offered": self.offers_restart(state),
            "tool_calls": state.tool_calls + called + len(response.hosted),
            "done": (*state.done, *hosted_steps(response.hosted)),
            "compacted": state.compacted and ratio >= self.deps.limits.compact_at,
        }

    def spend(self, state: LoopState, usage: Usage) -> LoopState:
        """Return `state` with the usage of another model call, such as a summary's."""
        return state.replace(**self._spent(state, usage))

    def _spent(self, state: LoopState, usage: Usage) -> dict[str, Any]:
        """Return how the usage of a model call changes the state."""
        if usage == NO_USAGE:
            return {}
        usage = usage.beyond(state.usage)
        price = self.deps.prices.cost(self.model(state), usage)
        cost = None if price is None or state.cost is None else state.cost + price
        return {"usage": state.usage + usage, "cost": cost}

    async def save(self, state: LoopState) -> LoopState:
        """Save `state`, with nothing new in the conversation. Return it."""
        await emit(SavePoint(state))
        return state

    async def record(
        self,
        state: LoopState,
        items: Items,
        outputs: Sequence[CallOutput] = (),
        *,
        checkpoint: bool = False,
        abandons: tuple[str, ...] = (),
    ) -> LoopState:
        """Save that `items` were added, with the `outputs` among them, and return the new state. A
        `checkpoint` takes the place of everything before, and responses that it `abandons` are on
        no chain."""
        entry = LedgerEntry(
            run_id=self.deps.context.run_id,
            items=items,
            checkpoint=checkpoint,
            abandons=abandons,
            calls=tuple(output.kept for output in outputs if output.call_id),
        )
        changes = {"conversation": _sent(state, items)} if checkpoint else _added(state, items)
        state = state.replace(**changes)
        await emit(Recorded(state, entry))
        return state

    async def record_response(self, state: LoopState, response: ModelResponse) -> LoopState:
        """Save the response before its tools run, and return the new state. A response that was cut
        before any item was complete is saved for the record only."""
        open_response = OpenResponse(response=response)
        kept = open_response.response
        has_no_items = bool(response.incomplete) and not kept.items
        entry = LedgerEntry(
            run_id=self.deps.context.run_id,
            items=response.items if has_no_items else kept.items,
            response_id=response.id,
            usage=response.usage,
            abandoned=has_no_items,
        )
        changes = {**self._counted(state, kept), **_added(state, kept.items)}
        state = state.replace(**changes, open=open_response)
        await emit(Recorded(state, entry))
        return state

    async def record_tombstones(self, state: LoopState, result: CallResult) -> None:
        """Save tombstones of failed attempts: their text is kept in the record, never sent or
        shown. They follow the save point that decides how the run continues, so that a worker that
        resumes between them does not decide again."""
        for partial in result.partials:
            item = {"role": "assistant", "content": partial}
            entry = LedgerEntry(run_id=self.deps.context.run_id, items=(item,), abandoned=True)
            await emit(Recorded(state, entry))

    def ended(self, state: LoopState) -> RunEnded:
        """Return the last event of a run whose `state` holds its ending."""
        ending = state.ending
        if ending is None:
            raise ValueError("a run without an ending has not ended")
        result, error = None, None
        if ending.response_type:  # of text that became a result at the end nothing was filled in
            filled, _ = self.deps.hooks.filled_json(ending.result)
            result = self.deps.response_type.restored(ending.response_type, filled)
        state = self.with_hook_memory(state)
        if failure := ending.failure:
            error = ModelError(
                failure.kind,
                failure.message,
                request_id=failure.request_id,
                detail=failure.detail,
                said=failure.said,
            )
        return RunEnded(
            state=state,
            status=ending.status,
            stop_reason=ending.reason,
            result=result,
            error=error,
            done=tuple(step.title for step in state.done),
            new_items=state.new_items,
        )

    def _context(self, state: LoopState, response_id: str, room: Room) -> RequestContext:
        limits, window = self.deps.limits, self.window_size(state)
        ratio = usage_ratio(state.last_usage, window)
        return replace(
            self.deps.context,
            max_response_size=room.characters,
            max_response_tokens=room.tokens,
            context_window=window,
            usage_ratio=ratio,
            turns_left=limits.turns - state.turn,
            model=self.model(state),
            links=state.links,
            deadline=self.began + limits.run_seconds,
            # Some services number the calls of each response from the start, so their ids alone would not do.
            idempotency_key=f"{self.deps.context.run_id}:{response_id}",
        )

    async def ask(self, state: LoopState, hooks: Coroutine[Any, Any, T], default: T) -> T:
        """Return what hooks say. Stop and the run's deadline interrupt them, and `default` is returned:
        the next await of the run meets the same interruption at once."""
        deadline = self.hook_deadline(state)
        try:
            with self.deps.interrupt.within(deadline):
                return await hooks
        except Interrupted:
            return default
        except TimeoutError:
            if asyncio.get_running_loop().time() < deadline:  # the hook's own, which is a bug
                raise
            return default
        finally:
            hooks.close()

    def hook_deadline(self, state: LoopState) -> float:
        """Return the deadline of hooks that are asked now, on the event loop's clock: that of the
        run, or of its last call."""
        run_ends = self.began + self.deps.limits.run_seconds
        return self.call_deadline(state) if state.closing else run_ends

    async def items_of_hooks(
        self,
        messages: asyncio.Task[tuple[Item, ...]] | None,
        state: LoopState,
        outputs: Sequence[CallOutput],
    ) -> Items:
        """Return the messages of the after-response hooks that are ready in time. Where the `outputs`
        decide the run nobody waits for them: they only have the time that they had."""
        if messages is None:
            return ()
        is_decided = state.closing or any(output.result is not None for output in outputs)
        seconds = 0 if is_decided else _HOOK_SECONDS

        async def ready() -> Items:
            done, _ = await asyncio.wait({messages}, timeout=seconds)
            return messages.result() if done else ()

        return await self.ask(state, ready(), ())

    def call_deadline(self, state: LoopState) -> float:
        """Return the deadline of a model call that starts now, on the event loop's clock."""
        now, limits = asyncio.get_running_loop().time(), self.deps.limits
        if state.closing:
            return now + min(_LAST_CALL_SECONDS, limits.turn_seconds)
        return min(now + limits.turn_seconds, self.began + limits.run_seconds)


def _added(state: LoopState, items: Items) -> dict[str, Any]:
    """Return how `items` that are added to the conversation change the state."""
    return {
        "conversation": (*state.conversation, *_sent(state, items)),
        "new_items": (*state.new_items, *items),
    }


def _sent(state: LoopState, items: Items) -> Items:
    """Return those of new items that requests carry from now on."""
    return without_stray_reasoning(items) if state.stateless else ()
