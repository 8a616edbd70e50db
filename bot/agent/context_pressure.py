"""The decision about a context that fills up: offer a checkpoint, compact, or close the run.

From 75 % on the model is offered a checkpoint, because it knows best what its recent results are
for. The conversation is compacted where a checkpoint cannot be offered, after an offer that was
ignored, and from 85 % on in any case. A run is closed only if its context stays full after that.
"""

from __future__ import annotations

from enum import StrEnum

from bot.agent.limits import Limits
from bot.agent.state import LoopState

_NO_ROOM_TO_WAIT = 0.85
_TURNS_LEFT = 0.5


class ContextAction(StrEnum):
    """The action before the next call."""

    NOTHING = "nothing"
    OFFER = "offer"  # a checkpoint, with the next call
    COMPACT = "compact"
    CLOSE = "close"  # one last call


def context_action(ratio: float, state: LoopState, limits: Limits) -> ContextAction:
    """Return what to do when the chain fills `ratio` of the model's input limit."""
    if state.closing or ratio < min(limits.compact_at, limits.context_ratio):
        return ContextAction.NOTHING
    if ratio >= limits.context_ratio and state.compacted:
        return ContextAction.CLOSE
    may_offer = state.task is not None and not state.force_finish and not state.checkpoint_offered
    enough_turns = limits.turns - state.turn > _TURNS_LEFT * limits.turns
    if may_offer and enough_turns and ratio < _NO_ROOM_TO_WAIT:
        return ContextAction.OFFER
    return ContextAction.COMPACT
