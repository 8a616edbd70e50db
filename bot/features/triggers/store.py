"""What is stored of rules: themselves by channel, their latest runs, and what they have cost.

- `rules`: for each channel a hash of its rules. `rule-channels`: of each workspace the channels with any.
- `rule-runs`: the runs of a rule by time, each named by its thread and the ts of its message.
- `rule-spent`: of a rule and day, what each run has cost or may cost, which of them have ended, and its
  questions to the small model.
- `rule-seen`: what the small model has said of a message.
- `rule-threads`: of each thread the rules that have answered there, with the ts of the message.
- `rule-teams`: the workspaces that have, or had, rules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.core.ids import new_id
from bot.features.triggers.judging import Posted
from bot.features.triggers.rules import Rule
from bot.store import Connection, Retention, Stores
from bot.store.families import Family
from bot.store.values import Hash, Names, TimedSet

STORED = (
    Family("rules", "hash"),
    Family("rule-channels", "set"),
    Family("rule-runs", "zset"),
    Family("rule-spent", "hash"),
    Family("rule-seen"),
    Family("rule-threads", "set"),
    Family("rule-teams", "set"),
)

_HOUR, _DAY = 3_600, 86_400
_QUESTIONS, _QUESTION_COST = "questions", "question-cost"
_ENDED = "ended/"  # before the ts of a run that has ended, in a field without a cost


@dataclass(frozen=True, slots=True)
class Used:
    """What a rule has used: runs in the last hour and in the last 24, and of this day in UTC its US
    dollars and how often it asked the small model. Of the dollars, `reserved` are for runs that have not
    ended, most of which will cost less."""

    hour: int
    day: int
    dollars: float
    questions: int
    reserved: float = 0.0

    def is_over(self, rule: Rule) -> bool:
        """Return whether the rule has spent the money of the day."""
        return self.dollars - self.reserved >= rule.daily_dollars

    def has_room(self, rule: Rule, dollars: float) -> bool:
        """Return whether a run that may cost so much can begin now, without waiting for others to end."""
        left = rule.daily_dollars - self.dollars
        return left >= dollars or (left > 0 and self.reserved == 0)


@dataclass(frozen=True, slots=True)
class RuleStore:
    """The store of all rules. Rules are kept for as long as settings after they last were written or
    read by `in_channel`."""

    stores: Stores

    @property
    def redis(self) -> Connection:
        return self.stores.redis

    @property
    def retention(self) -> Retention:
        return self.stores.retention

    async def teams(self) -> list[str]:
        """Return the workspaces that have, or had, rules."""
        return await self._teams.all()

    async def channels(self, team: str) -> frozenset[str]:
        """Return the channels of a workspace that have, or had, rules."""
        return frozenset(await self._channels(team).all())

    async def in_channel(self, team: str, channel: str) -> list[Rule]:
        """Return the rules of a channel, the oldest first; skip damaged ones."""
        return _oldest_first(await self._rules(team, channel).all(renew=True))

    async def in_team(self, team: str) -> list[Rule]:
        """Return all rules of a workspace by channel, the oldest first."""
        channels = [self._rules(team, name) for name in sorted(await self.channels(team))]
        reading = [command for rules in channels for command in rules.reading(renew=True)]
        replies = (await self.redis.together(*reading))[::2] if reading else ()
        return [
            rule
            for rules, fields in zip(channels, replies, strict=True)
            for rule in _oldest_first(rules.decoded(fields))
        ]

    async def get(self, team: str, channel: str, rule_id: str) -> Rule | None:
        """Return a rule as it is now; None without one."""
        return await self._rules(team, channel).get(rule_id)

    async def find(self, team: str, rule_id: str) -> Rule | None:
        """Return the rule of this id, in whatever channel; None without one."""
        return next((rule for rule in await self.in_team(team) if rule.id == rule_id), None)

    async def add(self, rule: Rule, *, most: int) -> bool:
        """Store a new rule. Return False if its channel has `most` already; the check is atomic."""
        await self._teams.add([rule.team])
        await self._channels(rule.team).add([rule.channel])
        return await self._rules(rule.team, rule.channel).add(rule.id, rule, most=most)

    async def change(
        self, rule: Rule, change: Callable[[Rule], Rule | None], *, by_person: bool = True
    ) -> Rule | None:
        """Store what `change` makes of the rule as it is now, with the next revision if it is a change
        `by_person`, and return it. Return None, and leave it, if it is gone or `change` returns None.
        Atomic.

        For a form compare the revision that its person saw: `now if now.revision == seen else None`.
        """

        def changed(now: Rule | None) -> Rule | None:
            later = change(now) if now else None
            if later is None or now is None:
                return None
            update = {"revision": now.revision + by_person, "stamp": new_id("change")}
            return later.model_copy(update=update)

        return await self._rules(rule.team, rule.channel).change(rule.id, changed)

    async def remove(self, rule: Rule, by: str) -> None:
        """Delete a rule, and withdraw `by` somebody what its runs still work on or wait for."""
        await self._rules(rule.team, rule.channel).remove(rule.id)
        mailbox = self.stores.mailbox
        for thread in await self.threads_of(rule) & {*await mailbox.threads()}:
            for request in await mailbox.all_of(thread):
                if request.rule == rule.id:
                    await self.stores.signals.withdraw(request, by)

    async def used(self, rule: Rule, at: datetime | None = None) -> Used:
        """Return what the rule has used at a time, now without one."""
        now = at or datetime.now(UTC)
        runs, spent, since = self._runs(rule).key, self._spent(rule, now), now.timestamp()
        hour, day, costs = await self.redis.together(
            ("ZCOUNT", runs, since - _HOUR, "+inf"),
            ("ZCOUNT", runs, since - _DAY, "+inf"),
            ("HGETALL", spent),
        )
        return _used(hour, day, costs)

    async def begin(
        self,
        rule: Rule,
        message: Posted,
        at: datetime,
        dollars: float,
        *,
        goes_on: bool = False,
    ) -> float | None:
        """Count the run for a message, which may cost up to `dollars`, and return how much of them it may
        spend. Return None, and count nothing, if the rule has had all its runs, or spent its budget, or
        must wait for the cost of others. A run that `goes_on`, perhaps hours after it was counted, is one
        of the rule's runs already.

        Safe to repeat: a run counts once. Of two that begin at once neither exceeds a limit.
        """
        spent, runs, ts = self._spent(rule, at), self._runs(rule), message.ts
        name, now = _name_of(message), at.timestamp()
        replies = await self.redis.together(
            *runs.adding(name, now, keep_first=True),
            ("HSETNX", spent, ts, dollars),
            ("EXPIRE", spent, 2 * _DAY),
            ("ZCOUNT", runs.key, now - _HOUR, "+inf"),
            ("ZCOUNT", runs.key, now - _DAY, "+inf"),
            ("HGETALL", spent),
        )
        hour, day, costs = replies[-3:]
        others = _used(
            hour, day, {name: cost for name, cost in costs.items() if name != ts.encode()}
        )
        left = rule.daily_dollars - others.dollars
        is_full = hour > rule.runs_per_hour or day > rule.runs_per_day
        may_begin = left > 0 if goes_on else not is_full and others.has_room(rule, dollars)
        if not may_begin:
            await self.redis.together(("ZREM", runs.key, name), ("HDEL", spent, ts))
            return None
        await self._threads(rule.team, message).add([f"{rule.id}/{ts}"])
        return min(dollars, left)

    async def has_begun(self, rule: Rule, message: Posted) -> bool:
        """Return whether the run for a message is counted."""
        score = await self.redis.call("ZSCORE", self._runs(rule).key, _name_of(message))
        return score is not None

    async def end(
        self, rule: Rule, message: Posted, at: datetime, dollars: float, *, is_silent: bool
    ) -> None:
        """Say what the run for a message cost, which began `at`. A silent one has not answered in its
        thread. Safe to repeat."""
        spent = self._spent(rule, at)
        answered = self._threads(rule.team, message)
        await self.redis.together(
            ("HSET", spent, message.ts, dollars, f"{_ENDED}{message.ts}", 0),
            ("EXPIRE", spent, 2 * _DAY),
            *(answered.removing(f"{rule.id}/{message.ts}") if is_silent else ()),
        )

    async def answered_in(self, team: str, message: Posted) -> frozenset[str]:
        """Return the ids of the rules that have answered other messages in the thread of a message, or do
        so now."""
        answers = (name.split("/") for name in await self._threads(team, message).all())
        return frozenset(rule for rule, ts in answers if ts != message.ts)

    async def threads_of(self, rule: Rule) -> set[str]:
        """Return the keys of the threads in which the rule has run."""
        names = await self._runs(rule).between(float("-inf"))
        return {f"{rule.team}:{rule.channel}:{name.partition('/')[0]}" for name in names}

    async def count_question(self, rule: Rule, at: datetime, *, most: int) -> bool:
        """Count a question to the small model before it is asked. Return False, and count nothing, if the
        rule has asked the `most` of the day."""
        spent = self._spent(rule, at)
        count, _ = await self.redis.together(
            ("HINCRBY", spent, _QUESTIONS, 1), ("EXPIRE", spent, 2 * _DAY)
        )
        if count > most:
            await self.redis.call("HINCRBY", spent, _QUESTIONS, -1)
        return bool(count <= most)

    async def return_question(self, rule: Rule, at: datetime) -> None:
        """Count a question no more that was counted `at`, as it will be asked again."""
        await self.redis.call("HINCRBY", self._spent(rule, at), _QUESTIONS, -1)

    async def add_cost(self, rule: Rule, at: datetime, dollars: float) -> None:
        """Add what a question has cost."""
        spent = self._spent(rule, at)
        await self.redis.together(
            ("HINCRBYFLOAT", spent, _QUESTION_COST, dollars), ("EXPIRE", spent, 2 * _DAY)
        )

    async def is_seen(self, rule: Rule, ts: str, *, is_yes: bool = False) -> bool:
        """Return whether the rule has decided not to answer a message; with `is_yes`, to answer it."""
        return bool(await self.redis.call("EXISTS", self._seen(rule, ts, is_yes=is_yes)))

    async def see(self, rule: Rule, ts: str, *, is_yes: bool = False) -> None:
        """Remember that the rule does not answer a message, or does."""
        key = self._seen(rule, ts, is_yes=is_yes)
        await self.redis.call("SET", key, "1", "EX", self.retention.claims)

    def _rules(self, team: str, channel: str) -> Hash[Rule]:
        key = self.redis.key("rules", team, channel)
        return Hash(self.redis, key, Rule, self.retention.settings)

    @property
    def _teams(self) -> Names:
        return Names(self.redis, self.redis.key("rule-teams"), self.retention.settings)

    def _channels(self, team: str) -> Names:
        return Names(self.redis, self.redis.key("rule-channels", team), self.retention.settings)

    def _runs(self, rule: Rule) -> TimedSet:
        key = self.redis.key("rule-runs", rule.team, rule.id)
        return TimedSet(self.redis, key, max(2 * _DAY, self.retention.thread))

    def _threads(self, team: str, message: Posted) -> Names:
        key = self.redis.key("rule-threads", team, message.channel, message.thread)
        return Names(self.redis, key, self.retention.thread)

    def _spent(self, rule: Rule, at: datetime) -> str:
        return self.redis.key(
            "rule-spent", rule.team, rule.id, at.astimezone(UTC).date().isoformat()
        )

    def _seen(self, rule: Rule, ts: str, *, is_yes: bool) -> str:
        name = f"{ts}/yes" if is_yes else ts
        return self.redis.key("rule-seen", rule.team, rule.id, name)


def _oldest_first(rules: dict[str, Rule]) -> list[Rule]:
    return sorted(rules.values(), key=lambda rule: rule.created_at)


def _name_of(message: Posted) -> str:
    return f"{message.thread}/{message.ts}"


def _used(hour: int, day: int, fields: dict[bytes, bytes]) -> Used:
    spent = {name.decode(): float(value) for name, value in fields.items()}
    questions = int(spent.pop(_QUESTIONS, 0))
    settled = {_QUESTION_COST, *(name.removeprefix(_ENDED) for name in spent if _ENDED in name)}
    reserved = sum(
        dollars for name, dollars in spent.items() if name not in settled and _ENDED not in name
    )
    return Used(hour, day, sum(spent.values()), questions, reserved)
