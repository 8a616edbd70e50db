"""The agent loop: ask, dispatch, feed back, stop.

Each turn has four phases: assemble the request, let the model reason, dispatch its calls, observe
what came out. The phases stand in `phases`, what bounds a run in `guards`, what a response means in
`observe`, what is done when there is none in `recovery`, and every policy in `hooks`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from bot.agent.events import Event, RunEnded, RunStarted, TurnStarted
from bot.agent.hooks import beside
from bot.agent.observe import Ending, judged, observe
from bot.agent.parts import Parts
from bot.agent.phases import Phases
from bot.agent.recovery import is_long, recovered, shortened
from bot.agent.state import LoopState
from bot.agent.window import active


async def run(state: LoopState, parts: Parts) -> AsyncGenerator[Event]:
    """Work until the task is done or a guard ends it; the last event is RunEnded.

    `state.pending` holds the request. The consumer keeps what `Recorded` carries before it asks
    for the next event. Leaving early drops the model's stream and cancels running tools; another
    run can go on from the state of the last `Recorded`.
    """
    async with aclosing(_turns(state, parts)) as turns:
        async for event in turns:
            if isinstance(event, RunEnded):
                await parts.hooks.on_end(event)
            yield event


async def _turns(state: LoopState, parts: Parts) -> AsyncGenerator[Event]:
    this = Phases(parts, began=asyncio.get_running_loop().time())
    if parts.stateless:
        this.window.extend(active(await parts.history()))
    yield RunStarted(this.model(state))
    await parts.hooks.on_run_start(state)
    while True:
        if is_long(this, state) and (short := await shortened(this, state)):
            state = short.state
            yield short
        state, notes = await this.prepare(state)
        if notes:
            yield this.recorded(state, notes)
        await parts.hooks.on_turn_start(state)

        # Assemble.
        request = await this.assemble(state)
        yield TurnStarted(state.turn + 1, parts.limits.turns)

        # Reason.
        async with aclosing(this.reason(request, state)) as reasoning:
            async for event in reasoning:
                yield event
        heard = this.heard
        if heard.response is None:
            remedy = await recovered(this, state, heard)
            if remedy is None:
                yield this.ended(state, Ending(heard.stop), heard.error)
                return
            state = remedy.state
            yield remedy
            continue
        state = this.count(state, heard.response)
        yield this.recorded_response(state, heard.response)

        # Dispatch.
        async with (
            beside(parts.hooks.after_response(state, heard.response)) as more,
            aclosing(this.dispatch(request, heard.response, state)) as dispatching,
        ):
            async for happened in dispatching:
                yield happened
            outputs, spent = await judged(state, this.outputs, parts.hooks)
            state = this.spend(state, spent)
            extra = await more

        # Observe.
        state, notes, ending = observe(state, heard.response, outputs, extra, parts.response_type)
        if notes:
            yield this.recorded(state, notes)
        if ending:
            yield this.ended(state, ending)
            return
