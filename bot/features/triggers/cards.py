"""Cards in direct messages by which people approve a rule, and what its owner is told."""

from __future__ import annotations

import logging

from slack_sdk.errors import SlackApiError

from bot.features.triggers import words
from bot.features.triggers.describing import AppNames, whole
from bot.features.triggers.forms import decide_row
from bot.features.triggers.rules import Rule
from bot.features.triggers.service import RuleService
from bot.features.triggers.settings import ChannelTriggers
from bot.slack.edge.people_and_channels import people_of
from bot.slack.edge.workspaces import Slack
from bot.slack.ui.blocks import Block, section
from bot.slack.ui.parts import context
from bot.text.translation import load_catalogue, reader

log = logging.getLogger(__name__)

_MOST_ASKED = 5


async def ask_approvers(rules: RuleService, rule: Rule, apps: AppNames) -> list[str]:
    """Ask those whom the channel's settings name, or else admins, to approve a rule. Return whom.

    Raises SlackApiError, SlackUnavailable and TRANSPORT_ERRORS.
    """
    asked = list[str]()
    for user in await _approvers(rules, rule):
        try:
            await _post(rules.slack, user, await _card(rules.slack, user, rule, apps))
        except SlackApiError as error:  # somebody whom the bot cannot write to
            log.info("Nobody was asked to approve a rule: %s", type(error).__name__)
        else:
            asked.append(user)
    return asked


def card(rule: Rule, apps: AppNames, verdict: str = "") -> list[Block]:
    """Return the card of a rule, with its buttons until there is a verdict."""
    below = context(verdict).block if verdict else decide_row(rule)
    said = whole(rule, apps, with_state=False)
    return [section(words.CARD_ASKS(person=f"<@{rule.owner}>")), *said, below]


async def _approvers(rules: RuleService, rule: Rule) -> list[str]:
    own = await rules.gate.settings(rule.channel)
    named = own.rule_approvers if isinstance(own, ChannelTriggers) else ()
    every = named or (*rules.gate.policy.admins, *await _admins(rules.slack))
    return [user for user in dict.fromkeys(every) if user != rule.owner][:_MOST_ASKED]


async def _admins(slack: Slack) -> list[str]:
    """Return some admins of the workspace, more than are asked if it has as many."""
    admins = list[str]()
    async for person in people_of(slack.clients.reads, slack.identity):
        if person.is_admin:
            admins.append(person.id)
        if len(admins) > _MOST_ASKED:
            break
    return admins


async def _card(slack: Slack, user: str, rule: Rule, apps: AppNames) -> tuple[str, list[Block]]:
    locale = await slack.people.locale(user)
    await load_catalogue(locale)
    with reader(locale):
        return words.CARD_ASKS(person=f"<@{rule.owner}>"), card(rule, apps)


async def _post(slack: Slack, user: str, said: tuple[str, list[Block]]) -> None:
    text, blocks = said
    opened = await slack.clients.writes.conversations_open(users=user)
    await slack.clients.writes.chat_postMessage(
        channel=str(opened["channel"]["id"]),
        text=text,
        blocks=blocks,
        unfurl_links=False,
        unfurl_media=False,
    )
