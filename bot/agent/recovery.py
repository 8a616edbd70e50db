"""Recovery: preparing the next call, and remedies after a call without a response.

Each remedy is used once, or once per model, so that no run repeats it forever.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from bot.agent import acquired, prompts
from bot.agent.builtin.acquire_tools import with_their_tools
from bot.agent.compaction import SHARE_OF_CHANGES, UNKNOWN_WINDOW, Compaction
from bot.agent.events import SkillAcquired, emit
from bot.agent.interrupt import Interrupted
from bot.agent.limits import ContextAction, gauge, tripped
from bot.agent.model_call import CallResult
from bot.agent.observe import Items, close, end_run, end_without_result
from bot.agent.phases import Phases
from bot.agent.state import LoopState, Transition, without_left_out
from bot.agent.window import active_items, changes_in, lines_of, portable, user_requests
from bot.core.chain import NO_USAGE
from bot.core.errors import ModelErrorKind
from bot.core.outcome import StopReason

_OF_ONE_MODEL = frozenset(
    {
        ModelErrorKind.OVERLOADED,
        ModelErrorKind.UNREACHABLE,
        ModelErrorKind.INTERRUPTED,
        ModelErrorKind.MISSING_MODEL,
    }
)
"""Errors of one model, after which another may succeed."""


async def prepare(phases: Phases, state: LoopState) -> LoopState:
    """Return the state before the next call, each step recorded: a rebuilt or compacted conversation,
    the warning about a limit or the decision to finish, the texts of what was acquired, and messages
    of hooks."""
    if _has_other_mode(phases, state):
        state = await _rebuild(phases, state) or state
    if state.restart:
        state = await _restart(phases, state)
    elif phases.context_action(state) is ContextAction.COMPACT:
        state = await _compact(phases, state) or state.replace(compacted=True)
    state = await _with_acquired(phases, await _apply_guards(phases, state))
    none: Items = ()
    messages = await phases.ask(state, phases.deps.hooks.on_turn_start(state), none)
    if not messages:
        return state
    # Failures before a person's new message do not count against it.
    has_new_request = any(message.get("role") == "user" for message in messages)
    failed = 0 if has_new_request else state.failed_turns
    pending = (*state.pending, *messages)
    catalogue = phases.deps.toolbox.catalogue
    named = with_their_tools(phases.deps.hooks.named(state), catalogue)
    new = [name for name in named if name not in state.acquired]
    for skill in filter(None, map(catalogue.skill, new)):
        await emit(SkillAcquired.of(skill, "person"))
    state = state.go(
        Transition.TOLD_MORE,
        pending=pending,
        failed_turns=failed,
        acquired=(*state.acquired, *new),
        noted=without_left_out(state.noted, named),
    )
    return await _with_acquired(phases, await phases.record(state, messages))


async def _with_acquired(phases: Phases, state: LoopState) -> LoopState:
    """Return the state after the texts of what was acquired were added that the chain lacks."""
    if state.closing:
        return state
    state, notes = await acquired.lacking(phases, state)
    if not notes:
        return state
    return await phases.record(state.replace(pending=(*state.pending, *notes)), notes)


async def _apply_guards(phases: Phases, state: LoopState) -> LoopState:
    """Check the guards, then ask the hooks; warn the model once when a limit is near."""
    if state.closing:
        return state
    limits = phases.deps.limits
    used = gauge(state, limits, elapsed=phases.elapsed())
    is_full = phases.context_action(state) is ContextAction.CLOSE
    reason = tripped(used, state, limits, is_full=is_full)
    if reason is None and (state.turn or state.transition is Transition.BLOCKED):
        hooks = phases.deps.hooks
        reason = await phases.ask(state, hooks.should_stop_after_turn(state), None)
    if reason:
        return await phases.save(close(state, reason))
    limit, share = used.fullest
    if state.warned or share < limits.warn_at:
        return state
    note = prompts.note(prompts.warning(limit, share))
    return await phases.record(state.replace(warned=True, pending=(*state.pending, note)), (note,))


async def recover(phases: Phases, state: LoopState, result: CallResult) -> LoopState:
    """Return the state from which the run continues after a failed call, or with its ending.

    A missing parent is asked for once more, then the chain is rebuilt; a conversation that does not
    fit is compacted; a model that is overloaded, keeps breaking off or is missing is replaced by
    the next; and when time or a budget is used up, one last call remains.
    """
    return await _remedied(phases, state, result) or await _ended(phases, state, result)


async def _remedied(phases: Phases, state: LoopState, result: CallResult) -> LoopState | None:
    kind = result.error.kind if result.error else None
    if kind is ModelErrorKind.MISSING_PARENT and state.parent:
        is_gone = state.parent_missed or phases.deps.traits.stateless
        return await (_rebuild if is_gone else _retry_parent)(phases, state)
    if kind is ModelErrorKind.CONTEXT_OVERFLOW and not state.overflowed:
        return await _compact(phases, state.replace(overflowed=True))
    if kind in _OF_ONE_MODEL and state.fallback + 1 < len(phases.deps.models):
        return await phases.save(state.go(Transition.FELL_BACK, fallback=state.fallback + 1))
    if result.may_close and not state.closing:
        return await phases.save(close(state, result.stop))
    return None


async def _ended(phases: Phases, state: LoopState, result: CallResult) -> LoopState:
    """End a run whose last call failed: for the guard that tripped before it, or with the text that
    the model gave before, or for the reason of the failure. A person's Stop overrides these."""
    if (state.closing or state.nudges) and not phases.deps.interrupt.requested:
        reason = StopReason.MALFORMED_OUTPUT if result.error else result.stop
        response_type = phases.deps.response_type
        return await phases.save(end_without_result(state, response_type, reason, result.error))
    return await phases.save(end_run(state, result.stop, error=result.error, draft=result.draft))


async def _compact(phases: Phases, state: LoopState) -> LoopState | None:
    """Begin a new chain with the compacted conversation; None if nothing can be compacted."""
    compaction = Compaction(
        model=phases.deps.model,
        name=phases.model(state),
        artifacts=phases.deps.toolbox.artifacts,
        interrupt=phases.deps.interrupt,
        deadline=phases.call_deadline(state),
        window=phases.window_size(state),
    )
    entries = await phases.deps.history()
    changes = changes_in(entries, phases.deps.toolbox.is_change)
    conversation = acquired.without_notes(active_items(entries))
    compacted = await compaction.compact(conversation, state.task, changes)
    if compacted is None:
        return None
    state, items = await acquired.in_front(phases, state, compacted.items)
    fresh = phases.spend(state, compacted.usage).go(
        Transition.COMPACTED,
        parent=None,
        pending=items,
        last_usage=NO_USAGE,
        compacted=True,
        checkpoint_offered=False,
    )
    return await phases.record(fresh, items, checkpoint=True)


async def _retry_parent(phases: Phases, state: LoopState) -> LoopState:
    """Wait a moment before the same request is made again: a replica of the service may not have
    received the parent yet. Stop and the deadline end the wait."""
    deadline = phases.call_deadline(state)
    with suppress(Interrupted, TimeoutError), phases.deps.interrupt.within(deadline):
        await asyncio.sleep(phases.deps.parent_pause)
    return await phases.save(state.go(Transition.PARENT_MISSED, parent_missed=True))


async def _restart(phases: Phases, state: LoopState) -> LoopState:
    """Begin a new chain with people's requests, the model's checkpoint, the changes that were made
    and later messages of hooks. The pending outputs stay behind: they complete the old chain."""
    entries = await phases.deps.history()
    wanted = user_requests(active_items(entries), state.task)
    changes = changes_in(entries, phases.deps.toolbox.is_change)
    room = (phases.window_size(state) or UNKNOWN_WINDOW) // SHARE_OF_CHANGES
    made = (prompts.note(prompts.changes_before(lines_of(changes, room))),) if changes else ()
    notes = (item for item in state.pending if item.get("role") == "developer")
    items = portable((*wanted, prompts.note(state.restart), *made, *notes))
    state, items = await acquired.in_front(phases, state, items)
    fresh = state.go(
        Transition.CHECKPOINTED, parent=None, pending=items, restart="", last_usage=NO_USAGE
    )
    return await phases.record(fresh, items, checkpoint=True)


async def _rebuild(phases: Phases, state: LoopState) -> LoopState | None:
    """Begin a new chain with the whole active window; with the request alone if the ledger is
    empty. Where the service is known to store nothing, the conversation goes on stateless."""
    task = (state.task,) if state.task else ()
    items = portable(active_items(await phases.deps.history())) or task
    if not items:
        return None
    state, items = await acquired.in_front(phases, state, items)
    stateless = phases.deps.traits.stateless
    fresh = state.go(Transition.REBUILT, parent=None, pending=items, stateless=stateless)
    return await phases.record(fresh, items, checkpoint=True)


def _has_other_mode(phases: Phases, state: LoopState) -> bool:
    """Return whether the service needs another mode than that of `state`: stateless because it
    stores nothing, or a chain again. A run that has begun does not return to a chain."""
    is_stateless = phases.deps.traits.stateless
    return is_stateless != state.stateless and (is_stateless or not state.has_begun)
