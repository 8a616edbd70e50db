"""The agent loop: ask the model, run the calls it makes, feed back their outputs, stop.

It is one coroutine that emits events. A turn has four phases: assemble, reason, dispatch, observe;
each step replaces the `LoopState`. A run that was interrupted with a response at hand enters at
dispatch. The limits of a run are in `guards`, what happens without a response in `recovery`, every
policy in `hooks`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from bot.agent import observe
from bot.agent.events import Emitting, Event, Paused, RunStarted, TurnStarted, emit
from bot.agent.loop_deps import LoopDeps
from bot.agent.phases import Phases
from bot.agent.recovery import prepare, recover
from bot.agent.state import LoopState


async def run(state: LoopState, deps: LoopDeps) -> AsyncGenerator[Event]:
    """Work until the task is done or a guard ends it; the last event is RunEnded, or Paused.

    `state.pending` holds the request. The consumer keeps what `Recorded` and `SavePoint` carry
    before it asks for the next event. Leaving early drops the model's stream and cancels running
    tools; another run can go on from the state that was kept last.
    """
    phases = Phases(deps, began=asyncio.get_running_loop().time() - state.elapsed)
    loop = Emitting(_run(phases, state))
    try:
        async for event in loop:
            yield phases.with_time(event)
    finally:
        await loop.leave()
        deps.interrupt.release()


async def _run(phases: Phases, state: LoopState) -> None:
    hooks = phases.deps.hooks
    state = await phases.load_history(state)
    if not state.ending:  # else the ending was kept before an interruption
        await emit(RunStarted(phases.model(state)))
        await phases.ask(state, hooks.on_run_start(state), None)
    while not state.ending:
        step = await _turn(phases, state)
        if isinstance(step, Paused):
            await emit(step)
            return
        state = step
    outcome = phases.ended(state)
    await hooks.on_end(outcome)
    await emit(outcome)


async def _turn(phases: Phases, state: LoopState) -> LoopState | Paused:
    """Ask the model for a response and act on it; without one, go on as recovery decides."""
    if not state.open:  # else an interrupted run left a response
        state = await prepare(phases, state)
        most, messages = phases.deps.limits.turns, len(phases.input(state))
        await emit(TurnStarted(state.turn + 1, most, messages, phases.model(state)))

        request = await phases.assemble(state)
        result = await phases.reason(request, state)
        if result.response:
            state = await phases.record_response(state, result.response)
        else:
            state = await recover(phases, state, result)
        await phases.record_tombstones(state, result)
        if phases.is_stopped_before_calls(state):
            state = await phases.leave_calls(state)
    return await _act(phases, state) if state.open else state


async def _act(phases: Phases, state: LoopState) -> LoopState | Paused:
    """Run the calls of the open response, and decide what it means for the run."""
    deps, response = phases.deps, observe.open_response(state)
    async with deps.hooks.after_response(state, response) as messages:
        dispatched = await phases.dispatch(state)
        if isinstance(dispatched, Paused):
            return dispatched
        state, outputs = dispatched
        if output := await observe.result_in_text(state, deps.response_type, deps.hooks):
            outputs = (output,)
        state, outputs = await phases.judge(state, outputs)
        extra = await phases.items_of_hooks(messages, state, outputs)

    if reason := observe.refusal_reason(response):
        state, notes = observe.end_with_refusal(state, reason, deps.response_type)
    elif response.calls:  # one of them may be complete_task, with a valid result
        state, notes = observe.take_outputs(state, outputs, deps.interrupt)
    elif response.incomplete and not (outputs or state.closing):
        state, notes = observe.continue_after_cut(state, deps.response_type)
    elif response.text:
        state, notes = observe.take_text(state, outputs, deps.response_type, deps.interrupt)
    else:
        state, notes = observe.retry_empty(state)
    state, notes = observe.close_response(
        state, notes, extra, deps.response_type, deps.limits.malformed
    )
    return await phases.record(state, notes, outputs)
