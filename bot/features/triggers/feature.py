"""The feature: rules by which the bot looks at what is posted in a channel, and answers."""

from __future__ import annotations

from collections.abc import Callable

from bot.features import Feature, ServiceDeps
from bot.features.triggers.asking import RuleQuestions
from bot.features.triggers.following import RuleJobs
from bot.features.triggers.looking import KIND as LOOK
from bot.features.triggers.looking import RuleLooks
from bot.features.triggers.operators import RulesForOperators
from bot.features.triggers.own import OwnRules
from bot.features.triggers.pages import RulePages
from bot.features.triggers.service import RuleService
from bot.features.triggers.settings import TriggerSettings
from bot.features.triggers.slack_part import TriggersPart
from bot.features.triggers.store import STORED
from bot.features.triggers.watching import KIND as RULE
from bot.features.triggers.watching import outcome_counter
from bot.runs.policy.access import Policy
from bot.runs.policy.channels import Channels
from bot.runs.queue.engine import Handle
from bot.runs.run_deps import RunDeps
from bot.slack.edge.workspaces import Slack
from bot.slack.intake.slack_app import SlackApp
from bot.store import Stores


def triggers(
    settings: TriggerSettings,
    policy: Policy,
    channels: Callable[[Stores], Channels],
    unpriced_models: Callable[[], list[str]],
) -> Feature:
    """Return the feature; `channels` opens the settings of channels. `unpriced_models` returns the models
    whose price is unknown."""
    counter = outcome_counter()

    def rules(stores: Stores, slack: Slack) -> RuleService:
        return RuleService.of(settings, policy, channels(stores), stores, slack)

    def part(app: SlackApp) -> TriggersPart:
        return TriggersPart(app, rules(app.stores, app.slack), counter)

    def own(deps: ServiceDeps) -> OwnRules | None:
        return (
            OwnRules(RulePages(rules(deps.stores, deps.slack)))
            if settings.enabled and deps.slack
            else None
        )

    def look(deps: RunDeps, slack: Slack) -> Handle:
        service = rules(deps.stores, slack)
        questions = RuleQuestions(deps, settings, service.store)
        return RuleLooks(RulePages(service), questions).run

    def follow(deps: RunDeps, slack: Slack) -> Handle:
        service = rules(deps.stores, slack)
        questions = RuleQuestions(deps, settings, service.store)
        return RuleJobs(deps, service, questions, counter).run

    return Feature(
        "triggers",
        stored=STORED,
        services={OwnRules: own},
        jobs={LOOK: look, RULE: follow},
        slack_part=part,
        operator_part=RulesForOperators(settings, counter, unpriced_models),
    )
