"""Outcomes: the end of a run as data that any process can post."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from pydantic import BaseModel, ValidationError

from bot.agent.calls.outputs import Step
from bot.agent.events import RunEnded
from bot.agent.state import LoopState
from bot.core.answers import Chart, stored_name
from bot.core.context import RequestContext
from bot.core.errors import ToolError
from bot.core.links import written_links
from bot.core.outcome import Outcome, RunStatus, StopReason, Totals
from bot.core.request import Request
from bot.runs.endings import explain
from bot.text.redaction import redacted
from bot.text.translation import Text
from bot.toolkit.provided.artifacts import Artifacts

log = logging.getLogger(__name__)

_UNKNOWN_CHANGES = Text("I do not know whether this was done, so look first: {titles}.")


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
