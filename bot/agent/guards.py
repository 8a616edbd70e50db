"""Guards: the limits of a run, checked before each call in a fixed order."""

from __future__ import annotations

from dataclasses import dataclass

from bot.agent.limits import Limits
from bot.agent.state import LoopState
from bot.core.budgets import billed_tokens
from bot.core.outcome import StopReason


@dataclass(frozen=True, slots=True)
class Gauge:
    """The used share of each limit of a run (1 is all of it)."""

    turns: float
    time: float
    tokens: float
    cost: float

    @property
    def fullest(self) -> tuple[str, float]:
        """The limit that will trip first, and its share."""
        shares = {
            "turns": self.turns,
            "time": self.time,
            "tokens": self.tokens,
            "money": self.cost,
        }
        return max(shares.items(), key=lambda each: each[1])


def gauge(state: LoopState, limits: Limits, *, elapsed: float) -> Gauge:
    """Return the gauge of a run on which `elapsed` seconds were spent."""
    return Gauge(
        turns=state.turn / limits.turns,
        time=elapsed / limits.run_seconds,
        tokens=billed_tokens(state.usage) / limits.tokens,
        cost=(state.cost or 0.0) / limits.cost if limits.cost else 0.0,
    )


def usage_ratio(state: LoopState, window: int) -> float:
    """Return the share of the model's input limit that the chain fills (1 is all of it)."""
    if not window:
        return 0.0
    return (state.last_usage.input_tokens + state.last_usage.output_tokens) / window


def tripped(used: Gauge, state: LoopState, limits: Limits, *, is_full: bool) -> StopReason | None:
    """Return the reason of the first guard that has tripped, None without one.

    The limit of turns trips before the last allowed turn. `is_full` says that the context is still
    full after compaction.
    """
    checks = (
        (state.turn >= limits.turns - 1, StopReason.MAX_TURNS),
        (used.time >= 1, StopReason.RUN_TIMEOUT),
        (used.tokens >= 1, StopReason.TOKEN_BUDGET),
        (used.cost >= 1, StopReason.COST_BUDGET),
        (is_full, StopReason.CONTEXT_FULL),
        (state.failed_turns > limits.failed_turns, StopReason.TOOL_ERRORS),
    )
    return next((reason for failed, reason in checks if failed), None)
