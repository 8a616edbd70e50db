"""Settings of programs: `[programs]` in bot.toml."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class ProgramSettings(BaseModel):
    """What programs of the model may use.

    With `enabled = false` there are none. `at_once` run in one process of the bot at the same time,
    others wait; without it as many as the machine has memory for, at 2 GiB each (1 to 8). `seconds` is
    the time of one program.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = True
    at_once: int | None = Field(default=None, ge=1, le=64)
    seconds: float = Field(default=60.0, ge=5, le=600)
