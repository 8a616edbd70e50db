"""What people see of one rule: its modal, and the cards by which it is approved. They name its apps, which
Slack names only in the messages of these."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from cachetools import TTLCache
from slack_sdk.errors import SlackApiError

from bot.core.errors import NotPermitted
from bot.features.triggers import words
from bot.features.triggers.describing import AppNames, whole
from bot.features.triggers.forms import APP_ID, decide_row, rule_view
from bot.features.triggers.judging import Posted
from bot.features.triggers.rules import Rule
from bot.features.triggers.service import RuleService
from bot.runs.audit_trail import refused
from bot.slack.edge.client import TRANSPORT_ERRORS
from bot.slack.edge.people_and_channels import people_of
from bot.slack.edge.text import one_line
from bot.slack.edge.workspaces import Slack
from bot.slack.ui.blocks import Block, section
from bot.slack.ui.parts import context
from bot.text.translation import load_catalogue, reader

log = logging.getLogger(__name__)

_MOST_ASKED = 5
_LOOKED_AT = 100  # messages in which apps are named
_APP_NAMES, _APP_SECONDS = 200, 600.0  # channels, and for how long names are remembered
_NAMES_SECONDS = 1.0


def _remembered() -> TTLCache[str, dict[str, str]]:
    return TTLCache(_APP_NAMES, _APP_SECONDS)


@dataclass(frozen=True, slots=True)
class RulePages:
    """The pages of the rules of one workspace."""

    rules: RuleService
    _apps: TTLCache[str, dict[str, str]] = field(default_factory=_remembered)

    async def modal(self, user: str, rule: Rule, *above: Block, **can: bool) -> Block:
        """Return the modal of a rule as `user` sees it. Raises NotPermitted as `may_approve`."""
        return rule_view(
            rule,
            *above,
            apps=await self.names(rule),
            used=await self.rules.store.used(rule),
            may_approve=await self.may_approve(user, rule),
            **can,
        )

    async def may_approve(self, user: str, rule: Rule) -> bool:
        """Return whether somebody who sees a rule may approve it. Raises NotPermitted for those who may
        neither approve nor own it."""
        may_approve = await self.rules.may_approve(user, rule.channel)
        if not may_approve and user != rule.owner:
            what = refused(self.rules.team, user, "rule opened", channel=rule.channel)
            await self.rules.record([what])
            raise NotPermitted(words.NOT_YOURS())
        return may_approve

    async def ask_approvers(self, rule: Rule) -> list[str]:
        """Ask those whom the channel's settings name, or else admins, to approve a rule. Return whom.

        Raises SlackApiError, SlackUnavailable and TRANSPORT_ERRORS.
        """
        asked, names = list[str](), await self.names(rule)
        for user in await self._approvers(rule):
            try:
                await self._send_card(user, rule, names)
            except SlackApiError as error:  # somebody whom the bot cannot write to
                log.info("Nobody was asked to approve a rule: %s", type(error).__name__)
            else:
                asked.append(user)
        return asked

    async def names(self, rule: Rule) -> AppNames:
        """Return the names of the apps of a rule as far as Slack says them in time."""
        return await self.apps(rule.channel) if rule.apps else {}

    async def apps(self, channel: str) -> dict[str, str]:
        """Return the names of the apps in a channel as far as Slack says them in time."""
        if channel not in self._apps:
            try:
                async with asyncio.timeout(_NAMES_SECONDS):
                    self._apps[channel] = await apps_in(self.rules.slack, channel)
            except (TimeoutError, SlackApiError, *TRANSPORT_ERRORS):
                return {}
        return self._apps[channel]

    async def _approvers(self, rule: Rule) -> list[str]:
        named = (await self.rules.settings_of(rule.channel)).rule_approvers
        every = named or (*self.rules.gate.policy.admins, *await self._admins())
        return [user for user in dict.fromkeys(every) if user != rule.owner][:_MOST_ASKED]

    async def _admins(self) -> list[str]:
        """Return some admins of the workspace, more than are asked if it has as many."""
        slack, admins = self.rules.slack, list[str]()
        async for person in people_of(slack.clients.reads, slack.identity):
            if person.is_admin:
                admins.append(person.id)
            if len(admins) > _MOST_ASKED:
                break
        return admins

    async def _send_card(self, user: str, rule: Rule, apps: AppNames) -> None:
        slack = self.rules.slack
        locale = await slack.people.locale(user)
        await load_catalogue(locale)
        with reader(locale):
            text, blocks = words.CARD_ASKS(person=f"<@{rule.owner}>"), card(rule, apps)
        await slack.clients.tell(user, text, blocks)


def card(rule: Rule, apps: AppNames, verdict: str = "") -> list[Block]:
    """Return the card of a rule, with its buttons until there is a verdict."""
    below = context(verdict).block if verdict else decide_row(rule)
    said = whole(rule, apps, with_state=False)
    return [section(words.CARD_ASKS(person=f"<@{rule.owner}>")), *said, below]


async def apps_in(slack: Slack, channel: str) -> dict[str, str]:
    """Return the names of the apps that have posted in a channel lately, by their ids; with the id behind
    a name that several have, because anybody can name an app as another.

    Raises SlackApiError and TRANSPORT_ERRORS.
    """
    page = await slack.clients.reads.conversations_history(channel=channel, limit=_LOOKED_AT)
    names = dict[str, str]()
    for message in page["messages"]:
        profile, app = message.get("bot_profile") or {}, Posted.of(message, channel).app
        if app and message.get("bot_id") != slack.identity.bot:
            name = one_line(str(profile.get("name") or message.get("username") or ""))
            names.setdefault(app, name or app)
    uses = Counter(map(str.casefold, names.values()))
    return {
        app: name if uses[name.casefold()] == 1 else f"{name} ({app})"
        for app, name in names.items()
    }


def ids_of(named: Sequence[str], there: dict[str, str]) -> tuple[tuple[str, ...], list[str]]:
    """Return the ids of apps that are named by name or id, and the names that are no app's."""
    by_name = {name.casefold(): app for app, name in there.items()}
    ids, unknown = dict[str, None](), list[str]()
    for name in named:
        app = name if APP_ID.fullmatch(name) else by_name.get(name.casefold(), "")
        if app:
            ids[app] = None
        else:
            unknown.append(name)
    return tuple(ids), unknown
