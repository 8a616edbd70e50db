"""Rules in one workspace: what Slack shows of them, and the messages that they look at."""

from __future__ import annotations

from bot.features.triggers.home import RulesHome


class TriggersPart(RulesHome):
    """The rules of one workspace."""
