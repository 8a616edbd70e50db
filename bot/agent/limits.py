"""Limits of a run: the settings, the guards that check them before each call, and what is done when
the context fills up."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from bot.core.budgets import billed_tokens
from bot.core.outcome import StopReason

if TYPE_CHECKING:
    from bot.agent.state import LoopState
    from bot.core.chain import Usage


class Limits(BaseModel):
    """Limits of one run, `[limits]` in bot.toml. Times are in seconds, cost in dollars.

    Up to `listed_tools` tools are listed for the model by name, and run when it calls them. With more
    tools, the model sees how many each group has, and searches them. `effort` is the number of
    tokens to spend before a result is accepted; None accepts the first. `deeper` is the same after
    *Look deeper*. `subagent_turns` limits one sub-agent, which shares all other limits with its run.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    turns: int = Field(default=20, ge=1)
    run_seconds: float = Field(default=300, gt=0)
    turn_seconds: float = Field(default=120, gt=0)
    tokens: int = Field(default=100_000, ge=1)
    cost: float | None = Field(default=1.0, gt=0)
    effort: int | None = Field(default=None, ge=1)
    deeper: int = Field(default=40_000, ge=0)
    context_ratio: float = Field(default=0.95, gt=0, le=1)
    malformed: int = Field(default=3, ge=1)
    failed_turns: int = Field(default=3, ge=1)
    calls_per_turn: int = Field(default=32, ge=1)
    parallel_calls: int = Field(default=4, ge=1)
    tool_output: int = Field(default=20_000, ge=500)
    subagent_turns: int = Field(default=80, ge=1)
    listed_tools: int = Field(default=100, ge=0)
    compact_at: float = Field(default=0.75, gt=0, le=1)
    warn_at: float = Field(default=0.75, gt=0, lt=1)


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


def usage_ratio(usage: Usage, window: int) -> float:
    """Return the share of the model's input limit that the chain fills after a response (1 is all)."""
    return (usage.input_tokens + usage.output_tokens) / window if window else 0.0


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
