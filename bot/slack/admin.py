"""What admins can do from Slack: raise a budget that is used up, pause the bot.

Who may is decided here, by code, when the button is pressed or the command is typed.
"""

from __future__ import annotations

import logging
import re
from datetime import UTC, datetime

from bot.core.budgets import Account, OverBudget, Pause
from bot.core.errors import NotPermitted
from bot.runs import budget_words
from bot.runs.budgets import BudgetPolicy
from bot.runs.policy import Person, Policy
from bot.slack.client import Identity
from bot.slack.people import People
from bot.slack.render import words
from bot.slack.render.links import escape_mrkdwn, without_broadcasts

log = logging.getLogger(__name__)


class Admin:
    """Raises NotPermitted with a sentence for the person."""

    def __init__(
        self, *, identity: Identity, people: People, policy: Policy, budgets: BudgetPolicy
    ) -> None:
        self._identity = identity
        self._people = people
        self._policy = policy
        self._budgets = budgets

    async def raise_budget(self, user: str, channel: str, over: OverBudget, times: float) -> str:
        """Raise a budget from a button in `channel`; what everybody there is told of it."""
        person = await self._admin(user)
        if not self._is_of(over.account, channel):
            log.warning("A button came back with an account that is not of its channel")
            raise NotPermitted(words.NOT_OURS)
        standing = await self._budgets.raise_budget(over, person.id, times)
        log.info(
            "Budget raised: %s to %s times by %s", over.account, standing.position.factor, user
        )
        name = escape_mrkdwn(without_broadcasts(person.name))
        return budget_words.raised(standing, name, _whose(over.account))

    async def pause(self, user: str) -> str:
        """Let no run ask a model any more; what the admin is told."""
        person = await self._admin(user)
        await self._budgets.switch.set(Pause(by=person.id, name=person.name, at=datetime.now(UTC)))
        log.warning("Paused by %s", person.id)
        return words.PAUSED

    async def resume(self, user: str) -> str:
        """Take the pause back; what the admin is told."""
        person = await self._admin(user)
        await self._budgets.switch.clear()
        log.warning("Resumed by %s", person.id)
        return words.RESUMED

    async def _admin(self, user: str) -> Person:
        person = await self._people.find(user)
        self._policy.may_administer(person)
        return person

    def _is_of(self, account: Account, channel: str) -> bool:
        """Whether the account is one that a message in `channel` can be refused for."""
        team = re.escape(self._identity.team)
        holders = {
            "workspace": team,
            "channel": f"{team}:{re.escape(channel)}",
            "user": rf"{team}:[A-Z0-9]+",
            "thread": rf"{team}:{re.escape(channel)}:[0-9.]+",
        }
        return re.fullmatch(holders[account.budget.scope], account.holder) is not None


def _whose(account: Account) -> str:
    """In mrkdwn; not the name of another channel or workspace, as it is always this one."""
    scope = account.budget.scope
    return f"<@{account.holder.partition(':')[2]}>" if scope == "user" else f"this {scope}"
