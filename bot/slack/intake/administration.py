"""Administration from Slack: raise a budget, pause the bot, change the settings of a channel.

The permission is checked by code, when the button is pressed or the command is typed.
"""

from __future__ import annotations

import logging
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pydantic import ValidationError

from bot.core.audit import AuditEntry
from bot.core.audit_kinds import AuditKind
from bot.core.budgets import Account, OverBudget, Pause
from bot.core.errors import NotPermitted
from bot.runs.audit_trail import Record, refused
from bot.runs.policy import budget_words
from bot.runs.policy.access import Person
from bot.runs.policy.budgets import BudgetPolicy
from bot.runs.policy.channels import ChannelLayers, ChannelSettings
from bot.slack.intake.access_gate import AccessGate
from bot.slack.intake.press import Press
from bot.slack.ui import buttons, words
from bot.slack.ui.links import escape_mrkdwn, without_broadcasts

if TYPE_CHECKING:
    from bot.slack.intake.slack_app import SlackApp

log = logging.getLogger(__name__)


_STEP = re.compile(f"^{buttons.RAISE}_({'|'.join(buttons.RAISE_TIMES)})$")


def register(app: SlackApp) -> None:
    """Listen to the buttons, and announce a raised budget in the thread.

    Under a private answer only the person who pressed sees the announcement.
    """

    @app.button(_STEP)
    async def pressed(press: Press) -> str:
        try:
            over = OverBudget.model_validate_json(press.value)
        except ValidationError:
            raise NotPermitted(words.NOT_OURS()) from None
        times = buttons.RAISE_TIMES[press.action.rpartition("_")[2]]
        notice = await app.admin.raise_budget(press.user, press.channel, over, times)
        if press.is_private:
            return notice
        announcing = app.clients.writes.chat_postMessage(
            channel=press.channel,
            thread_ts=press.thread,
            text=notice,
            unfurl_links=False,
            unfurl_media=False,
        )
        app.background.start(announcing, "saying that a budget was raised")
        return ""


class Admin:
    """The actions of admins in one workspace.

    Methods raise NotPermitted, with a sentence for the person, and record the refusal.
    """

    def __init__(
        self, gate: AccessGate, budgets: BudgetPolicy, record: Record, *, one_of_many: bool = False
    ) -> None:
        self._gate = gate
        self._team = gate.team
        self.budgets = budgets
        self._one_of_many = one_of_many
        self._record = record

    async def raise_budget(self, user: str, channel: str, over: OverBudget, times: float) -> str:
        """Raise a budget from a button in `channel` to `times` its configured cap.

        Returns the sentence that everybody in the channel sees.
        """
        what = f"raise {over.account.budget}"
        person = await self._admin(user, what, channel)
        if not self._belongs_to(over.account, channel):
            log.warning("A button carried an account that does not belong to its channel")
            raise NotPermitted(words.NOT_OURS())
        await self._record_change(person, what, channel)
        raised_use = await self.budgets.raise_budget(over, person.id, times)
        log.info(
            "Budget %s of %s was raised to %g times its configured cap by %s",
            over.account.budget,
            over.account.holder,
            raised_use.position.factor,
            user,
        )
        name = escape_mrkdwn(without_broadcasts(person.name))
        return budget_words.raised(raised_use, name, _holder_name(over.account))

    async def pause(self, user: str) -> str:
        """Stop all calls of the model. Return a sentence for the admin."""
        person = await self._may_pause(user, "paused")
        await self._record_change(person, "paused")
        await self.budgets.switch.set(Pause(by=person.id, name=person.name, at=datetime.now(UTC)))
        log.warning("Paused by %s", person.id)
        return words.PAUSED()

    async def resume(self, user: str) -> str:
        """End the pause. Return a sentence for the admin."""
        person = await self._may_pause(user, "resumed")
        await self._record_change(person, "resumed")
        await self.budgets.switch.clear()
        log.warning("Resumed by %s", person.id)
        return words.RESUMED()

    async def paused(self) -> Pause | None:
        """Return the current pause, or None."""
        return await self.budgets.paused()

    async def channel(self, user: str, channel: str) -> ChannelLayers:
        """Return what the settings of a channel are made of, for an admin to change."""
        await self._admin(user, "channel settings", channel)
        return await self._gate.channels.layers(self._team, channel)

    async def change_channel(self, user: str, channel: str, wanted: ChannelSettings) -> None:
        """Save new settings of a channel."""
        person = await self._admin(user, "channel settings", channel)
        layers = await self._gate.channels.layers(self._team, channel)
        edits = layers.with_profile(wanted.profile).edits_of(wanted)
        changed = ", ".join(sorted(edits.model_fields_set)) or "nothing"
        await self._record_change(person, f"channel settings: {changed}", channel)
        await self._gate.channels.change(self._team, channel, wanted)
        log.info("Settings of channel %s changed by %s: %s", channel, person.id, changed)

    async def reset_channel(self, user: str, channel: str) -> None:
        """Reset a channel to the settings of bot.toml."""
        person = await self._admin(user, "channel settings reset", channel)
        await self._record_change(person, "channel settings reset", channel)
        await self._gate.channels.reset(self._team, channel)
        log.info("Settings of channel %s reset by %s", channel, person.id)

    async def _record_change(self, person: Person, what: str, channel: str = "") -> None:
        """Record a change in the audit trail before it is made.

        If the process is killed in between, there is an entry without a change, but never a change
        without an entry.
        """
        entry = AuditEntry(
            kind=AuditKind.ADMINISTERED,
            team=self._team,
            who=person.id,
            channel=channel,
            what=what,
        )
        await self._record([entry])

    async def _admin(self, user: str, what: str, channel: str = "") -> Person:
        """Return the admin. Raises NotPermitted, and records the refusal, for other people."""
        try:
            return await self._gate.admin(user)
        except NotPermitted:
            await self._record([refused(self._team, user, what, channel=channel)])
            raise

    async def _may_pause(self, user: str, what: str) -> Person:
        """Return the admin if they may pause the bot. Raises NotPermitted.

        The switch holds for all workspaces, so with several of them only the operator may use it.
        """
        person = await self._admin(user, what)
        if self._one_of_many:
            raise NotPermitted(words.PAUSED_BY_OPERATOR())
        return person

    def _belongs_to(self, account: Account, channel: str) -> bool:
        """Return whether a message in `channel` can be refused for this account."""
        team = re.escape(self._team)
        holders = {
            "workspace": team,
            "channel": f"{team}:{re.escape(channel)}",
            "user": rf"{team}:[A-Z0-9]+",
            "thread": rf"{team}:{re.escape(channel)}:[0-9.]+",
        }
        return re.fullmatch(holders[account.budget.scope], account.holder) is not None


def _holder_name(account: Account) -> str:
    """Return mrkdwn for the account's holder. A channel or workspace is always the current one."""
    scope = account.budget.scope
    return (
        f"<@{account.holder.partition(':')[2]}>" if scope == "user" else budget_words.HERE[scope]()
    )
