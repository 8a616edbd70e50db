"""Scheduled messages: messages that Slack posts later on behalf of a person."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from bot.core.ids import new_id
from bot.core.request import Redacted


class ScheduledMessage(BaseModel):
    """A message that Slack posts in `channel` at `post_at` (seconds since the epoch).

    The store keeps it before the call to Slack. `slack_id` is Slack's id, "" when no reply came.
    """

    model_config = ConfigDict(frozen=True)

    version: int = 1
    id: str = Field(default_factory=lambda: new_id("later", 6))
    team: str
    user: str
    channel: str
    text: Redacted
    post_at: int
    slack_id: str = ""
