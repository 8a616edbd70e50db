"""The feature: the Home tab, and suggested prompts in direct messages."""

from __future__ import annotations

from functools import partial

from bot.features import Feature
from bot.features.home.home_tab import HomeConfig, HomeTab


def home(config: HomeConfig) -> Feature:
    """Return the feature."""
    return Feature("home", slack_part=partial(HomeTab, config))
