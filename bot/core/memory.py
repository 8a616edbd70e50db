"""What people had the bot remember."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from bot.core.ids import new_id


class MemoryScope(StrEnum):
    """For whom something is remembered."""

    USER = "user"
    CHANNEL = "channel"
    WORKSPACE = "workspace"


class Memory(BaseModel):
    """One thing that is remembered; `by` is the id of the person who had it remembered."""

    model_config = ConfigDict(frozen=True)

    version: int = 1
    id: str = Field(default_factory=lambda: new_id("mem"))
    scope: MemoryScope
    text: str
    by: str
    at: datetime = Field(default_factory=lambda: datetime.now(UTC))
