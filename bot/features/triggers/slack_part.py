"""Rules in one workspace: what Slack shows of them, and the messages that they look at."""

from __future__ import annotations

from prometheus_client import Counter
from typing_extensions import override

from bot.features.triggers.home import RulesHome
from bot.features.triggers.service import RuleService
from bot.features.triggers.watching import Watching
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import ChannelMessage


class TriggersPart(RulesHome):
    """The rules of one workspace."""

    def __init__(self, app: SlackApp, service: RuleService, counter: Counter) -> None:
        super().__init__(app, service)
        self._watching = Watching(app, service, counter)

    @override
    async def posted(self, message: ChannelMessage) -> None:
        await self._watching.look(message)

    @override
    async def person_left(self, user: str) -> None:
        await self._watching.end_of(user)
