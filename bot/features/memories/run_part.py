"""What memories add to a run: the model is told them at the beginning of a conversation."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override

from bot.agent.prompts import data_message, saved_message
from bot.core.chain import Item
from bot.features.memories.scoped import ScopedMemories
from bot.runs.run import Run
from bot.runs.run_parts import RunPart
from bot.toolkit import Memory, MemoryScope

_MOST = 20
"""How many memories the model is told; it finds the others with a tool."""


class MemoriesPart(RunPart):
    """The part of one run.

    What the asker wrote for themselves is told as theirs. All other memories are data, because
    anybody or the model may have worded them.
    """

    def __init__(self, run: Run) -> None:
        self._memories = ScopedMemories.of(run.deps.stores)
        self._request = run.request

    @override
    async def opening(self) -> Sequence[Item]:
        memories = (await self._memories.known_to(self._request))[-_MOST:]
        data, own = (
            [f"- {m.text}" for m in memories if _is_own(m) is is_own] for is_own in (False, True)
        )
        return (
            *data_message("Remembered from other conversations", data),
            *saved_message(self._request.author, own),
        )


def _is_own(memory: Memory) -> bool:
    return memory.own_words and memory.scope is MemoryScope.USER
