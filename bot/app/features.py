"""The list of features, which is all that the composition knows of them."""

from __future__ import annotations

from collections.abc import Sequence

from bot.features import Feature
from bot.features.evidence.feature import evidence
from bot.features.refresh.feature import refresh
from bot.settings import Settings
from bot.slack.ui.buttons import AnswerButton


def all_features(settings: Settings) -> Sequence[Feature]:
    """List the features. Buttons stand under an answer in this order; the first completes a run last,
    and sees what the others found."""
    return (refresh(), evidence(settings.evidence))


def answer_buttons(features: Sequence[Feature]) -> tuple[AnswerButton, ...]:
    """Return the buttons of all features under an answer."""
    return tuple(button for feature in features for button in feature.buttons)
