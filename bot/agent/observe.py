"""What a response and the outputs of its calls mean for the run (C1–C5, G3, H4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from bot.agent import prompts
from bot.agent.complete import NAME as COMPLETE
from bot.agent.complete import ResponseType
from bot.agent.hooks import Block, Go, HookChain, Prevent
from bot.agent.interrupt import Interrupt
from bot.agent.outputs import CallOutput, cancelled
from bot.agent.state import Ending, Failure, LoopState, Transition
from bot.core.chain import NO_USAGE, Item, Usage
from bot.core.errors import ModelError
from bot.core.outcome import RunStatus, StopReason
from bot.model.types import ModelResponse

Notes = tuple[Item, ...]

_FAILED = frozenset(
    {
        StopReason.REFUSED,
        StopReason.CONTENT_FILTER,
        StopReason.MODEL_ERROR,
        StopReason.PROMPT_TOO_LONG,
        StopReason.PAUSED,
    }
)
_WHOLE = frozenset({StopReason.COMPLETED, StopReason.DIMINISHING_RETURNS})
_CANCELLED = frozenset({StopReason.CANCELLED_STREAMING, StopReason.CANCELLED_TOOLS})


def finished(
    state: LoopState,
    reason: StopReason,
    result: BaseModel | None = None,
    *,
    error: ModelError | None = None,
    draft: str = "",
) -> LoopState:
    """Return `state` with its ending, which is to be kept before anybody is told of it."""
    failure = error and Failure(kind=error.kind, message=str(error), request_id=error.request_id)
    ending = Ending(
        reason=reason,
        status=_status(reason, has_result=result is not None, work_done=bool(state.done)),
        response_type=type(result).__name__ if result is not None else "",
        result=result.model_dump_json() if result is not None else "",
        failure=failure,
        draft=draft,
    )
    return state.go(state.transition, ending=ending)


def _status(reason: StopReason, *, has_result: bool, work_done: bool) -> RunStatus:
    """Return what a person is told; `work_done` when some call went well (C7)."""
    if reason in _CANCELLED:
        return RunStatus.CANCELLED
    if reason in _FAILED:
        return RunStatus.FAILED
    if reason in _WHOLE:
        return RunStatus.SUCCESS
    return RunStatus.PARTIAL if has_result or work_done else RunStatus.FAILED


def close(state: LoopState, reason: StopReason) -> tuple[LoopState, Notes]:
    """A guard has tripped: the next call is the last, and must be `complete_task` (C5, C6)."""
    notes: Notes = (prompts.note(prompts.closing(reason)),)
    pending = (*state.pending, *notes)
    closing = state.go(Transition.CLOSING, closing=reason, force_finish=True, pending=pending)
    return closing, notes


async def judged(
    state: LoopState, outputs: Sequence[CallOutput], hooks: HookChain
) -> tuple[list[CallOutput], Usage, dict[str, Any]]:
    """Put a valid result before the stop hooks (H4). Return the outputs with their verdict, the
    usage of judging, and what hooks must remember of it."""
    final = next((each for each in outputs if each.result is not None), None)
    if final is None or final.result is None:
        return list(outputs), NO_USAGE, {}
    verdict = await hooks.on_stop(state, final.result)
    memory: dict[str, Any] = {}
    match verdict:
        case Block() if not state.closing:
            memory = verdict.memory
            left = replace(final, text=verdict.message, result=None, blocked=True)
        case Prevent():
            left = replace(final, result=verdict.instead or final.result, ends=verdict.reason)
        case Go():
            left = replace(final, result=verdict.instead or final.result)
        case _:  # the last call: what there is must do
            left = final
    return [left if each is final else each for each in outputs], verdict.usage, memory


def observe(
    state: LoopState,
    outputs: Sequence[CallOutput],
    extra: Sequence[Item],
    response_type: ResponseType,
    interrupt: Interrupt,
) -> tuple[LoopState, Notes]:
    """Return the next state, which holds the ending if this is it, and the items that it adds to
    the conversation.

    `state.open` holds the response; `extra` are messages of hooks for the next request; `interrupt`
    says why the run was stopped, if it was.
    """
    assert state.open is not None  # noqa: S101 - there is nothing to observe otherwise
    response, stopped = state.open.response, interrupt.why(StopReason.CANCELLED_TOOLS)
    state = state.go(state.transition, open=None)
    if reason := _refusal(response):
        return finished(state, reason), ()
    if response.incomplete:
        state, notes = _cut_off(state)
    elif outputs:
        state, notes = _answered(state, response, outputs)
    elif response.calls:
        # Stopped before any of them was begun: the chain stays at its parent (H1b).
        notes = tuple(cancelled(call).item() for call in response.calls)
        return finished(state, stopped), notes
    elif state.force_finish and response.text:
        # Forced, and still only text: nothing that the model said is lost (C4).
        result = response_type.from_text(state.first_text or response.text)
        state = state.go(state.transition, parent=response.id, pending=())
        return finished(state, state.closing or StopReason.MALFORMED_OUTPUT, result), ()
    else:
        state, notes = _nudged(state, response)
    if extra:
        state = state.go(state.transition, pending=(*state.pending, *extra))
    return _ended(state, outputs, stopped), (*notes, *extra)


def _refusal(response: ModelResponse) -> StopReason | None:
    if response.incomplete == "content_filter":
        return StopReason.CONTENT_FILTER
    if response.refusal and not response.calls:
        return StopReason.REFUSED
    return None


def _cut_off(state: LoopState) -> tuple[LoopState, Notes]:
    """Nothing is chained to a response that was cut: its calls may be halves."""
    notes: Notes = (prompts.note(prompts.CUT_OFF),)
    pending = (*state.pending, *notes)
    return state.go(Transition.MALFORMED, pending=pending, malformed=state.malformed + 1), notes


def _answered(
    state: LoopState, response: ModelResponse, outputs: Sequence[CallOutput]
) -> tuple[LoopState, Notes]:
    """The chain moves on to `response`, with an output for each of its calls (B2)."""
    rejected = any(each.tool == COMPLETE and not each.ok for each in outputs)
    blocked = any(each.blocked for each in outputs)
    went_well = any(each.ok for each in outputs)
    # A result of the wrong form, alone, says nothing of the tools.
    malformed = not went_well and all(each.tool == COMPLETE for each in outputs)
    items: Notes = tuple(output.item() for output in outputs)
    brought = (link for each in outputs for link in each.links)
    links = dict.fromkeys((*state.links, *response.links, *brought))
    acquired = dict.fromkeys((*state.acquired, *(n for each in outputs for n in each.acquired)))
    transition = Transition.FINAL_REJECTED if rejected else Transition.TOOLS_ANSWERED
    answered = state.go(
        Transition.BLOCKED if blocked else transition,
        turn=state.turn - blocked,  # a hook's objection costs the model no turn
        sent_back=state.sent_back + blocked,
        parent=response.id,
        pending=items,
        links=tuple(links),
        acquired=tuple(acquired),
        restart=next((each.restart for each in outputs if each.restart), ""),
        done=(*state.done, *(step for each in outputs for step in each.steps)),
        nudges=0,
        first_text="",
        malformed=state.malformed + 1 if malformed else 0,
        failed_turns=0 if went_well else state.failed_turns + (not malformed),
    )
    return answered, items


def _ended(state: LoopState, outputs: Sequence[CallOutput], stopped: StopReason) -> LoopState:
    """Return `state` with its ending, if there is one."""
    if final := next((each for each in outputs if each.result is not None), None):
        reason = state.closing or final.ends or StopReason.COMPLETED
        return finished(state, reason, final.result)
    if any(each.cancelled for each in outputs):
        return finished(state, stopped)
    if state.closing:  # the last call brought nothing: what tools did must do
        return finished(state, state.closing)
    return state


def _nudged(state: LoopState, response: ModelResponse) -> tuple[LoopState, Notes]:
    """Text without calls is pointed to `complete_task` once, then that is forced (C4)."""
    if not response.text:
        transition, words, malformed = Transition.MALFORMED, prompts.EMPTY, state.malformed + 1
    elif state.nudges:
        transition, words, malformed = Transition.FORCED, prompts.NUDGE, 0
    else:
        transition, words, malformed = Transition.NUDGED, prompts.NUDGE, 0
    notes: Notes = (prompts.note(words),)
    force = state.force_finish or transition is Transition.FORCED
    nudged = state.go(
        transition,
        parent=response.id,
        pending=notes,
        malformed=malformed,
        force_finish=force,
        nudges=state.nudges + bool(response.text),
        first_text=state.first_text or response.text,
    )
    return nudged, notes
