"""How far a run may go."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Limits(BaseModel):
    """Bounds on one run; settable in `[limits]` of bot.toml. Times in seconds, cost in dollars.

    `listed_tools` is how many tools the model is shown a line of each; where there are more, it is
    shown their groups, can search them, and is told of a few that fit the request. `effort`, in tokens,
    is what should be spent before a result is taken; None takes the first. `deeper` is the same for
    a request whose asker wants more work put into it. `subagent_turns` are those of one sub-agent;
    all else it shares with its run.
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
