"""The agent loop: ask the model, run the calls it makes, feed back their outputs, stop.

A turn has four phases: assemble, reason, dispatch, observe. Each step returns `Continue` or `Finish`
with the next `LoopState`; a run that was interrupted with a response at hand enters at dispatch. The
limits of a run are in `guards`, what happens without a response in `recovery`, every policy in
`hooks`.
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
from bot.agent.hooks.chain import beside
from bot.agent.model_call import CallResult
from bot.agent.parts import Parts
from bot.agent.phases import Continue, Finish, Phases
from bot.agent.recovery import prepare, recover
from bot.agent.state import LoopState


async def run(state: LoopState, parts: Parts) -> AsyncGenerator[Event]:
    """Work until the task is done or a guard ends it; the last event is RunEnded, or Paused.

    `state.pending` holds the request. The consumer keeps what `Recorded` and `SavePoint` carry
    before it asks for the next event. Leaving early drops the model's stream and cancels running
    tools; another run can go on from the state that was kept last.
    """
    phases = Phases(parts, began=asyncio.get_running_loop().time() - state.elapsed)
    state = await phases.load_history(state)
    step = phases.step_from(state)
    if isinstance(step, Continue):  # else the ending was kept before an interruption
        yield RunStarted(phases.model(state))
        await phases.hook(state, lambda: parts.hooks.on_run_start(state), None)
    phase = _act if state.open else _turn  # a run that was interrupted may have a response
    while isinstance(step, Continue):
        async with aclosing(phase(phases, step.state)) as events:
            async for event in events:
                match event:
                    case Continue() | Finish():
                        step = event
                    case Recorded() | SavePoint():
                        yield phases.timed(event)
                    case Paused():
                        yield event
                        return
                    case _:
                        yield event
        phase = _turn
    await parts.hooks.on_end(step.outcome)
    yield step.outcome


async def _turn(phases: Phases, state: LoopState) -> AsyncGenerator[Event | Continue | Finish]:
    """Ask the model for a response and act on it; without one, go on as recovery decides."""
    for kept in await prepare(phases, state):
        state = kept.state
        yield kept
    yield TurnStarted(state.turn + 1, phases.parts.limits.turns, len(phases.input(state)))

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
    if phases.is_stopped_before(recorded.state):
        recorded = phases.recorded(*observe.left(recorded.state, phases.parts.interrupt))
        yield recorded
    if not recorded.state.open:
        yield phases.step_from(recorded.state)
        return
    async with aclosing(_act(phases, recorded.state)) as events:
        async for event in events:
            yield event


async def _act(phases: Phases, state: LoopState) -> AsyncGenerator[Event | Continue | Finish]:
    """Run the calls of the open response, and decide what it means for the run."""
    parts, response = phases.parts, observe.opened(state)
    outputs: tuple[CallOutput, ...] = ()
    async with (
        beside(partial(parts.hooks.after_response, state, response)) as more,
        aclosing(phases.dispatch(state)) as happenings,
    ):
        async for happening in happenings:
            match happening:
                case Dispatched():
                    outputs = happening.outputs
                case SavePoint():
                    state = happening.state
                    yield happening
                case Paused():
                    yield happening
                    return
                case _:
                    yield happening
        if said := await observe.result_in(state, parts.response_type):
            outputs = (said,)
        state, outputs = await phases.judge(state, outputs)
        extra = await phases.notes_beside(more, state)

    if reason := observe.refusal(response):
        state, notes = observe.refused(state, reason, parts.response_type)
    elif response.calls:  # one of them may be complete_task, with a valid result
        state, notes = observe.answered(state, outputs, parts.interrupt)
    elif response.incomplete and not (outputs or state.closing):
        state, notes = observe.cut_off(state, parts.response_type)
    elif response.text:
        state, notes = observe.spoken(state, outputs, parts.response_type, parts.interrupt)
    else:
        state, notes = observe.nothing(state)
    state, notes = observe.concluded(
        state, notes, extra, parts.response_type, parts.limits.malformed
    )
    recorded = phases.recorded(state, notes)
    yield recorded
    yield phases.step_from(recorded.state)
