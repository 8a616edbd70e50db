"""Outcomes: the end of a run as data that any process can post, with what people read about it."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from pydantic import BaseModel, ValidationError

from bot.agent.calls.outputs import Step
from bot.agent.events import RunEnded
from bot.agent.state import LoopState
from bot.core.answers import Chart, stored_name
from bot.core.context import RequestContext
from bot.core.errors import ModelError, ModelErrorKind, ToolError
from bot.core.links import written_links
from bot.core.outcome import Outcome, RunStatus, StopReason, Totals
from bot.core.request import Request
from bot.text.redaction import redacted
from bot.text.translation import Text
from bot.toolkit.provided.artifacts import Artifacts

_NARROWER = Text("Ask a narrower question.")
_CUT_SHORT = {
    StopReason.MAX_TURNS: (Text("I used up the steps I may take for one question"), _NARROWER),
    StopReason.TOKEN_BUDGET: (Text("I used up the token budget for one question"), _NARROWER),
    StopReason.COST_BUDGET: (Text("I used up the money budget for one question"), _NARROWER),
    StopReason.RUN_TIMEOUT: (Text("I ran out of time"), _NARROWER),
    StopReason.TURN_TIMEOUT: (
        Text("The model took too long to respond"),
        Text(
            "Retry, or ask a narrower question. Your bot's operator can allow more time: [limits] "
            "turn_seconds."
        ),
    ),
    StopReason.PAUSED: (Text("I was paused"), Text("Retry when I am back.")),
    StopReason.CONTEXT_FULL: (
        Text("This thread has become too long for me"),
        Text("Start a new one for the next question."),
    ),
    StopReason.TOOL_ERRORS: (
        Text("My tools kept failing"),
        Text("Retry, or put the question another way."),
    ),
    StopReason.MALFORMED_OUTPUT: (
        Text("I could not put this into the usual format"),
        Text("Retrying may help."),
    ),
}

_BY_REASON = {
    StopReason.DIMINISHING_RETURNS: Text("I stopped because further steps found nothing new."),
    StopReason.PROMPT_TOO_LONG: Text(
        "This is more than I can read at once. Start a new thread, or ask about a smaller part."
    ),
    StopReason.STOP_HOOK: Text(
        "A check found this answer incomplete, so check it before you rely on it."
    ),
    StopReason.CANCELLED_STREAMING: Text("Stopped."),
    StopReason.CANCELLED_TOOLS: Text("Stopped."),
    StopReason.REFUSED: Text("The model declined to answer this. Put the question another way."),
    StopReason.CONTENT_FILTER: Text(
        "The model's content filter stopped this answer. Put the question another way."
    ),
    StopReason.INTERNAL_ERROR: Text(
        "Something went wrong on my side. Please retry. If it happens again, tell your bot's "
        "operator: the log has the details."
    ),
}

_AWAY = Text("The model service is overloaded or cannot be reached. Please retry in a minute.")
_BY_KIND = {
    ModelErrorKind.OVERLOADED: _AWAY,
    ModelErrorKind.UNREACHABLE: _AWAY,
    ModelErrorKind.INTERRUPTED: Text(
        "The connection to the model service broke several times. Please retry in a minute."
    ),
    ModelErrorKind.QUOTA: Text("The model service's quota is used up. Tell your bot's operator."),
    ModelErrorKind.AUTHENTICATION: Text(
        "The model service does not accept my key. Tell your bot's operator."
    ),
    ModelErrorKind.POLICY: Text("The model service refused this question. Put it another way."),
    ModelErrorKind.CONTEXT_OVERFLOW: _BY_REASON[StopReason.PROMPT_TOO_LONG],
    ModelErrorKind.MISSING_PARENT: Text(
        "The model service no longer has this conversation. Ask in a new thread."
    ),
    ModelErrorKind.NO_RESPONSES_API: Text(
        "The configured model server has no Responses API. Tell your bot's operator to check "
        "OPENAI_BASE_URL. It usually ends in /v1. For a Chat Completions server, put LiteLLM in "
        "front. Run `bot doctor`."
    ),
    ModelErrorKind.MISSING_MODEL: Text(
        "The model service does not have the model I am set to use. Tell your bot's operator."
    ),
    ModelErrorKind.UNREADABLE_CALLS: Text(
        "The model server does not understand its model's tool calls. Tell your bot's operator to "
        "run `bot doctor`."
    ),
    ModelErrorKind.BAD_REQUEST: Text(
        "The model server refused the request. Tell your bot's operator: the log and `bot doctor` "
        "say why."
    ),
}

_NO_ANSWER = Text("{cause}, so I have no answer yet.")
_WITH_CARE = Text("{cause}, so check this answer before you rely on it.")
_NOT_EVERYTHING = Text("{cause}, so this answer is not complete.")
_DONE = Text("What I did: {steps}.")


CauseAndAdvice = tuple[str, str]
"""The cause that cut a run short, and advice about it, each as words for people."""


def explain(
    reason: StopReason,
    error: ModelError | None,
    done: tuple[str, ...],
    *,
    result: bool,
    cut_short: CauseAndAdvice | None = None,
) -> str:
    """Return the explanation of an ending for people; "" when there is nothing to explain.

    `result` says whether the run has a result to show; without one, the explanation lists `done`,
    the steps that succeeded. `cut_short` replaces the usual cause and advice for the reason.
    """
    if cut_short is None and (known := _CUT_SHORT.get(reason)):
        cause, advice = known
        cut_short = cause(), advice()
    if error and not cut_short:  # a run that was cut short had ended before the service failed
        sentence = _BY_KIND[error.kind]()
    else:
        sentence = _sentence(reason, cut_short, result=result)
    if result or not done:
        return sentence
    return f"{sentence} {_DONE(steps='; '.join(dict.fromkeys(done)))}"


def _sentence(reason: StopReason, cut_short: CauseAndAdvice | None, *, result: bool) -> str:
    if cut_short is None:
        text = _BY_REASON.get(reason)
        return text() if text else ""
    cause, advice = cut_short
    if not result:
        return f"{_NO_ANSWER(cause=cause)} {advice}"
    # A malformed result is complete, only not in the usual form.
    text = _WITH_CARE if reason is StopReason.MALFORMED_OUTPUT else _NOT_EVERYTHING
    return f"{text(cause=cause)} {advice}"


_MOST_FINDINGS = 12
_CHANGE_MADE = Text("Done: {title}")
_PERHAPS = Text("{title}: this may be done already, so check first")


def with_partial_results(
    outcome: Outcome, state: LoopState, is_change: Callable[[str], bool]
) -> Outcome:
    """Return the outcome of a stopped run with what it had found and changed, and its result's draft.

    `is_change` says whether a tool, by its name, changes something. No model is called. Other
    outcomes are returned as they are.
    """
    if outcome.status is not RunStatus.CANCELLED:
        return outcome
    lines = [_finding(step, is_change=is_change(step.tool)) for step in state.done]
    findings = [*dict.fromkeys(filter(None, lines))][-_MOST_FINDINGS:]
    findings += [_PERHAPS(title=step.title) for step in state.unknown]
    draft = state.ending.draft if state.ending else ""
    return outcome.model_copy(update={"found": tuple(findings), "draft": draft})


def _finding(step: Step, *, is_change: bool) -> str:
    """Return what the step found, and where; for a change that it was made; else ""."""
    if is_change:
        return _CHANGE_MADE(title=step.title)
    return f"{step.detail} ({step.title})" if step.detail else ""


log = logging.getLogger(__name__)

_UNKNOWN_CHANGES = Text("I do not know whether this was done, so check first: {titles}.")


async def outcome_of(
    ended: RunEnded, context: RequestContext, artifacts: Artifacts, joined: Sequence[Request] = ()
) -> Outcome:
    """Return the outcome of a run that ended in the loop; `joined` are the requests that joined it."""
    request, state = context.request, ended.state
    # The outcome of a stopped run lists its steps instead (see `partial_results`).
    done = () if ended.status is RunStatus.CANCELLED else ended.done
    return Outcome(
        run_id=context.run_id,
        status=ended.status,
        stop_reason=ended.stop_reason,
        error=ended.error.kind if ended.error else None,
        response_type=stored_name(type(ended.result)) if ended.result else request.response_type,
        result=ended.result.model_dump(mode="json") if ended.result else None,
        note=_with_unknown_changes(
            explain(ended.stop_reason, ended.error, done, result=ended.result is not None), ended
        ),
        totals=_totals(state, request, context.model),
        links=frozenset((*state.links, *written_links(request, *joined))),
        charts=await _charts(ended.result, artifacts),
        rehearsed=state.rehearsed,
    )


def _with_unknown_changes(note: str, ended: RunEnded) -> str:
    """Return `note` with the changes whose effect is unknown.

    A complete answer names them itself, and a stopped run lists them with its steps.
    """
    if ended.status in (RunStatus.SUCCESS, RunStatus.CANCELLED):
        return note
    return _add_unknown_changes(note, [step.title for step in ended.state.unknown])


def _add_unknown_changes(note: str, changes: Sequence[str]) -> str:
    doubt = _UNKNOWN_CHANGES(titles=", ".join(changes))
    return f"{note} {doubt}".strip() if changes else note


def without_secrets(outcome: Outcome) -> Outcome:
    """Return `outcome` with secrets redacted, so that it may be stored and shown."""
    return outcome.map_texts(redacted)


def internal_failure(request: Request, run_id: str, state: LoopState, model: str = "") -> Outcome:
    """Return the outcome of a run that failed with a bug, or that killed too many workers.

    `state` is its last save point: the outcome lists the steps done until then.
    """
    done = tuple(step.title for step in steps_of(state))
    note = explain(StopReason.INTERNAL_ERROR, None, done, result=False)
    begun = [name.replace("_", " ") for name in begun_tools(state)]
    note = _add_unknown_changes(note, [*(step.title for step in state.unknown), *begun])
    return Outcome(
        run_id=run_id,
        status=RunStatus.FAILED,
        stop_reason=StopReason.INTERNAL_ERROR,
        response_type=request.response_type,
        note=note,
        rehearsed=state.rehearsed,
        totals=_totals(state, request, model),
    )


def steps_of(state: LoopState) -> tuple[Step, ...]:
    """Return the tool calls that succeeded, including those of the open response."""
    outputs = state.open.outputs if state.open else ()
    return (*state.done, *(step for output in outputs for step in output.steps))


def begun_tools(state: LoopState) -> list[str]:
    """Return the names of tools whose change began and whose effect is unknown."""
    if state.open is None:
        return []
    answered = {output.call_id for output in state.open.outputs}
    unknown = {*state.open.begun} - answered
    return [call["name"] for call in state.open.response.calls if call["call_id"] in unknown]


def not_admitted(request: Request, run_id: str, reason: StopReason) -> Outcome:
    """Return the outcome of a run that may not begin: no model was called."""
    return Outcome(
        run_id=run_id,
        status=RunStatus.FAILED,
        stop_reason=reason,
        response_type=request.response_type,
        totals=Totals(cost=0.0, seconds=_seconds(request)),
    )


def _totals(state: LoopState, request: Request, model: str) -> Totals:
    return Totals(
        model=model,
        turns=state.turn + state.sent_back,
        tool_calls=state.tool_calls,
        tools=Counter(step.tool for step in steps_of(state)),
        input_tokens=state.usage.input_tokens,
        cached_tokens=state.usage.cached_tokens,
        output_tokens=state.usage.output_tokens,
        cost=state.cost,
        seconds=_seconds(request),
    )


def _seconds(request: Request) -> float:
    return (datetime.now(UTC) - request.received_at).total_seconds()


async def _charts(result: BaseModel | None, artifacts: Artifacts) -> dict[str, Chart]:
    """Return the charts that a result names, without missing ones: the rest is still useful."""
    charts: dict[str, Chart] = {}
    for handle in getattr(result, "charts", ()):
        try:
            charts[handle] = Chart.model_validate_json(await artifacts.read(handle))
        except (ToolError, ValidationError):
            log.warning("the answer names a chart that does not exist")
    return charts
