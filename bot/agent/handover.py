"""What a thread hands to a run, and a run to its thread (B7)."""

from __future__ import annotations

from bot.agent import prompts
from bot.agent.events import RunEnded
from bot.agent.state import LoopState
from bot.core.chain import CallerState, Item
from bot.core.outcome import RunStatus, StopReason


def first_state(caller: CallerState, asked: Item, *notes: Item) -> LoopState:
    """Where a run begins: on the thread's chain, with the new request and our notes on it."""
    return LoopState(
        parent=caller.previous_response_id,
        task=asked,
        pending=(*caller.pending, asked, *notes),
        acquired=caller.acquired,
        links=caller.links,
        last_usage=caller.last_usage,
    )


def caller_after(
    ended: RunEnded, before: CallerState, *, model: str, bound_to: str | None
) -> CallerState:
    """The thread after the run: on its chain, or as it was when the model never took it up."""
    state = ended.state
    if ended.error and not state.turn:
        return before
    # The demand to finish was for this run, and must not greet the next question.
    demand = prompts.note(prompts.closing(state.closing)) if state.closing else None
    pending = tuple(item for item in state.pending if item != demand)
    if ended.status is RunStatus.CANCELLED or ended.stop_reason is StopReason.PAUSED:
        pending = (*pending, prompts.note(prompts.STOPPED))
    return CallerState(
        previous_response_id=state.parent,
        pending=pending,
        acquired=state.acquired,
        links=state.links,
        model=model,
        last_usage=state.last_usage,
        bound_to=bound_to,
    )
