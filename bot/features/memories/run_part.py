"""What memories add to a run: the model is told them at the beginning of a conversation."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override

from bot.agent.prompts import data_message
from bot.core.chain import Item
from bot.features.memories.scoped import ScopedMemories
from bot.features.memories.store import MemoryStore
from bot.runs.run import Run
from bot.runs.run_parts import RunPart

_MOST = 20
"""How many memories the model is told; it finds the others with a tool."""


class MemoriesPart(RunPart):
    """The part of one run. Memories are told as data, because anybody may have written them."""

    def __init__(self, run: Run) -> None:
        self._memories = ScopedMemories(MemoryStore.of(run.deps.stores))
        self._request = run.request

    @override
    async def opening(self) -> Sequence[Item]:
        memories = await self._memories.known_to(self._request)
        lines = [f"- {memory.text}" for memory in memories[-_MOST:]]
        return data_message("Remembered from other conversations", lines)
