"""Messages in channels with rules: each that a rule is for, by code alone, becomes a request.

Its claim names the rule and the message, so it is stored once, however often Slack or its history
brings the message. A worker does the rest: see `following`.
"""

from __future__ import annotations

import time

from prometheus_client import Counter

from bot.core.errors import SlackUnavailable
from bot.core.request import Entry, Job, Request
from bot.features.triggers.judging import Posted, cheap_outcomes
from bot.features.triggers.rules import Outcome, Rest, Rule
from bot.features.triggers.service import LEFT_OUT, RuleService
from bot.library.isolated import Busy
from bot.slack.edge.text import cap, clean, decode, one_line
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import ChannelMessage
from bot.slack.message.message_contents import file_refs, said_in
from bot.text.redaction import redacted

KIND = "rule"
"""The kind of job that looks at a message by a rule."""

NOTICE = "Notice"
"""The stored name of the response type of its run."""

_CHANNELS_SECONDS = 2.0  # for which a process remembers which channels have rules


def outcome_counter() -> Counter:
    """Return the metric of one process."""
    return Counter(
        "bot_rule_messages",
        "Messages that rules looked at, by what became of them.",
        ["outcome"],
        registry=None,
    )


class Watching:
    """What the rules of one workspace look at."""

    def __init__(self, app: SlackApp, service: RuleService, counter: Counter) -> None:
        self._app, self._service, self._counter = app, service, counter
        self._channels: frozenset[str] = frozenset()
        self._read_at = float("-inf")

    async def look(self, message: ChannelMessage) -> None:
        """Store a request for each rule that a message is for. Safe to repeat. Raises StoreUnavailable and
        SlackUnavailable, after which it must be repeated."""
        channel = str(message.event["channel"])
        if channel not in await self._with_rules():
            return
        posted = Posted.of(message.event, channel)
        rules = await self._service.store.in_channel(self._app.team, channel)
        at, now = float(posted.ts), time.time()
        current = [rule for rule in rules if rule.watches(at, now)]
        if not current or not await self._service.is_on(channel):
            return
        answered: frozenset[str] = frozenset()
        if posted.is_reply and any(rule.replies for rule in current):
            answered = await self._service.store.answered_in(self._app.team, posted)
        try:
            outcomes = await cheap_outcomes(current, posted)
        except Busy as busy:
            raise SlackUnavailable(str(busy)) from None
        for rule in current:
            outcome = outcomes[rule.id]
            if outcome is Outcome.RUN:
                outcome = await self._outcome(rule, posted, answered)
            if outcome is Outcome.RUN:
                outcome = await self._submit(rule, posted, message)
            self._counter.labels(outcome).inc()
            if outcome in LEFT_OUT:
                telling = self._service.say_left_out(rule, outcome)
                self._app.background.start(telling, "telling somebody of a rule")

    async def end_of(self, user: str) -> None:
        """Let the rules of somebody rest whose account has ended."""
        service = self._service
        for rule in await service.store.in_team(service.team):
            if rule.owner == user:
                await service.rest(rule, Rest.OWNER_GONE, None)

    async def _with_rules(self) -> frozenset[str]:
        if time.monotonic() - self._read_at > _CHANNELS_SECONDS:
            self._channels = await self._service.store.channels(self._app.team)
            self._read_at = time.monotonic()
        return self._channels

    async def _outcome(self, rule: Rule, posted: Posted, answered: frozenset[str]) -> Outcome:
        """Return RUN if a worker must look at the message, in whose thread the rules `answered` have. Another
        app never goes on where any rule has, or two bots would answer each other."""
        if posted.user and not await self._service.may_set_off(rule, posted.user):
            return Outcome.OTHERS
        if (posted.app and answered) or (rule.id in answered and not rule.again):
            return Outcome.ANSWERED_THREAD
        return Outcome.RUN

    async def _submit(self, rule: Rule, posted: Posted, message: ChannelMessage) -> Outcome:
        """Store a request; not in a flood of messages, of which the rule may answer no more."""
        app, key = self._app, f"rule:{rule.id}:{posted.channel}:{posted.ts}"
        if await app.stores.mailbox.has_caused(app.team, key):
            return Outcome.RUN
        used = await self._service.store.used(rule)
        if used.hour >= rule.runs_per_hour or used.day >= rule.runs_per_day:
            return Outcome.TOO_MANY
        owner = await app.people.find(rule.owner)
        request = Request(
            entry=Entry.RULE,
            team=app.team,
            channel=posted.channel,
            thread=posted.thread,
            ts=posted.ts,
            user=rule.owner,
            author=owner.name,
            place=await app.access.place(posted.channel),
            text=rule.instruction,
            quoted=await self._quotation(posted, message),
            files=file_refs(message.event.get("files") or ()),
            response_type=NOTICE,
            locale=owner.locale,
            time_zone=owner.time_zone,
            late=message.late,
            restored=message.restored,
            job=Job(kind=KIND, subject=rule.id, version=rule.version_approved),
        )
        await app.submit(request, key)
        return Outcome.RUN

    async def _quotation(self, posted: Posted, message: ChannelMessage) -> str:
        """Return the message as the model reads it, with the name of whoever posted it."""
        profile = message.event.get("bot_profile") or {}
        name = str(message.event.get("username") or profile.get("name") or "An app")
        if posted.user:
            name = await self._app.people.name(posted.user)
        text = cap(clean(await decode(said_in(message.event), self._app.name_of)))
        return redacted(f"{one_line(name, 80)} wrote:\n{text or '(no text)'}")
