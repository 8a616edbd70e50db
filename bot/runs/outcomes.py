"""From the last event of a run to an outcome that any process can post."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from datetime import UTC, datetime

from pydantic import BaseModel, ValidationError

from bot.agent.calls.outputs import Step
from bot.agent.events import RunEnded
from bot.agent.state import LoopState
from bot.core.answers import Chart, stored_name
from bot.core.context import RequestContext
from bot.core.errors import ToolError
from bot.core.outcome import Outcome, Rehearsal, RunStatus, StopReason, Totals
from bot.core.request import Request
from bot.core.text.redaction import redacted, redacted_all
from bot.runs.endings import explain
from bot.toolkit.artifacts import Artifacts

log = logging.getLogger(__name__)

_LINK = re.compile(r"https?://[^\s<>\"'`|)\]]+")


async def outcome_of(
    ended: RunEnded, context: RequestContext, artifacts: Artifacts, joined: Sequence[Request] = ()
) -> Outcome:
    """What is posted and kept of a run that ended in the loop, and that `joined` became part of."""
    request, state = context.request, ended.state
    # What a person stopped is listed step by step instead (see `findings`).
    done = () if ended.status is RunStatus.CANCELLED else ended.done
    return Outcome(
        run_id=context.run_id,
        status=ended.status,
        stop_reason=ended.stop_reason,
        error=ended.error.kind if ended.error else None,
        response_type=stored_name(type(ended.result)) if ended.result else request.response_type,
        result=ended.result.model_dump(mode="json") if ended.result else None,
        note=_with_doubts(
            explain(ended.stop_reason, ended.error, done, result=ended.result is not None), ended
        ),
        totals=_totals(state, request, context.model),
        links=frozenset((*state.links, *written_links(request, *joined))),
        charts=await _charts(ended.result, artifacts),
        rehearsed=state.rehearsed,
    )


def _with_doubts(note: str, ended: RunEnded) -> str:
    """Return `note` with the changes of which nobody knows whether they were made. A whole answer
    says it itself, and a run that was stopped lists them with its steps."""
    if ended.status in (RunStatus.SUCCESS, RunStatus.CANCELLED):
        return note
    return _doubted(note, [step.title for step in ended.state.unknown])


def _doubted(note: str, changes: Sequence[str]) -> str:
    doubt = f"I do not know whether this was done, so look first: {', '.join(changes)}."
    return f"{note} {doubt}".strip() if changes else note


def without_secrets(outcome: Outcome) -> Outcome:
    """`outcome` as it may be kept and shown, whoever wrote what stands in it."""
    changes = {
        "result": redacted_all(outcome.result),
        "note": redacted(outcome.note),
        "found": tuple(map(redacted, outcome.found)),
        "draft": redacted(outcome.draft),
        "called_off": tuple(map(redacted, outcome.called_off)),
        "rehearsed": tuple(map(_without_secrets, outcome.rehearsed)),
    }
    return outcome.model_copy(update=changes)


def _without_secrets(call: Rehearsal) -> Rehearsal:
    changes = {"title": redacted(call.title), "arguments": redacted_all(call.arguments)}
    return call.model_copy(update=changes)


def broken(request: Request, run_id: str, state: LoopState, model: str = "") -> Outcome:
    """Return the end of a run that met a bug of ours, or that no worker survived: with what it had
    done up to `state`, its last save point."""
    done = tuple(step.title for step in steps_of(state))
    note = explain(StopReason.INTERNAL_ERROR, None, done, result=False)
    begun = [name.replace("_", " ") for name in begun_tools(state)]
    note = _doubted(note, [*(step.title for step in state.unknown), *begun])
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
    """Return the calls that went well, those of the response in hand included."""
    outputs = state.open.outputs if state.open else ()
    return (*state.done, *(step for output in outputs for step in output.steps))


def begun_tools(state: LoopState) -> list[str]:
    """Return the tools that change something and were begun, and of which nobody knows how they ended."""
    if state.open is None:
        return []
    answered = {output.call_id for output in state.open.outputs}
    unknown = {*state.open.begun} - answered
    return [call["name"] for call in state.open.response.calls if call["call_id"] in unknown]


def refused(request: Request, run_id: str, reason: StopReason) -> Outcome:
    """The end of a run that may not begin: no model was asked."""
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
        input_tokens=state.usage.input_tokens,
        cached_tokens=state.usage.cached_tokens,
        output_tokens=state.usage.output_tokens,
        cost=state.cost,
        seconds=_seconds(request),
    )


def _seconds(request: Request) -> float:
    return (datetime.now(UTC) - request.received_at).total_seconds()


def _links(text: str) -> list[str]:
    return [found.rstrip(".,;:!?") for found in _LINK.findall(text)]


def written_links(*requests: Request) -> list[str]:
    """The addresses that people wrote in requests; they may be posted again."""
    texts = (("" if each.suggested else each.text, each.quoted) for each in requests)
    return [link for each in texts for text in each for link in _links(text)]


async def _charts(result: BaseModel | None, artifacts: Artifacts) -> dict[str, Chart]:
    """The charts that a result names. One that is not there is left out: the rest still stands."""
    charts: dict[str, Chart] = {}
    for handle in getattr(result, "charts", ()):
        try:
            charts[handle] = Chart.model_validate_json(await artifacts.read(handle))
        except (ToolError, ValidationError):
            log.warning("the answer names a chart that is not there")
    return charts
