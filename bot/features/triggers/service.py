"""What people may do to rules: each method checks who asks, and records it before it is done.

The methods raise NotPermitted with a sentence for whoever asks, StoreUnavailable, SlackUnavailable
and SlackApiError.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self

from slack_sdk.errors import SlackApiError

from bot.core.audit import AuditEntry
from bot.core.audit_kinds import AuditKind
from bot.core.errors import NotPermitted
from bot.core.ids import new_id
from bot.features.triggers import words
from bot.features.triggers.judging import pattern_problem
from bot.features.triggers.rules import Outcome, Rest, Rule, RuleState
from bot.features.triggers.settings import ChannelTriggers, TriggerSettings
from bot.features.triggers.store import RuleStore
from bot.runs.audit_trail import Record, refused
from bot.runs.policy.access import Person, Policy
from bot.runs.policy.channels import Channels
from bot.slack.edge.client import TRANSPORT_ERRORS
from bot.slack.edge.workspaces import Slack
from bot.slack.intake.access_gate import AccessGate
from bot.slack.ui.blocks import shortened
from bot.slack.ui.links import LinkGate
from bot.store import Stores
from bot.text.translation import Text, load_catalogue, reader

log = logging.getLogger(__name__)

LEFT_OUT = {
    Outcome.TOO_MANY: words.LEFT_OUT_MANY,
    Outcome.NO_MONEY: words.LEFT_OUT_MONEY,
    Outcome.NOT_ASKED: words.LEFT_OUT_QUESTIONS,
    Outcome.TOO_SLOW: words.LEFT_OUT_SLOW,
}
"""By what an owner loses answers that they expect, and how they are told."""

_MOST_SHOWN = 200  # characters of an instruction

_FIXED = {"version", "id", "team", "channel", "state", "rest", "revision", "stamp"}
_FIXED |= {"failures", "last_failed", "created_by", "created_at", "approved_by", "approved_at"}
"""The fields of a rule that no form changes."""


@dataclass(frozen=True, slots=True)
class RuleService:
    """The rules of one workspace."""

    settings: TriggerSettings
    store: RuleStore
    record: Record
    slack: Slack
    gate: AccessGate

    @classmethod
    def of(
        cls,
        settings: TriggerSettings,
        policy: Policy,
        channels: Channels,
        stores: Stores,
        slack: Slack,
    ) -> Self:
        """Return the service of the workspace of `slack`."""
        team = slack.identity.team
        gate = AccessGate(team, slack.people, policy, channels)
        return cls(settings, RuleStore(stores), stores.audit.append, slack, gate)

    @property
    def team(self) -> str:
        return self.gate.team

    async def is_on(self, channel: str) -> bool:
        """Return whether the rules of a channel work."""
        return self.settings.enabled and (await self.settings_of(channel)).rules != "off"

    async def settings_of(self, channel: str) -> ChannelTriggers:
        """Return what the settings of a channel say of rules."""
        own = await self.gate.settings(channel)
        return own if isinstance(own, ChannelTriggers) else ChannelTriggers()

    async def may_set_off(self, rule: Rule, user: str) -> bool:
        """Return whether what `user` posts may set off the rule: of those whom it does not name, only
        people who may ask the bot in its channel. Raises SlackUnavailable."""
        if user in rule.people:
            return True
        try:
            await self.gate.asker(user, rule.channel)
        except NotPermitted:
            return False
        return True

    async def may_approve(self, user: str, channel: str, *, is_admin: bool = False) -> bool:
        """Return whether somebody may approve, pause and remove the rules of a channel: an admin, or,
        without `is_admin`, one whom the channel's settings name. Slack is asked each time."""
        try:
            await self._approver(user, channel, is_admin=is_admin)
        except NotPermitted:
            return False
        return True

    async def propose(self, user: str, rule: Rule) -> Rule:
        """Store a new rule of `user`, who becomes its owner. It waits for an approval. Limits that it does
        not set are those of `[triggers]`."""
        limits = ("runs_per_hour", "runs_per_day", "daily_dollars", "age_minutes")
        usual = [name for name in limits if name not in rule.model_fields_set]
        new = rule.model_copy(
            update={
                **{name: getattr(self.settings, name) for name in usual},
                "id": new_id("rule"),
                "team": self.team,
                "owner": user,
                "state": RuleState.WAITING,
                "rest": None,
                "revision": 1,
                "failures": 0,
                "created_by": user,
                "created_at": datetime.now(UTC),
                "approved_by": "",
                "approved_at": None,
            }
        )
        if not await self.is_on(new.channel):
            raise NotPermitted(words.OFF())
        await self._check(new)
        await self.check_owner(user, new.channel)
        await self._note(user, new, "rule proposed")
        if not await self.store.add(new, most=self.settings.most):
            raise NotPermitted(words.TOO_MANY(count=self.settings.most))
        return new

    async def approve(self, user: str, rule_id: str, revision: int) -> Rule:
        """Switch on a rule that waits, as `user` saw it. Approves nothing that was changed since."""
        rule = await self._rule(rule_id, revision)
        await self._approver(user, rule.channel, "rule approved")
        if rule.state is not RuleState.WAITING:
            raise NotPermitted(words.NOT_WAITING())
        await self._check(rule)
        await self._note(user, rule, "rule approved")
        approved = {
            "state": RuleState.ON,
            "rest": None,
            "failures": 0,
            "approved_by": user,
            "approved_at": datetime.now(UTC),
        }
        return await self._changed(rule, approved)

    async def decline(self, user: str, rule_id: str) -> Rule:
        """Remove a rule that waits for an approval, and return it."""
        rule = await self._rule(rule_id)
        await self._approver(user, rule.channel, "rule declined")
        if rule.state is not RuleState.WAITING:
            raise NotPermitted(words.NOT_WAITING())
        await self._note(user, rule, "rule declined")
        await self.store.remove(rule, user)
        return rule

    async def pause(self, user: str, rule_id: str) -> Rule:
        """Pause a rule that is on. Its owner may, and whoever may approve it."""
        rule = await self._rule(rule_id)
        await self._owner_or_approver(user, rule, "rule paused")
        await self._note(user, rule, "rule paused")
        if rule.state is not RuleState.ON:
            return rule
        why = Rest.PERSON if user == rule.owner else Rest.ADMIN
        return await self._changed(rule, {"state": RuleState.PAUSED, "rest": why})

    async def resume(self, user: str, rule_id: str) -> Rule:
        """Switch on a paused rule again; its owner cannot if somebody else has paused it. One that nobody
        has approved waits for that instead."""
        rule = await self._rule(rule_id)
        await self._owner_or_approver(user, rule, "rule resumed")
        if rule.state is not RuleState.PAUSED:
            return rule
        if rule.rest is Rest.ADMIN:
            await self._approver(user, rule.channel, "rule resumed")
        await self.check_owner(rule.owner, rule.channel)
        await self._note(user, rule, "rule resumed")
        state = RuleState.ON if rule.approved_by else RuleState.WAITING
        return await self._changed(rule, {"state": state, "rest": None, "failures": 0})

    async def change(
        self, user: str, rule_id: str, revision: int, fields: Mapping[str, Any]
    ) -> Rule:
        """Change `fields` of a rule as `user` saw it: its owner may, and admins. An `owner` among them is in
        whose name and on whose budget it then runs: themselves for those who may approve it, and for admins
        anybody.

        A changed rule waits for an approval again, unless `user` may approve it and it waited for none. One
        that rested because of its owner is on again with another. The owner is told what others did.
        Raises ValidationError for values that no rule may have.
        """
        rule = await self._rule(rule_id, revision)
        if wrong := _FIXED & fields.keys():
            raise ValueError(f"no form changes {', '.join(sorted(wrong))} of a rule")
        owner, update = fields.get("owner", rule.owner), dict(fields)
        if owner == rule.owner:
            await self._owner_or_approver(user, rule, "rule changed", is_admin=True)
        else:
            await self._approver(user, rule.channel, "rule owner replaced", is_admin=owner != user)
            await self.check_owner(owner, rule.channel)
            update["failures"] = 0
            if rule.rest in (Rest.OWNER_GONE, Rest.OWNER_LEFT, Rest.OWNER_REFUSED):
                update |= {"state": RuleState.ON, "rest": None}
        if fields.keys() - {"owner"}:
            waits = rule.state is RuleState.WAITING
            if not waits and await self.may_approve(user, rule.channel):
                update |= {"approved_by": user, "approved_at": datetime.now(UTC)}
            else:
                update |= {"state": RuleState.WAITING, "rest": None}
                update |= {"approved_by": "", "approved_at": None}
            await self._check(_with(rule, update))
        await self._note(user, rule, f"rule changed: {', '.join(sorted(fields))}")
        changed = await self._changed(rule, update)
        if user != owner or owner != rule.owner:  # it goes on in their name
            text = words.CHANGED_BY if owner == rule.owner else words.MADE_OWNER
            await self.tell(owner, text, changed, by=user)
        return changed

    async def remove(self, user: str, rule_id: str) -> Rule:
        """Remove a rule, and return it."""
        rule = await self._rule(rule_id)
        await self._owner_or_approver(user, rule, "rule removed")
        await self._note(user, rule, "rule removed")
        await self.store.remove(rule, user)
        return rule

    async def check_owner(self, owner: str, channel: str) -> Person:
        """Return the owner, if they may ask in the channel now, and they and the bot are in it. Slack is
        asked each time. Raises NotPermitted; its `reason` is a `Rest` if that is the owner's."""
        facts = await self.slack.access.channel(channel)
        if facts is None or facts.direct or not facts.takes_answers:
            raise NotPermitted(words.ONLY_CHANNELS())
        await self.slack.people.find_now(owner)
        person = await self.gate.asker(owner, channel)
        if not await self.slack.access.is_member(owner, channel):
            raise NotPermitted(words.OWNER_ELSEWHERE(), reason=Rest.OWNER_LEFT)
        return person

    async def rest(self, rule: Rule, because: Rest, text: Text | None, **of: str) -> None:
        """Pause a rule that is on, and tell its owner the `text` with the values `of`, if there is one. Only
        the process that pauses it tells them. Safe to repeat."""

        def paused(now: Rule) -> Rule | None:
            is_same = now.state is RuleState.ON and now.owner == rule.owner
            update = {"state": RuleState.PAUSED, "rest": because}
            return now.model_copy(update=update) if is_same else None

        if await self.store.change(rule, paused, by_person=False):
            await self._note(rule.owner, rule, f"rule rests: {because}")
            if text:
                await self.tell(rule.owner, text, rule, **of)

    async def say_left_out(self, rule: Rule, outcome: Outcome) -> None:
        """Tell the owner, once a day, of an outcome in `LEFT_OUT`."""
        name = f"{rule.id}/{outcome}/{datetime.now(UTC).date()}"
        if await self.store.stores.threads.first_notice(rule.team, rule.channel, name):
            await self.tell(rule.owner, LEFT_OUT[outcome], rule)

    async def tell(self, user: str, text: Text, rule: Rule, **of: str) -> None:
        """Tell somebody in a direct message what became of a rule; `text` takes its `place`, its `text`,
        and the values `of`. Logs where that cannot be said."""
        slack = self.slack
        locale = await slack.people.locale(user)
        await load_catalogue(locale)
        with reader(locale):
            said = LinkGate().mrkdwn(shortened(rule.instruction, _MOST_SHOWN))
            sentence = text(place=f"<#{rule.channel}>", text=said, **of)
        try:
            await slack.clients.tell(user, sentence)
        except (SlackApiError, *TRANSPORT_ERRORS) as error:
            log.warning("%s was not told of %s: %s", user, rule.id, type(error).__name__)

    async def _check(self, rule: Rule) -> None:
        """Raise NotPermitted for what no rule may have here, with the name of the field as `reason` if it is
        that of one."""
        limits = self.settings
        is_within = (
            rule.runs_per_hour <= limits.runs_per_hour
            and rule.runs_per_day <= limits.runs_per_day
            and rule.daily_dollars <= limits.daily_dollars
        )
        if not is_within:
            dollars = f"${limits.daily_dollars:g}"
            raise NotPermitted(
                words.TOO_MUCH(hour=limits.runs_per_hour, day=limits.runs_per_day, dollars=dollars)
            )
        if limits.apps is not None and (others := [*{*rule.apps} - {*limits.apps}]):
            refusal = words.APPS_NOT_ALLOWED(apps=", ".join(sorted(others)))
            raise NotPermitted(refusal, reason="apps")
        if rule.pattern and (why := await pattern_problem(rule.pattern)):
            raise NotPermitted(words.BAD_PATTERN(why=why), reason="pattern")

    async def _rule(self, rule_id: str, revision: int | None = None) -> Rule:
        rule = await self.store.find(self.team, rule_id)
        if rule is None:
            raise NotPermitted(words.NO_RULE())
        if revision not in (None, rule.revision):
            raise NotPermitted(words.CHANGED())
        return rule

    async def _changed(self, rule: Rule, update: Mapping[str, Any]) -> Rule:
        """Store the rule with `update`, if it is as it was read."""
        changed = await self.store.change(
            rule, lambda now: _with(now, update) if now.revision == rule.revision else None
        )
        if changed is None:
            raise NotPermitted(words.CHANGED())
        return changed

    async def _approver(
        self, user: str, channel: str, what: str = "", *, is_admin: bool = False
    ) -> None:
        """Raise NotPermitted for people who may not approve rules, or with `is_admin` for all but admins;
        with `what` that is on record."""
        named = (await self.settings_of(channel)).rule_approvers
        try:
            if user in named and not is_admin:
                await self.slack.people.find_now(user)
                await self.gate.asker(user, channel)
            else:
                await self.gate.admin(user)
        except NotPermitted as refusal:
            await self._refuse(user, channel, what)
            raise NotPermitted(words.ONLY_APPROVERS(), reason=refusal.reason) from None

    async def _owner_or_approver(
        self, user: str, rule: Rule, what: str, *, is_admin: bool = False
    ) -> None:
        if user == rule.owner:
            await self.slack.people.find_now(user)
            await self.gate.asker(user, rule.channel)
        elif not await self.may_approve(user, rule.channel, is_admin=is_admin):
            await self._refuse(user, rule.channel, what)
            raise NotPermitted(words.NOT_YOURS())

    async def _refuse(self, user: str, channel: str, what: str) -> None:
        if what:
            await self.record([refused(self.team, user, what, channel=channel)])

    async def _note(self, user: str, rule: Rule, what: str) -> None:
        """Record a change before it is made: after a kill there is at most an entry too many."""
        kind = AuditKind.ADMINISTERED
        said = f"{what} ({rule.id})"
        entry = AuditEntry(kind=kind, team=self.team, who=user, channel=rule.channel, what=said)
        await self.record([entry])


def _with(rule: Rule, update: Mapping[str, Any]) -> Rule:
    """Return the rule with changes. Raises ValidationError."""
    return Rule.model_validate(rule.model_dump() | dict(update))
