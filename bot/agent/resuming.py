"""Resumption: restore the parts of a run's state that only the ledger holds."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel

from bot.agent.builtin.complete_task import NAME as COMPLETE
from bot.agent.builtin.complete_task import ResponseType
from bot.agent.calls.outputs import ACCEPTED
from bot.agent.state import LoopState, Transition
from bot.agent.window import active_items, portable, without_stray_reasoning
from bot.core.chain import Item, LedgerEntry


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
