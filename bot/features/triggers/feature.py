"""The feature: rules by which the bot looks at what is posted in a channel, and answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from bot.features import Feature
from bot.features.triggers.service import RuleService
from bot.features.triggers.settings import TriggerSettings
from bot.features.triggers.slack_part import TriggersPart
from bot.features.triggers.store import STORED
from bot.runs.policy.access import Policy
from bot.runs.policy.channels import Channels
from bot.slack.intake.slack_app import SlackApp
from bot.store import Stores


def triggers(
    settings: TriggerSettings, policy: Policy, channels: Callable[[Stores], Channels]
) -> Feature:
    """Return the feature; `channels` opens the settings of channels."""

    def part(app: SlackApp) -> TriggersPart:
        make = partial(RuleService.of, settings, policy)
        return TriggersPart(app, make(channels(app.stores), app.stores, app.slack))

    return Feature("triggers", stored=STORED, slack_part=part)
