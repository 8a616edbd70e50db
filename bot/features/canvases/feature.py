"""The feature: tools read canvases, and make and change them once somebody has approved it."""

from __future__ import annotations

from bot.features import Feature, ServiceDeps
from bot.features.canvases.slack_canvases import SlackCanvases
from bot.slack.providers.channel_access import ReachableChannels
from bot.toolkit import Canvases


def canvases() -> Feature:
    """Return the feature."""
    return Feature("canvases", services={Canvases: _service})


def _service(deps: ServiceDeps) -> Canvases | None:
    return SlackCanvases(deps.slack, ReachableChannels(deps.slack)) if deps.slack else None
