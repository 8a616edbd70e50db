"""What a run does when a call brings no response, or the conversation grows too long.

Each remedy is used once, or once per model, so that none is tried for ever.
"""

from __future__ import annotations

from bot.agent.compaction import compacted
from bot.agent.events import Recorded
from bot.agent.guards import usage_ratio
from bot.agent.observe import close
from bot.agent.phases import Heard, Phases
from bot.agent.state import LoopState, Transition
from bot.agent.window import active, portable
from bot.core.chain import NO_USAGE
from bot.core.errors import ModelErrorKind


async def recovered(this: Phases, state: LoopState, heard: Heard) -> Recorded | None:
    """Where the run goes on after a failed call, to be kept; None when it must end.

    A lost chain is rebuilt (B8), a conversation that does not fit is shortened (E4), an
    overloaded model is left for the next (H3), and time that is up leaves one last call (C6).
    """
    kind = heard.error.kind if heard.error else None
    if kind is ModelErrorKind.MISSING_PARENT and not state.rebuilt:
        return await _rebuilt(this, state)
    if kind is ModelErrorKind.CONTEXT_OVERFLOW and not state.overflowed:
        return await shortened(this, state.go(state.transition, overflowed=True))
    if kind is ModelErrorKind.OVERLOADED and state.fallback + 1 < len(this.parts.models):
        next_model = state.go(Transition.FELL_BACK, fallback=state.fallback + 1)
        return this.tombstone(next_model, heard.partial)
    if heard.timed_out and not state.closing:
        closing, notes = close(state, heard.stop)
        return this.recorded(closing, notes)
    return None


def is_long(this: Phases, state: LoopState) -> bool:
    """Whether the conversation should be shortened before the next call (E3)."""
    ratio = usage_ratio(state, this.window_size(state))
    return not state.closing and ratio >= this.parts.limits.compact_at


async def shortened(this: Phases, state: LoopState) -> Recorded | None:
    """A fresh chain with a summary in the place of what came before; None if that is nothing."""
    items = active(await this.parts.history())
    short = await compacted(items, this.parts.model, this.model(state))
    if short is None:
        return None
    fresh = this.spend(state, short.usage).go(
        Transition.COMPACTED, parent=None, pending=short.items, last_usage=NO_USAGE
    )
    return this.recorded(fresh, short.items, checkpoint=True)


async def _rebuilt(this: Phases, state: LoopState) -> Recorded | None:
    items = portable(active(await this.parts.history()))
    if not items:
        return None
    fresh = state.go(Transition.REBUILT, parent=None, pending=items, rebuilt=True)
    return this.recorded(fresh, items, checkpoint=True)
