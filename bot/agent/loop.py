"""The agent loop: ask the model, run the calls it makes, feed back their outputs, stop.

A turn has four phases: assemble, reason, dispatch, observe. Each step returns `Continue` or
`Finish` with the next `LoopState`; a run that was interrupted with a response at hand enters at
dispatch. The limits of a run are in `guards`, what happens without a response in `recovery`, every
policy in `hooks`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial

from bot.agent import observe
from bot.agent.calls.dispatch import Dispatched
from bot.agent.calls.outputs import CallOutput
from bot.agent.events import (
    Event,
    Paused,
    Recorded,
    RunStarted,
    SavePoint,
    TurnStarted,
)
from bot.agent.hooks.chain import run_concurrently
from bot.agent.loop_deps import LoopDeps
from bot.agent.model_call import CallResult
from bot.agent.phases import Continue, Finish, Phases
from bot.agent.recovery import prepare, recover
from bot.agent.state import LoopState


async def run(state: LoopState, deps: LoopDeps) -> AsyncGenerator[Event]:
    """Work until the task is done or a guard ends it; the last event is RunEnded, or Paused.

    `state.pending` holds the request. The consumer keeps what `Recorded` and `SavePoint` carry
    before it asks for the next event. Leaving early drops the model's stream and cancels running
    tools; another run can go on from the state that was kept last.
    """
    phases = Phases(deps, began=asyncio.get_running_loop().time() - state.elapsed)
    state = await phases.load_history(state)
    step = phases.step_from(state)
    if isinstance(step, Continue):  # else the ending was kept before an interruption
        yield RunStarted(phases.model(state))
        await phases.ask_hooks(state, lambda: deps.hooks.on_run_start(state), None)
    phase = _act if state.open else _turn  # a run that was interrupted may have a response
    while isinstance(step, Continue):
        async with aclosing(phase(phases, step.state)) as events:
            async for event in events:
                match event:
                    case Continue() | Finish():
                        step = event
                    case Recorded() | SavePoint():
                        yield phases.with_time(event)
                    case Paused():
                        yield event
                        return
                    case _:
                        yield event
        phase = _turn
    await deps.hooks.on_end(step.outcome)
    yield step.outcome


async def _turn(phases: Phases, state: LoopState) -> AsyncGenerator[Event | Continue | Finish]:
    """Ask the model for a response and act on it; without one, go on as recovery decides."""
    for kept in await prepare(phases, state):
        state = kept.state
        yield kept
    most, messages = phases.deps.limits.turns, len(phases.input(state))
    yield TurnStarted(state.turn + 1, most, messages, phases.model(state))

    request = await phases.assemble(state)
    result = CallResult()
    async with aclosing(phases.reason(request, state)) as parts:
        async for part in parts:
            if isinstance(part, CallResult):
                result = part
            else:
                yield part

    if result.response:
        recorded: Recorded | SavePoint = phases.record_response(state, result.response)
    else:
        recorded = await recover(phases, state, result) or phases.end_without_response(
            state, result
        )
    yield recorded
    for tombstone in phases.tombstones(recorded.state, result):
        yield tombstone
    if phases.is_stopped_before_calls(recorded.state):
        recorded = phases.leave_calls(recorded.state)
        yield recorded
    if not recorded.state.open:
        yield phases.step_from(recorded.state)
        return
    async with aclosing(_act(phases, recorded.state)) as events:
        async for event in events:
            yield event


async def _act(phases: Phases, state: LoopState) -> AsyncGenerator[Event | Continue | Finish]:
    """Run the calls of the open response, and decide what it means for the run."""
    deps, response = phases.deps, observe.open_response(state)
    outputs: tuple[CallOutput, ...] = ()
    async with (
        run_concurrently(partial(deps.hooks.after_response, state, response)) as more,
        aclosing(phases.dispatch(state)) as events,
    ):
        async for event in events:
            match event:
                case Dispatched():
                    outputs = event.outputs
                case SavePoint():
                    state = event.state
                    yield event
                case Paused():
                    yield event
                    return
                case _:
                    yield event
        if output := await observe.result_in_text(state, deps.response_type, deps.hooks):
            outputs = (output,)
        state, outputs = await phases.judge(state, outputs)
        extra = await phases.items_of_hooks(more, state, outputs)

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
    recorded = phases.record_items(state, notes, outputs)
    yield recorded
    yield phases.step_from(recorded.state)
