"""The state that passes from a thread to a run and back, and what a resumed run reads from the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pydantic import BaseModel

from bot.agent import prompts
from bot.agent.builtin.complete_task import NAME as COMPLETE
from bot.agent.builtin.complete_task import ResponseType
from bot.agent.calls.outputs import ACCEPTED, without_marks
from bot.agent.events import RunEnded
from bot.agent.state import FOR_THREAD, LoopState, Transition
from bot.agent.window import (
    Change,
    active_items,
    assistant_message,
    lines_of,
    portable,
    without_stray_reasoning,
)
from bot.core.chain import CallerState, Item, LedgerEntry
from bot.core.errors import ModelErrorKind
from bot.core.outcome import RunStatus, StopReason

_MOST_ASKED = 2_000  # characters kept of a question whose run failed
_MOST_CHANGES = 5_000  # tokens for the list of its changes


def first_state(
    caller: CallerState,
    asked: Item,
    *notes: Item,
    offered: Sequence[str] = (),
    choice: str = "",
) -> LoopState:
    """Return the state in which a run begins: the thread's chain with the new request and `notes`.

    `offered` are the tools that it carries besides those of the thread; `choice` is the name of the
    run's model choice.
    """
    return LoopState(
        choice=choice,
        parent=caller.previous_response_id,
        task=asked,
        pending=(*caller.pending, asked, *notes),
        acquired=tuple(dict.fromkeys((*caller.acquired, *offered))),
        noted=caller.noted,
        links=caller.links,
        hooks=caller.hooks,
        last_usage=caller.last_usage,
        stateless=caller.stateless,
    )


class After(NamedTuple):
    """The state of a thread after a run, None if the run left nothing to go on from, and the items
    that it adds to the ledger."""

    state: CallerState | None
    added: tuple[Item, ...] = ()


def caller_after(
    ended: RunEnded, before: CallerState, *, model: str, bound_to: str | None
) -> After:
    """Return the state of the thread after the run, which began with the state `before`.

    There is none if the model answered no call of it, and if the service refused what the conversation holds:
    it would refuse the next question too.
    """
    state = ended.state
    is_refused = ended.stop_reason is StopReason.CONTENT_FILTER or (
        ended.error is not None and ended.error.kind is ModelErrorKind.POLICY
    )
    if is_refused or (ended.error and not state.turn):
        return After(None)
    is_stopped = ended.status is RunStatus.CANCELLED or ended.stop_reason is StopReason.PAUSED
    added = (prompts.note(prompts.STOPPED),) if is_stopped else ()
    # Runs of earlier versions have the demand to finish in their state.
    demand = prompts.note(prompts.closing(state.closing)) if state.closing else None
    pending = (*(item for item in state.pending if item != demand), *added)
    after = CallerState(
        previous_response_id=state.parent,
        pending=pending,
        acquired=state.acquired,
        noted=state.noted,
        links=state.links,
        hooks={
            name: {FOR_THREAD: kept[FOR_THREAD]}
            for name, kept in state.hooks.items()
            if FOR_THREAD in kept
        },
        model=model,
        last_usage=state.last_usage,
        stateless=state.stateless,
        bound_to=bound_to,
        seen=before.seen,
        known=before.known,
    )
    return After(after, added)


def caller_without_answer(after: CallerState) -> tuple[CallerState, tuple[Item, ...]]:
    """Return the state of the thread after a run whose end is not posted, and the items that this adds
    to the ledger."""
    stopped = prompts.note(prompts.STOPPED)
    if stopped in after.pending[-1:]:
        return after, ()
    return after.model_copy(update={"pending": (*after.pending, stopped)}), (stopped,)


def exchange_in_words(
    asked: Sequence[str], answer: str, changes: Sequence[Change] = ()
) -> tuple[Item, ...]:
    """Return the items that a thread keeps of a run that left nothing else on its chain: the
    questions, without files and images that may have caused a failure, the changes that the run had
    made, and the message that people read in the end."""
    questions = (
        {"role": "user", "content": without_marks(text[:_MOST_ASKED])} for text in asked if text
    )
    lines = lines_of(changes, _MOST_CHANGES)
    made = (prompts.note(prompts.changes_before(lines)),) if lines else ()
    return (*questions, *made, assistant_message(answer))


def caller_after_words(
    before: CallerState, items: Sequence[Item], bound_to: str | None
) -> CallerState:
    """Return the thread as it was before a run, with `items` on its chain.

    The run failed, or its data are not for everybody. The memory of hooks is dropped, because it
    does not cover the items.
    """
    pending = (*before.pending, *items)
    return before.model_copy(update={"pending": pending, "bound_to": bound_to, "hooks": {}})


def caller_after_failure(
    before: CallerState,
    asked: Sequence[str],
    note: str,
    changes: Sequence[Change],
    *,
    run_id: str,
    bound_to: str | None,
) -> tuple[CallerState, LedgerEntry]:
    """Return the thread as it was before a run without an answer, with the run in words, and the
    ledger entry that puts these words in the place of the run's own items.

    `asked` are the questions, none if the service would refuse the next one for them too; `note` is
    what people read.
    """
    items = exchange_in_words(asked, note, changes)
    if before.pending[-len(items) :] == items:  # the same question failed again
        return before, LedgerEntry(run_id=run_id, items=(), bound_to=bound_to, abandons=(run_id,))
    entry = LedgerEntry(run_id=run_id, items=items, bound_to=bound_to, abandons=(run_id,))
    return caller_after_words(before, items, bound_to), entry


def begun_stateless(state: LoopState, entries: Sequence[LedgerEntry]) -> LoopState:
    """Return `state` in stateless mode if the conversation has no items that only the service's
    store holds; otherwise unchanged, and the chain must be rebuilt."""
    items = active_items(entries)
    may_begin = not state.has_begun and items == portable(items)
    return state.replace(stateless=True) if may_begin else state


def with_history(state: LoopState, entries: Sequence[LedgerEntry], run_id: str) -> LoopState:
    """Return `state` with the fields that are not stored in it: the items that the run has added,
    and for a stateless service the whole conversation."""
    return state.replace(
        new_items=_added(entries, run_id) if state.has_begun else (),
        conversation=_conversation(state, entries) if state.stateless else (),
    )


def _added(entries: Sequence[LedgerEntry], run_id: str) -> tuple[Item, ...]:
    """Return the items of the run's own entries; the first entry is the request, which it was
    given."""
    own = [entry for entry in entries if entry.run_id == run_id][1:]
    kept = [entry for entry in own if not (entry.abandoned or entry.checkpoint)]
    return tuple(item for entry in kept for item in entry.items)


def _conversation(state: LoopState, entries: Sequence[LedgerEntry]) -> tuple[Item, ...]:
    """Return the active items, including those of the open response, whose calls lack outputs."""
    if state.open is None:
        return active_items(entries)
    response = state.open.response
    before = [entry for entry in entries if entry.response_id != response.id]
    return (*active_items(before), *without_stray_reasoning(response.items))


async def accepted_result(
    state: LoopState, entries: Sequence[LedgerEntry], response_type: ResponseType
) -> BaseModel | None:
    """Return the result that version 1 of the state accepted without keeping it: the arguments of
    its call are in the ledger. None for every other state."""
    if state.ending or state.open or state.transition is not Transition.TOOLS_ANSWERED:
        return None
    accepted = {item.get("call_id") for item in state.pending if item.get("output") == ACCEPTED}
    for item in (item for entry in reversed(entries) for item in entry.items):
        if item.get("name") == COMPLETE and item.get("call_id") in accepted:
            return await response_type.parse(item["arguments"])
    return None
