"""The state that passes from a thread to a run, and back."""

from __future__ import annotations

from collections.abc import Sequence

from bot.agent import prompts
from bot.agent.calls.outputs import without_marks
from bot.agent.events import RunEnded
from bot.agent.state import FOR_THREAD, LoopState
from bot.agent.window import assistant_message
from bot.core.chain import CallerState, Item
from bot.core.outcome import RunStatus, StopReason

_MOST_ASKED = 2_000  # characters kept of a question whose run failed


def first_state(caller: CallerState, asked: Item, *notes: Item, choice: str = "") -> LoopState:
    """Return the state in which a run begins: the thread's chain with the new request and `notes`.

    `choice` is the name of the run's model choice.
    """
    return LoopState(
        choice=choice,
        parent=caller.previous_response_id,
        task=asked,
        pending=(*caller.pending, asked, *notes),
        acquired=caller.acquired,
        links=caller.links,
        hooks=caller.hooks,
        last_usage=caller.last_usage,
        stateless=caller.stateless,
    )


def caller_after(
    ended: RunEnded, before: CallerState, *, model: str, bound_to: str | None
) -> CallerState | None:
    """Return the state of the thread after the run, which began with the state `before`.

    None if the model answered no call of it.
    """
    state = ended.state
    if ended.error and not state.turn:
        return None
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


def caller_without_answer(after: CallerState) -> CallerState:
    """Return the state of the thread after a run whose end is not posted."""
    stopped = prompts.note(prompts.STOPPED)
    if stopped in after.pending[-1:]:
        return after
    return after.model_copy(update={"pending": (*after.pending, stopped)})


def exchange_in_words(asked: Sequence[str], answer: str) -> tuple[Item, ...]:
    """Return the items that a thread keeps of a run that left nothing else on its chain: the
    questions, without files and images that may have caused a failure, and the message that people
    read in the end."""
    questions = (
        {"role": "user", "content": without_marks(text[:_MOST_ASKED])} for text in asked if text
    )
    return (*questions, assistant_message(answer))


def caller_after_words(
    before: CallerState, items: Sequence[Item], bound_to: str | None
) -> CallerState:
    """Return the thread as it was before a run, with `items` on its chain.

    The run failed, or its data are not for everybody. The memory of hooks is dropped, because it
    does not cover the items.
    """
    pending = (*before.pending, *items)
    return before.model_copy(update={"pending": pending, "bound_to": bound_to, "hooks": {}})
