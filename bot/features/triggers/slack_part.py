"""Rules in one workspace: what Slack shows of them, and the messages that they look at."""

from __future__ import annotations

from bot.features.triggers.service import RuleService
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import SlackPart


class TriggersPart(SlackPart):
    """The rules of one workspace."""

    def __init__(self, app: SlackApp, service: RuleService) -> None:
        self._app, self._service = app, service
