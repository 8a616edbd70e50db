"""Partial results of a stopped run, for the person who stopped it."""

from __future__ import annotations

from bot.agent.state import LoopState
from bot.core.outcome import Outcome, RunStatus

_MOST_STEPS = 20


def with_partial_results(outcome: Outcome, state: LoopState) -> Outcome:
    """Return the outcome of a stopped run with its steps and the draft of its result.

    No model is called for them. Other outcomes are returned as they are.
    """
    if outcome.status is not RunStatus.CANCELLED:
        return outcome
    steps = state.done[-_MOST_STEPS:]
    found = [f"{each.title}: {each.detail}" if each.detail else each.title for each in steps]
    found += [f"{each.title}: this may have happened, so look first" for each in state.unknown]
    draft = state.ending.draft if state.ending else ""
    return outcome.model_copy(update={"found": tuple(found), "draft": draft})
