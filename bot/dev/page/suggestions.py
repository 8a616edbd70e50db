"""What the composer completes that stays the same as long as the page is open."""

from collections.abc import Sequence
from typing import Any

from bot.dev.page.render.emoji import EMOJI

Json = dict[str, Any]


def suggestions(commands: Sequence[Json]) -> Json:
    """Slash commands after "/", emoji by name."""
    return {"commands": list(commands), "emoji": list(EMOJI.items())}
