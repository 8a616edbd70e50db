"""Partial results of a stopped run, for the person who stopped it."""

from __future__ import annotations

from collections.abc import Callable

from bot.agent.calls.outputs import Step
from bot.agent.state import LoopState
from bot.core.outcome import Outcome, RunStatus
from bot.text.translation import Text

_MOST_FOUND = 12
_DONE = Text("Done: {title}")
_PERHAPS = Text("{title}: this may have happened, so look first")


def with_partial_results(
    outcome: Outcome, state: LoopState, is_change: Callable[[str], bool]
) -> Outcome:
    """Return the outcome of a stopped run with what it had found and changed, and its result's draft.

    `is_change` says whether a tool, by its name, changes something. No model is called. Other
    outcomes are returned as they are.
    """
    if outcome.status is not RunStatus.CANCELLED:
        return outcome
    lines = [_line(step, is_change=is_change(step.tool)) for step in state.done]
    found = [*dict.fromkeys(filter(None, lines))][-_MOST_FOUND:]
    found += [_PERHAPS(title=each.title) for each in state.unknown]
    draft = state.ending.draft if state.ending else ""
    return outcome.model_copy(update={"found": tuple(found), "draft": draft})


def _line(step: Step, *, is_change: bool) -> str:
    """Return what the step found, and where; for a change that it was made; else ""."""
    if is_change:
        return _DONE(title=step.title)
    return f"{step.detail} ({step.title})" if step.detail else ""
