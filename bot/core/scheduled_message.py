"""A message that Slack posts later for somebody."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from bot.core.ids import new_id
from bot.core.request import Redacted


class ScheduledMessage(BaseModel):
    """What `user` had scheduled in `channel` for `post_at` (seconds since the epoch). It is kept before
    Slack is asked; `slack_id` is what Slack calls it, empty where the reply never came."""

    model_config = ConfigDict(frozen=True)

    version: int = 1
    id: str = Field(default_factory=lambda: new_id("later", 6))
    team: str
    user: str
    channel: str
    text: Redacted
    post_at: int
    slack_id: str = ""
