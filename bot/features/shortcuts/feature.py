"""The feature: people ask with shortcuts, about a message or from anywhere."""

from __future__ import annotations

from bot.features import Feature
from bot.features.shortcuts.slack_part import ShortcutsPart


def shortcuts() -> Feature:
    """Return the feature."""
    return Feature("shortcuts", slack_part=ShortcutsPart)
