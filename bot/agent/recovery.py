"""Recovery: remedies before a call, and when a call brings no response.

Each remedy is used once, or once per model, so that none is tried for ever.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from bot.agent import prompts
from bot.agent.compaction import Compaction
from bot.agent.events import Recorded, SavePoint
from bot.agent.filling import Filling
from bot.agent.guards import gauge, tripped
from bot.agent.interrupt import Interrupted
from bot.agent.model_call import CallResult
from bot.agent.observe import Notes, close
from bot.agent.phases import Phases
from bot.agent.state import LoopState, Transition
from bot.agent.window import active, asked, portable
from bot.core.chain import NO_USAGE
from bot.core.errors import ModelError, ModelErrorKind


async def prepare(phases: Phases, state: LoopState) -> list[Recorded]:
    """Return the events to keep before the next call: a shorter conversation, what the model is
    told of a limit that comes near, or that this call is the last, and what hooks say."""
    steps: list[Recorded] = []
    if state.restart:
        steps.append(await _restarted(phases, state))
        state = steps[-1].state
    elif phases.filling(state) is Filling.COMPACT:
        short = await _shortened(phases, state)
        state = short.state if short else state.go(state.transition, compacted=True)
        steps += [short] if short else []
    noted, notes = await _guarded(phases, state)
    if notes:
        steps.append(phases.recorded(noted, notes))
        noted = steps[-1].state
    nothing: Notes = ()
    if said := await phases.hook(noted, lambda: phases.parts.hooks.on_turn_start(noted), nothing):
        # What failed before, as a call that nobody allowed but changed, says nothing of a new wish.
        has_new_wish = any(each.get("role") == "user" for each in said)
        failed = 0 if has_new_wish else noted.failed_turns
        told = noted.go(Transition.TOLD_MORE, pending=(*noted.pending, *said), failed_turns=failed)
        steps.append(phases.recorded(told, said))
    return steps


async def _guarded(phases: Phases, state: LoopState) -> tuple[LoopState, Notes]:
    """Ask the guards, then the hooks; tell the model once when a limit comes near."""
    if state.closing:
        return state, ()
    limits = phases.parts.limits
    used = gauge(state, limits, elapsed=phases.elapsed())
    is_full = phases.filling(state) is Filling.CLOSE
    reason = tripped(used, state, limits, is_full=is_full)
    if reason is None and (state.turn or state.transition is Transition.BLOCKED):
        hooks = phases.parts.hooks
        reason = await phases.hook(state, lambda: hooks.should_stop_after_turn(state), None)
    if reason:
        return close(state, reason)
    limit, share = used.fullest
    if state.warned or share < limits.warn_at:
        return state, ()
    notes: Notes = (prompts.note(prompts.warning(limit, share)),)
    return state.go(state.transition, warned=True, pending=(*state.pending, *notes)), notes


async def recover(
    phases: Phases, state: LoopState, result: CallResult
) -> Recorded | SavePoint | None:
    """Where the run goes on after a failed call, to be kept; None when it must end.

    A lost chain is asked for once more, then rebuilt, a conversation that does not fit is
    shortened, an overloaded model is left for the next, and time or a budget that is used
    up leaves one last call.
    """
    kind = result.error.kind if result.error else None
    if kind is ModelErrorKind.MISSING_PARENT and state.parent:
        return await (_rebuilt if state.parent_missed else _asked_again)(phases, state)
    if kind is ModelErrorKind.CONTEXT_OVERFLOW and not state.overflowed:
        return await _shortened(phases, state.go(state.transition, overflowed=True))
    if (
        result.error
        and _is_models_own(result.error)
        and state.fallback + 1 < len(phases.parts.models)
    ):
        return SavePoint(state.go(Transition.FELL_BACK, fallback=state.fallback + 1))
    if result.may_close and not state.closing:
        closing, notes = close(state, result.stop)
        return phases.recorded(closing, notes)
    return None


def _is_models_own(error: ModelError) -> bool:
    """Whether another model may do better: this one is overloaded, keeps breaking off, or is not
    there."""
    return error.kind in (
        ModelErrorKind.OVERLOADED,
        ModelErrorKind.INTERRUPTED,
        ModelErrorKind.MISSING_MODEL,
    )


async def _shortened(phases: Phases, state: LoopState) -> Recorded | None:
    """Return a fresh chain with a summary of what came before; None if nothing can be shortened."""
    compaction = Compaction(
        model=phases.parts.model,
        name=phases.model(state),
        artifacts=phases.parts.toolbox.artifacts,
        interrupt=phases.parts.interrupt,
        deadline=phases.call_deadline(state),
        window=phases.window_size(state),
    )
    short = await compaction.compacted(active(await phases.parts.history()), state.task)
    if short is None:
        return None
    fresh = phases.spend(state, short.usage).go(
        Transition.COMPACTED,
        parent=None,
        pending=short.items,
        last_usage=NO_USAGE,
        compacted=True,
        went_on=False,
    )
    return phases.recorded(fresh, short.items, checkpoint=True)


async def _asked_again(phases: Phases, state: LoopState) -> SavePoint:
    """Ask the same once more, a moment later: where a service has many places, what one of them
    has just kept may not have reached the others. Whoever presses Stop does not wait; nor does a
    deadline."""
    with suppress(Interrupted, TimeoutError):
        async with phases.parts.interrupt.within(phases.call_deadline(state)):
            await asyncio.sleep(phases.parts.parent_pause)
    return SavePoint(state.go(Transition.PARENT_MISSED, parent_missed=True))


async def _restarted(phases: Phases, state: LoopState) -> Recorded:
    """Return a fresh chain with what people want and what the model wrote down. What hooks have to say
    since goes along; the outputs end the old chain, which stays valid without them on this one."""
    wanted = asked(active(await phases.parts.history()), state.task)
    notes = (item for item in state.pending if item.get("role") == "developer")
    items = portable((*wanted, prompts.note(state.restart), *notes))
    fresh = state.go(
        Transition.CHECKPOINTED, parent=None, pending=items, restart="", last_usage=NO_USAGE
    )
    return phases.recorded(fresh, items, checkpoint=True)


async def _rebuilt(phases: Phases, state: LoopState) -> Recorded | None:
    """Return a fresh chain with all of the old one; the request alone where nothing else is kept."""
    task = (state.task,) if state.task else ()
    items = portable(active(await phases.parts.history())) or task
    if not items:
        return None
    fresh = state.go(Transition.REBUILT, parent=None, pending=items)
    return phases.recorded(fresh, items, checkpoint=True)
