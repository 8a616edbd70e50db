"""What is remembered from one thread to another, as tools see it."""

from __future__ import annotations

from typing import Protocol

from bot.core.memory import Memory, MemoryScope


class Memories(Protocol):
    """The memories that may be told of where the current request was made: those of the channel and
    the workspace, and the person's own where nobody else reads the answer. Methods raise ToolError
    with a sentence the model can act on."""

    async def remember(self, text: str, scope: MemoryScope) -> Memory:
        """Keep something for the person who asked, for the channel, or for everybody."""

    async def recall(self) -> list[Memory]:
        """All of them, oldest first."""

    async def forget(self, memory_id: str) -> Memory:
        """Forget one that the person who asked had remembered."""

    async def forget_anybodys(self, memory_id: str, *, text: str) -> None:
        """Forget one, whoever had it remembered; `text` is what it says, for whoever approves it."""
