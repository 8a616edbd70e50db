"""Memories: facts that people asked the bot to remember."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from bot.core.ids import new_id


class MemoryScope(StrEnum):
    """Whose requests a memory applies to."""

    USER = "user"
    CHANNEL = "channel"
    WORKSPACE = "workspace"


class Memory(BaseModel):
    """A fact to remember; `by` is the id of the user who asked the bot to remember it."""

    model_config = ConfigDict(frozen=True)

    version: int = 1
    id: str = Field(default_factory=lambda: new_id("mem"))
    scope: MemoryScope
    text: str
    by: str
    at: datetime = Field(default_factory=lambda: datetime.now(UTC))
