"""What a stopped run had found out, for the person who stopped it."""

from __future__ import annotations

from bot.agent.state import LoopState
from bot.core.outcome import Outcome, RunStatus

_MOST_STEPS = 20


def with_findings(outcome: Outcome, state: LoopState) -> Outcome:
    """Return `outcome` with the steps of the run and the beginning of its result, if a person
    stopped it; no model is asked for them (C6)."""
    if outcome.status is not RunStatus.CANCELLED:
        return outcome
    steps = state.done[-_MOST_STEPS:]
    found = [f"{each.title}: {each.detail}" if each.detail else each.title for each in steps]
    found += [f"{each.title}: this may have happened, so look first" for each in state.unknown]
    draft = state.ending.draft if state.ending else ""
    return outcome.model_copy(update={"found": tuple(found), "draft": draft})
