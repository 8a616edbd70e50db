"""Observation: how a response and the outputs of its calls change the state of the run."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ValidationError

from bot.agent import prompts
from bot.agent.builtin.complete_task import NAME as COMPLETE
from bot.agent.builtin.complete_task import ResponseType, announces_work, json_in
from bot.agent.calls.outputs import CallOutput, cancelled_output
from bot.agent.hooks.chain import Block, Go, HookChain, Prevent
from bot.agent.interrupt import Interrupt
from bot.agent.state import (
    Ending,
    Failure,
    LoopState,
    SentBack,
    Transition,
    without_left_out,
)
from bot.agent.window import portable, without_stray_reasoning
from bot.core.answers import Answer, stored_name
from bot.core.chain import Item, Usage
from bot.core.errors import ModelError, ModelErrorKind
from bot.core.outcome import RunStatus, StopReason
from bot.model.types import CONTENT_FILTER, ModelResponse

Items = tuple[Item, ...]

_FAILED = frozenset(
    {
        StopReason.REFUSED,
        StopReason.CONTENT_FILTER,
        StopReason.MODEL_ERROR,
        StopReason.PROMPT_TOO_LONG,
        StopReason.PAUSED,
    }
)
_MOST_SENT_BACK = 8
"""Results that stop hooks may send back in one run."""

_MOST_CONTINUED = 3
"""Responses in a row that may reach the output limit."""

_WHOLE = frozenset({StopReason.COMPLETED, StopReason.DIMINISHING_RETURNS})
_CANCELLED = frozenset({StopReason.CANCELLED_STREAMING, StopReason.CANCELLED_TOOLS})
_STOPPED = _CANCELLED | {StopReason.PAUSED}


def end_run(
    state: LoopState,
    reason: StopReason,
    result: BaseModel | None = None,
    *,
    error: ModelError | None = None,
    draft: str = "",
) -> LoopState:
    """Return `state` with its ending, which must be saved before it is reported. A run without a result
    ends with the best one that hooks sent back, unless it was stopped."""
    kept = _stored(result)
    if kept is None and state.best is not None and reason not in _STOPPED:
        kept, reason = state.best, StopReason.STOP_HOOK if reason in _FAILED else reason
    failure = error and Failure(
        kind=error.kind,
        message=str(error),
        request_id=error.request_id,
        detail=error.detail,
        said=error.said,
    )
    ending = Ending(
        reason=reason,
        status=_status(reason, has_result=kept is not None, work_done=bool(state.done)),
        response_type=kept.response_type if kept else "",
        result=kept.result if kept else "",
        failure=failure,
        draft=draft,
    )
    return state.replace(ending=ending)


def _stored(result: BaseModel | None) -> SentBack | None:
    if result is None:
        return None
    return SentBack(response_type=stored_name(type(result)), result=result.model_dump_json())


def _status(reason: StopReason, *, has_result: bool, work_done: bool) -> RunStatus:
    """Return the status for people; `work_done` says that a call succeeded."""
    if reason in _CANCELLED:
        return RunStatus.CANCELLED
    if reason in _FAILED:
        return RunStatus.FAILED
    if reason in _WHOLE:
        return RunStatus.SUCCESS
    return RunStatus.PARTIAL if has_result or work_done else RunStatus.FAILED


def close(state: LoopState, reason: StopReason) -> LoopState:
    """Prepare the last call after a guard has tripped: it must be `complete_task`. Its request says so
    in words that no conversation keeps."""
    return state.go(Transition.CLOSING, closing=reason, force_finish=True)


Observation = tuple[LoopState, Items]
"""The next state, with the ending if the run is over, and the items that are added to the
conversation."""


async def judge_result(
    state: LoopState, final: CallOutput, hooks: HookChain
) -> tuple[CallOutput, Usage, dict[str, Any]]:
    """Ask the stop hooks about a valid result. Return its output with their verdict, the usage of
    judging, and how a block changes the state."""
    if final.result is None:
        raise ValueError("a call without a result cannot be judged")
    verdict = await hooks.on_stop(state, final.result)
    changes: dict[str, Any] = {}
    match verdict:
        case Block() if state.sent_back >= _MOST_SENT_BACK:
            best_so_far = verdict.best or final.result
            judged = replace(final, result=best_so_far, ends=StopReason.STOP_HOOK)
        case Block() if not state.closing:
            best = _stored(verdict.best or final.result)
            changes = {"hooks": state.hooks | verdict.memory, "best": best}
            judged = replace(final, text=verdict.message, result=None, blocked=True)
        case Prevent():
            judged = replace(final, result=verdict.instead or final.result, ends=verdict.reason)
        case Go():
            judged = replace(final, result=verdict.instead or final.result)
        case _:  # the last call: what there is must do
            judged = final
    return judged, verdict.usage, changes


def refusal_reason(response: ModelResponse) -> StopReason | None:
    """Return the reason when the model refused or the content filter cut the response."""
    if response.incomplete == CONTENT_FILTER:
        return StopReason.CONTENT_FILTER
    if response.refusal and not response.calls:
        return StopReason.REFUSED
    return None


def end_with_refusal(
    state: LoopState, reason: StopReason, response_type: ResponseType
) -> Observation:
    """End the run. The model's refusal is on the chain, as it is in the ledger; of what the content
    filter cut nothing is. A refusal of the last call or of a nudge ends the run with what it had
    before."""
    if reason is StopReason.REFUSED:
        state = state.replace(**_chain_after(state, ()))
    if state.closing or state.nudges:
        return end_without_result(state, response_type), ()
    return end_run(state, reason), ()


def end_without_result(
    state: LoopState,
    response_type: ResponseType,
    reason: StopReason = StopReason.MALFORMED_OUTPUT,
    error: ModelError | None = None,
) -> LoopState:
    """Return `state` with the ending of a run whose last call returned no result, for the guard that
    tripped before it or else for `reason`. The text that led to the first nudge is the result."""
    result = _from_text(state, response_type, state.first_text) if state.nudges else None
    return end_run(state, state.closing or reason, result, error=error)


def _from_text(state: LoopState, response_type: ResponseType, text: str) -> BaseModel | None:
    """Return `text` as a result; None where a whole result was sent back, which it does not replace."""
    return None if state.best else response_type.from_text(text)


def leave_calls(state: LoopState, interrupt: Interrupt) -> Observation:
    """End a run that was stopped before any call of the open response was begun: the chain stays at
    its parent, and the calls are answered for the record only."""
    notes = tuple(cancelled_output(call).item() for call in open_response(state).calls)
    ended = state.replace(open=None)
    return end_run(ended, interrupt.reason_or(StopReason.CANCELLED_TOOLS)), notes


def continue_after_cut(state: LoopState, response_type: ResponseType) -> Observation:
    """Ask the model to continue a response that reached the output limit, at most three times in a
    row; if no item of it is complete, to repeat it shorter."""
    if not open_response(state).items:
        notes: Items = (prompts.note(prompts.CUT_OFF),)
        malformed = state.malformed + 1
        return state.go(
            Transition.MALFORMED, malformed=malformed, **_chain_after(state, notes)
        ), notes
    first_text = state.first_text if state.nudges else _text_so_far(state)
    if state.continued >= _MOST_CONTINUED:
        state = state.replace(**_chain_after(state, ()))
        result = _from_text(state, response_type, first_text) if first_text else None
        return end_run(state, StopReason.MALFORMED_OUTPUT, result), ()
    notes = (prompts.note(prompts.CONTINUE),)
    continued = state.continued + 1
    return state.go(
        Transition.CONTINUED,
        first_text=first_text,
        continued=continued,
        **_chain_after(state, notes),
    ), notes


def _chain_after(state: LoopState, items: Items) -> dict[str, Any]:
    """Return the chain with `items` after the open response.

    The complete items of some responses are sent again after their own parent instead: of one that
    was cut, as the API does not promise that it can be a parent; of one that was rewritten, as the
    service does not know its calls; and of the last call, as its request held the demand to finish,
    which was meant for this run alone.
    """
    response = open_response(state)
    if response.incomplete or response.rewritten or state.closing:
        sent_again = portable(without_stray_reasoning(response.items))
        return {"pending": (*state.pending, *sent_again, *items)}
    return {"parent": response.id, "pending": items}


def _text_so_far(state: LoopState) -> str:
    """Return the text of the open response after the text of the responses that it continues."""
    before = state.first_text if state.continued and not state.nudges else ""
    return before + open_response(state).text


def take_outputs(
    state: LoopState, outputs: Sequence[CallOutput], interrupt: Interrupt
) -> Observation:
    """Advance the chain to the open response, with one output for each of its calls. An accepted
    result ends the run, and so does Stop."""
    response = open_response(state)
    rejected = any(output.tool == COMPLETE and not output.ok for output in outputs)
    blocked = any(output.blocked for output in outputs)
    went_well = any(output.ok for output in outputs)
    # An invalid result alone is malformed output, not a failure of tools.
    malformed = not went_well and all(output.tool == COMPLETE for output in outputs)
    items: Items = tuple(output.item() for output in outputs)
    brought = (link for output in outputs for link in output.links)
    links = dict.fromkeys((*state.links, *response.links, *brought))
    new = [name for output in outputs for name in output.acquired]
    transition = Transition.FINAL_REJECTED if rejected else Transition.TOOLS_ANSWERED
    state = state.go(
        Transition.BLOCKED if blocked else transition,
        turn=state.turn - blocked,  # a hook's objection costs the model no turn
        sent_back=state.sent_back + blocked,
        **_chain_after(state, items),
        links=tuple(links),
        acquired=tuple(dict.fromkeys((*state.acquired, *new))),
        noted=without_left_out(state.noted, new),
        restart=next((output.restart for output in outputs if output.restart), ""),
        done=(*state.done, *(step for output in outputs for step in output.steps)),
        rehearsed=(*state.rehearsed, *(output.rehearsed for output in outputs if output.rehearsed)),
        unknown=(*state.unknown, *(output.step for output in outputs if output.unknown)),
        nudges=state.nudges if malformed else 0,
        first_text=state.first_text if malformed else "",
        malformed=state.malformed + 1 if malformed else 0,
        failed_turns=0 if went_well else state.failed_turns + (not malformed),
    )
    if final := next((output for output in outputs if output.result is not None), None):
        state = end_run(state, state.closing or final.ends or StopReason.COMPLETED, final.result)
    elif any(output.cancelled for output in outputs):
        state = end_run(state, interrupt.reason_or(StopReason.CANCELLED_TOOLS))
    elif response.incomplete:
        notes: Items = (prompts.note(prompts.CONTINUE),)
        return state.replace(pending=(*state.pending, *notes)), (*items, *notes)
    return state, items


async def result_in_text(
    state: LoopState, response_type: ResponseType, hooks: HookChain
) -> CallOutput | None:
    """Return the result in the text of the open response, as the output of a `complete_task` call:
    JSON of the response type, or as an `Answer` plain text with which the model ends its work. Text in
    reply to a nudge or to an objection is no answer: it may be about that."""
    response = open_response(state)
    if response.calls or response.refusal or response.unreadable or not response.text:
        return None
    result: BaseModel | None = None
    text = _text_so_far(state)
    with suppress(ValidationError):
        result = await response_type.parse(hooks.filled_json(json_in(text))[0])
    was_told = state.nudges or state.sent_back or state.force_finish
    is_answer = not (was_told or response.incomplete or announces_work(text))
    if result is None and is_answer and response_type.model is Answer:
        result = response_type.from_text(hooks.filled_text(text))
        result = result.model_copy(update={"confidence": "medium"})
    return CallOutput("", COMPLETE, "", result=result) if result else None


def take_text(
    state: LoopState,
    outputs: Sequence[CallOutput],
    response_type: ResponseType,
    interrupt: Interrupt,
) -> Observation:
    """End the run with a result in text, unless a hook blocks it. Answer any other text with one nudge
    towards `complete_task`, then force that call; if the model still returns text, end the run with
    the first text as a partial result."""
    first_text = state.first_text if state.nudges else _text_so_far(state)
    if open_response(state).unreadable:
        if state.nudges:
            return end_run(state, StopReason.MODEL_ERROR, error=_unreadable_calls()), ()
        first_text = ""
    for output in outputs:
        if output.result is not None:
            state = state.replace(**_chain_after(state, ()))
            reason = state.closing or output.ends or StopReason.COMPLETED
            return end_run(state, reason, output.result), ()
        if output.blocked:
            return _send_back(state, output.text)
    if any(output.cancelled for output in outputs):  # a stop came while it was judged
        state = state.replace(**_chain_after(state, ()))
        return end_run(state, interrupt.reason_or(StopReason.CANCELLED_TOOLS)), ()
    if state.force_finish:
        result = _from_text(state, response_type, first_text)
        state = state.replace(**_chain_after(state, ()))
        return end_run(state, state.closing or StopReason.MALFORMED_OUTPUT, result), ()
    is_call = open_response(state).unreadable
    notes: Items = (prompts.note(prompts.CALL_IN_TEXT if is_call else prompts.NUDGE),)
    nudged = state.go(
        Transition.FORCED if state.nudges else Transition.NUDGED,
        **_chain_after(state, notes),
        malformed=0,
        force_finish=bool(state.nudges),
        nudges=state.nudges + 1,
        first_text=first_text,
    )
    return nudged, notes


def _unreadable_calls() -> ModelError:
    return ModelError(
        ModelErrorKind.UNREADABLE_CALLS,
        "the server returned its model's calls as text, in a form that cannot be read",
    )


def _send_back(state: LoopState, why: str) -> Observation:
    notes: Items = (prompts.note(why),)
    blocked = state.go(
        Transition.BLOCKED,
        turn=state.turn - 1,
        sent_back=state.sent_back + 1,
        **_chain_after(state, notes),
    )
    return blocked, notes


def retry_empty(state: LoopState) -> Observation:
    """Ask again after a response without text and calls."""
    notes: Items = (prompts.note(prompts.EMPTY),)
    malformed = state.malformed + 1
    return state.go(Transition.MALFORMED, malformed=malformed, **_chain_after(state, notes)), notes


def close_response(
    state: LoopState,
    notes: Items,
    extra: Sequence[Item],
    response_type: ResponseType,
    most_malformed: int,
) -> Observation:
    """Close the open response; `extra` are messages of hooks for the next request. End the run after a
    last call without a result, and after more than `most_malformed` malformed responses in a row."""
    continued = state.continued if state.transition is Transition.CONTINUED else 0
    pending = (*state.pending, *extra)
    state = state.replace(open=None, pending=pending, continued=continued)
    is_last = state.closing is not None or state.malformed > most_malformed
    if is_last and not state.ending:
        state = end_without_result(state, response_type)
    return state, (*notes, *extra)


def open_response(state: LoopState) -> ModelResponse:
    """Return the response whose calls are not all answered. Raises ValueError when there is none."""
    if state.open is None:
        raise ValueError("the run has no response to work on")
    return state.open.response
