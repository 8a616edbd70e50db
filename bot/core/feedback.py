"""Feedback: how people rate an answer."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Feedback(BaseModel):
    """One person's rating of one run. `message` is the ts of the answer, "" when unknown."""

    model_config = ConfigDict(frozen=True)

    version: int = 1
    run_id: str = Field(pattern=r"^run_\w{1,40}$")
    user: str
    verdict: Literal["good", "bad"]
    team: str
    channel: str
    message: str = ""
    comment: str = ""
    at: datetime = Field(default_factory=lambda: datetime.now(UTC))
