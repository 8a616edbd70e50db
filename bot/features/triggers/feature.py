"""The feature: rules by which the bot looks at what is posted in a channel, and answers."""

from __future__ import annotations

from collections.abc import Callable

from bot.features import Feature, ServiceDeps
from bot.features.triggers.looking import KIND, RuleLooks
from bot.features.triggers.operators import RulesForOperators
from bot.features.triggers.own import OwnRules
from bot.features.triggers.service import RuleService
from bot.features.triggers.settings import TriggerSettings
from bot.features.triggers.slack_part import TriggersPart
from bot.features.triggers.store import STORED
from bot.runs.policy.access import Policy
from bot.runs.policy.channels import Channels
from bot.runs.queue.engine import Handle
from bot.runs.run_deps import RunDeps
from bot.slack.edge.workspaces import Slack
from bot.slack.intake.slack_app import SlackApp
from bot.store import Stores


def triggers(
    settings: TriggerSettings, policy: Policy, channels: Callable[[Stores], Channels]
) -> Feature:
    """Return the feature; `channels` opens the settings of channels."""

    def rules(stores: Stores, slack: Slack) -> RuleService:
        return RuleService.of(settings, policy, channels(stores), stores, slack)

    def part(app: SlackApp) -> TriggersPart:
        return TriggersPart(app, rules(app.stores, app.slack))

    def own(deps: ServiceDeps) -> OwnRules | None:
        return OwnRules(rules(deps.stores, deps.slack)) if settings.enabled and deps.slack else None

    def look(deps: RunDeps, slack: Slack) -> Handle:
        return RuleLooks(rules(deps.stores, slack)).run

    return Feature(
        "triggers",
        stored=STORED,
        services={OwnRules: own},
        jobs={KIND: look},
        slack_part=part,
        operator_part=RulesForOperators(settings),
    )
