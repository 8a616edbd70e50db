"""What a response and the outputs of its calls mean for the run (C1–C5, G3, H4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel

from bot.agent import prompts
from bot.agent.complete import NAME as COMPLETE
from bot.agent.complete import ResponseType
from bot.agent.hooks import Block, Go, HookChain, Prevent
from bot.agent.outputs import CallOutput, cancelled
from bot.agent.state import LoopState, Transition
from bot.core.chain import NO_USAGE, Item, Usage
from bot.core.outcome import RunStatus, StopReason
from bot.model.types import ModelResponse

Notes = tuple[Item, ...]

_FAILED = frozenset(
    {
        StopReason.REFUSED,
        StopReason.CONTENT_FILTER,
        StopReason.MODEL_ERROR,
        StopReason.PROMPT_TOO_LONG,
    }
)
_WHOLE = frozenset({StopReason.COMPLETED, StopReason.DIMINISHING_RETURNS})
_CANCELLED = frozenset({StopReason.CANCELLED_STREAMING, StopReason.CANCELLED_TOOLS})


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a run ends, and with what."""

    reason: StopReason
    result: BaseModel | None = None

    def status(self, *, work_done: bool) -> RunStatus:
        """What a person is told; `work_done` when some call went well (C7)."""
        if self.reason in _CANCELLED:
            return RunStatus.CANCELLED
        if self.reason in _FAILED:
            return RunStatus.FAILED
        if self.reason in _WHOLE:
            return RunStatus.SUCCESS
        return RunStatus.PARTIAL if self.result or work_done else RunStatus.FAILED


def close(state: LoopState, reason: StopReason) -> tuple[LoopState, Notes]:
    """A guard has tripped: the next call is the last, and must be `complete_task` (C5, C6)."""
    notes: Notes = (prompts.note(prompts.closing(reason)),)
    pending = (*state.pending, *notes)
    closing = state.go(Transition.CLOSING, closing=reason, force_finish=True, pending=pending)
    return closing, notes


async def judged(
    state: LoopState, outputs: Sequence[CallOutput], hooks: HookChain
) -> tuple[list[CallOutput], Usage]:
    """`outputs`, with a valid result put before the stop hooks (H4), and what that took."""
    final = next((each for each in outputs if each.result is not None), None)
    if final is None or final.result is None:
        return list(outputs), NO_USAGE
    verdict = await hooks.on_stop(state, final.result)
    match verdict:
        case Block() if not state.closing:
            left = replace(final, text=verdict.message, result=None, blocked=True)
        case Prevent():
            left = replace(final, result=verdict.instead or final.result, ends=verdict.reason)
        case Go():
            left = replace(final, result=verdict.instead or final.result)
        case _:  # the last call: what there is must do
            left = final
    return [left if each is final else each for each in outputs], verdict.usage


def observe(
    state: LoopState,
    outputs: Sequence[CallOutput],
    extra: Sequence[Item],
    response_type: ResponseType,
) -> tuple[LoopState, Notes, Ending | None]:
    """The next state, the items that it adds to the conversation, and the end if this is it.

    `state.open` holds the response; `extra` are messages of hooks for the next request.
    """
    assert state.open is not None  # noqa: S101 - there is nothing to observe otherwise
    response = state.open.response
    state = state.go(state.transition, open=None)
    if ending := _refusal(response):
        return state, (), ending
    if response.incomplete:
        state, notes = _cut_off(state)
    elif outputs:
        state, notes = _answered(state, response, outputs)
    elif response.calls:
        # Stopped before any of them was begun: the chain stays at its parent (H1b).
        notes = tuple(cancelled(call).item() for call in response.calls)
        return state, notes, Ending(StopReason.CANCELLED_TOOLS)
    elif state.force_finish and response.text:
        # Forced, and still only text: nothing that the model said is lost (C4).
        result = response_type.from_text(response.text)
        ended = state.go(state.transition, parent=response.id, pending=())
        return ended, (), Ending(state.closing or StopReason.MALFORMED_OUTPUT, result)
    else:
        state, notes = _nudged(state, response)
    if extra:
        state = state.go(state.transition, pending=(*state.pending, *extra))
    ending = _ending(state, outputs)
    return state, (*notes, *extra), ending or _closed_without_result(state)


def _refusal(response: ModelResponse) -> Ending | None:
    if response.incomplete == "content_filter":
        return Ending(StopReason.CONTENT_FILTER)
    if response.refusal and not response.calls:
        return Ending(StopReason.REFUSED)
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
        malformed=state.malformed + 1 if malformed else 0,
        failed_turns=0 if went_well else state.failed_turns + (not malformed),
    )
    return answered, items


def _ending(state: LoopState, outputs: Sequence[CallOutput]) -> Ending | None:
    if final := next((each for each in outputs if each.result is not None), None):
        return Ending(state.closing or final.ends or StopReason.COMPLETED, final.result)
    if any(each.cancelled for each in outputs):
        return Ending(StopReason.CANCELLED_TOOLS)
    return None


def _nudged(state: LoopState, response: ModelResponse) -> tuple[LoopState, Notes]:
    """Text without calls is pointed to `complete_task` once, then that is forced (C4)."""
    if not response.text:
        transition, words, malformed = Transition.MALFORMED, prompts.EMPTY, state.malformed + 1
    elif state.transition is Transition.NUDGED:
        transition, words, malformed = Transition.FORCED, prompts.NUDGE, 0
    else:
        transition, words, malformed = Transition.NUDGED, prompts.NUDGE, 0
    notes: Notes = (prompts.note(words),)
    force = state.force_finish or transition is Transition.FORCED
    nudged = state.go(
        transition, parent=response.id, pending=notes, malformed=malformed, force_finish=force
    )
    return nudged, notes


def _closed_without_result(state: LoopState) -> Ending | None:
    """The last call brought nothing: the run ends with what its tools did."""
    return Ending(state.closing) if state.closing else None
