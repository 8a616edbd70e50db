"""Settings of Slack: tables of bot.toml."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class CatchUpSettings(BaseModel):
    """The `[catch_up]` table of bot.toml.

    `every_minutes` is the interval; 0 turns the search off. `look_back_minutes` is the maximum age
    of a question that is still answered.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    every_minutes: float = Field(default=3, ge=0, le=60)
    look_back_minutes: float = Field(default=60, gt=0, le=1440)
