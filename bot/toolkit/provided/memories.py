"""The memory service for tools: facts that are kept from one thread to another."""

from __future__ import annotations

from typing import Protocol

from bot.core.memory import Memory, MemoryScope


class Memories(Protocol):
    """The memories that may be shown in the conversation of the current request.

    These are the memories of the channel and the workspace, and the asker's own memories where
    nobody else reads the answer. Methods raise ToolError with a sentence that the model can act on.
    """

    async def remember(self, text: str, scope: MemoryScope) -> Memory:
        """Save a fact for the asker, the channel or the whole workspace."""

    async def recall(self) -> list[Memory]:
        """Return these memories, oldest first."""

    async def forget(self, memory_id: str) -> Memory:
        """Delete a memory that the asker saved, and return it."""

    async def forget_anybodys(self, memory_id: str, *, text: str) -> None:
        """Delete a memory that anybody saved. `text` is its text, which approvers see."""
