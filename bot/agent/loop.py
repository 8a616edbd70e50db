"""The agent loop: ask, dispatch, feed back, stop.

Each turn has four phases: assemble the request, let the model reason, dispatch its calls, observe
what came out. The phases stand in `phases`, what bounds a run in `guards`, what a response means in
`observe`, what is done when there is none in `recovery`, and every policy in `hooks`. What is kept
at each step carries the state, so that a run goes on from wherever it was interrupted.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from bot.agent.events import (
    Event,
    Paused,
    Recorded,
    RunStarted,
    SavePoint,
    TurnStarted,
)
from bot.agent.hooks import beside
from bot.agent.observe import judged, observe
from bot.agent.parts import Parts
from bot.agent.phases import Phases
from bot.agent.recovery import prepared, recovered
from bot.agent.state import LoopState


async def run(state: LoopState, parts: Parts) -> AsyncGenerator[Event]:
    """Work until the task is done or a guard ends it; the last event is RunEnded, or Paused.

    `state.pending` holds the request. The consumer keeps what `Recorded` and `SavePoint` carry
    before it asks for the next event. Leaving early drops the model's stream and cancels running
    tools; another run can go on from the state that was kept last.
    """
    clock = asyncio.get_running_loop().time
    began = clock() - state.elapsed
    this = Phases(parts, began)
    state = await this.look_back(state)
    if not state.ending:  # else it was decided before an interruption
        async with aclosing(_turns(this, state)) as turns:
            async for event in turns:
                if not isinstance(event, Recorded | SavePoint):
                    yield event
                    continue
                state = event.state.go(event.state.transition, elapsed=clock() - began)
                yield replace(event, state=state)
    if state.ending:
        ended = this.ended(state)
        await parts.hooks.on_end(ended)
        yield ended


async def _turns(this: Phases, state: LoopState) -> AsyncGenerator[Event]:
    """Go round until a save point holds the ending, or people have to decide."""
    parts = this.parts
    yield RunStarted(this.model(state))
    await parts.hooks.on_run_start(state)
    while not state.ending:
        if state.open is None:
            for kept in await prepared(this, state):
                state = kept.state
                yield kept
            yield TurnStarted(state.turn + 1, parts.limits.turns)

        request = await this.assemble(state)

        if state.open is None:  # else an interrupted run had got beyond this
            async with aclosing(this.reason(request, state)) as reasoning:
                async for event in reasoning:
                    yield event
            step = this.taken_up(state) or await recovered(this, state) or this.unheard(state)
            state = step.state
            yield step
        if state.open is None:
            continue

        async with (
            beside(parts.hooks.after_response(state, state.open.response)) as more,
            aclosing(this.dispatch(request, state)) as dispatching,
        ):
            async for happening in dispatching:
                if isinstance(happening, SavePoint):
                    state = happening.state
                yield happening
                if isinstance(happening, Paused):
                    return
            outputs, spent, memory = await judged(state, this.outputs, parts.hooks)
            extra = await more

        state = this.spend(state, spent).go(state.transition, hooks=state.hooks | memory)
        state, notes = observe(state, outputs, extra, parts.response_type, parts.interrupt)
        yield this.recorded(state, notes)
