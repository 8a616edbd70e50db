"""Blocks, checked."""

from bot.local.workspace.state import Json


def check_blocks(blocks: list[Json]) -> None:
    """Raises SlackFault invalid_blocks."""


def check_view(view: Json, kind: str) -> None:
    """Raises SlackFault invalid_arguments."""
