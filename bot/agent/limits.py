"""Limits of a run."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Limits(BaseModel):
    """Limits of one run, `[limits]` in bot.toml. Times are in seconds, cost in dollars.

    Up to `listed_tools` tools are listed for the model with a line each. With more tools, the model
    sees their groups, can search them, and gets hints at a few that fit the request. `effort` is
    the number of tokens to spend before a result is accepted; None accepts the first. `deeper` is
    the same after *Go deeper*. `subagent_turns` limits one sub-agent, which shares all other limits
    with its run.
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
