"""The memory service for tools: facts that are kept from one thread to another."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

from bot.core.ids import new_id


class MemoryScope(StrEnum):
    """Whose requests a memory applies to."""

    USER = "user"
    CHANNEL = "channel"
    WORKSPACE = "workspace"


class Memory(BaseModel):
    """A fact to remember; `by` is the id of the user who asked the bot to remember it.

    With `own_words` they wrote the text themselves, and the model copied it.
    """

    model_config = ConfigDict(frozen=True)

    version: int = 1
    id: str = Field(default_factory=lambda: new_id("mem"))
    scope: MemoryScope
    text: str
    by: str
    own_words: bool = False
    at: datetime = Field(default_factory=lambda: datetime.now(UTC))


class Memories(Protocol):
    """The memories that may be shown in the conversation of the current request.

    These are the memories of the channel and the workspace, and the asker's own memories where
    nobody else reads the answer. Methods raise ToolError with a sentence that the model can act on.
    """

    async def remember(self, text: str, scope: MemoryScope) -> Memory:
        """Save a fact for the asker, the channel or the whole workspace."""

    async def wish(self, text: str) -> str:
        """Add to the asker's answer style, which holds for all their questions, and return the id of
        the wish. Only words that the asker wrote in this request are taken."""

    async def recall(self) -> list[Memory]:
        """Return these memories, oldest first; where nobody else reads the answer, also the wishes."""

    async def forget(self, memory_id: str) -> Memory:
        """Delete a memory that the asker saved, or one of their wishes, and return it."""

    async def forget_anybodys(self, memory_id: str, *, text: str) -> None:
        """Delete a memory that anybody saved. `text` is its text, which approvers see."""
