"""The feature: people have the bot remember facts, and see and forget theirs in the Home tab."""

from __future__ import annotations

from bot.features import Feature, ServiceDeps
from bot.features.memories.home import MemoriesHome
from bot.features.memories.run_part import MemoriesPart
from bot.features.memories.scoped import ScopedMemories
from bot.store.families import Family
from bot.toolkit import Memories


def memories() -> Feature:
    """Return the feature."""
    return Feature(
        "memories",
        stored=(Family("memories", "hash", grows=True),),
        services={Memories: _service},
        run_part=MemoriesPart,
        slack_part=MemoriesHome,
    )


def _service(deps: ServiceDeps) -> Memories:
    return ScopedMemories.of(deps.stores)
