"""What is stored of rules: themselves by channel, their latest runs, and what they have cost.

- `rules`: for each channel a hash of its rules. `rule-channels`: of each workspace the channels with any.
- `rule-runs`: the runs of a rule by time, named by channel and ts of their messages.
- `rule-spent`: of a rule and day, what each run has cost, and its questions to the small model.
- `rule-seen`: messages that a rule has decided not to answer, after it asked the small model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.features.triggers.rules import Rule
from bot.store import Connection, Retention, Stores
from bot.store.families import Family
from bot.store.values import Command, Hash, Names, TimedSet

STORED = (
    Family("rules", "hash"),
    Family("rule-channels", "set"),
    Family("rule-runs", "zset"),
    Family("rule-spent", "hash"),
    Family("rule-seen"),
)

_HOUR, _DAY = 3_600, 86_400
_QUESTIONS, _QUESTION_COST = "questions", "question-cost"


@dataclass(frozen=True, slots=True)
class Used:
    """What a rule has used: runs in the last hour and in the last 24, and of this day in UTC its US
    dollars and how often it asked the small model."""

    hour: int
    day: int
    dollars: float
    questions: int


@dataclass(frozen=True, slots=True)
class RuleStore:
    """The store of all rules. Rules are kept for as long as settings after they last were written or
    read by `in_channel`."""

    redis: Connection
    retention: Retention

    @classmethod
    def of(cls, stores: Stores) -> RuleStore:
        """Return the store in the Redis of `stores`."""
        return cls(stores.redis, stores.retention)

    async def channels(self, team: str) -> frozenset[str]:
        """Return the channels of a workspace that have, or had, rules."""
        return frozenset(await self._channels(team).all())

    async def in_channel(self, team: str, channel: str) -> list[Rule]:
        """Return the rules of a channel, the oldest first; skip damaged ones."""
        rules = (await self._rules(team, channel).all(renew=True)).values()
        return sorted(rules, key=lambda rule: rule.created_at)

    async def in_team(self, team: str) -> list[Rule]:
        """Return all rules of a workspace by channel, the oldest first."""
        channels = sorted(await self.channels(team))
        return [rule for channel in channels for rule in await self.in_channel(team, channel)]

    async def get(self, team: str, channel: str, rule_id: str) -> Rule | None:
        """Return a rule as it is now; None without one."""
        return await self._rules(team, channel).get(rule_id)

    async def find(self, team: str, rule_id: str) -> Rule | None:
        """Return the rule of this id, in whatever channel; None without one."""
        return next((rule for rule in await self.in_team(team) if rule.id == rule_id), None)

    async def add(self, rule: Rule, *, most: int) -> bool:
        """Store a new rule. Return False if its channel has `most` already; the check is atomic."""
        await self._channels(rule.team).add([rule.channel])
        return await self._rules(rule.team, rule.channel).add(rule.id, rule, most=most)

    async def change(self, rule: Rule, change: Callable[[Rule], Rule | None]) -> Rule | None:
        """Store what `change` makes of the rule as it is now, with the next revision, and return it.
        Return None, and leave it, if it is gone or `change` returns None. Atomic.

        For a form compare the revision that its person saw: `now if now.revision == seen else None`.
        """

        def changed(now: Rule | None) -> Rule | None:
            later = change(now) if now else None
            return later and now and later.model_copy(update={"revision": now.revision + 1})

        return await self._rules(rule.team, rule.channel).change(rule.id, changed)

    async def remove(self, rule: Rule) -> bool:
        """Delete a rule. Return False if it is gone already."""
        return await self._rules(rule.team, rule.channel).remove(rule.id)

    async def used(self, rule: Rule, at: datetime | None = None) -> Used:
        """Return what the rule has used at a time, now without one."""
        now = at or datetime.now(UTC)
        runs, spent, since = self._runs(rule).key, self._spent(rule, now), now.timestamp()
        hour, day, costs = await self.redis.together(
            ("ZCOUNT", runs, since - _HOUR, "+inf"),
            ("ZCOUNT", runs, since - _DAY, "+inf"),
            ("HGETALL", spent),
        )
        questions = int(costs.pop(_QUESTIONS.encode(), 0))
        return Used(hour, day, sum(map(float, costs.values())), questions)

    def running(self, rule: Rule, ts: str, at: datetime, dollars: float) -> list[Command]:
        """Return the commands that count the run for a message, which may cost `dollars` until `costing`
        says what it did. Safe to repeat."""
        spent = self._spent(rule, at)
        return [
            *self._runs(rule).adding(ts, at.timestamp(), keep_first=True),
            ("HSETNX", spent, ts, dollars),
            ("EXPIRE", spent, 2 * _DAY),
        ]

    def costing(self, rule: Rule, ts: str, at: datetime, dollars: float) -> list[Command]:
        """Return the commands that say what the run for a message cost, which began `at`."""
        spent = self._spent(rule, at)
        return [("HSET", spent, ts, dollars), ("EXPIRE", spent, 2 * _DAY)]

    async def asked(self, rule: Rule, at: datetime, dollars: float) -> None:
        """Count a question to the small model and its cost."""
        spent = self._spent(rule, at)
        await self.redis.together(
            ("HINCRBY", spent, _QUESTIONS, 1),
            ("HINCRBYFLOAT", spent, _QUESTION_COST, dollars),
            ("EXPIRE", spent, 2 * _DAY),
        )

    async def is_seen(self, rule: Rule, ts: str) -> bool:
        """Return whether the rule has decided not to answer a message."""
        return bool(await self.redis.call("EXISTS", self._seen(rule, ts)))

    async def see(self, rule: Rule, ts: str) -> None:
        """Remember that the rule does not answer a message."""
        await self.redis.call("SET", self._seen(rule, ts), "1", "EX", self.retention.claims)

    def _rules(self, team: str, channel: str) -> Hash[Rule]:
        key = self.redis.key("rules", team, channel)
        return Hash(self.redis, key, Rule, self.retention.settings)

    def _channels(self, team: str) -> Names:
        return Names(self.redis, self.redis.key("rule-channels", team), self.retention.settings)

    def _runs(self, rule: Rule) -> TimedSet:
        return TimedSet(self.redis, self.redis.key("rule-runs", rule.team, rule.id), 2 * _DAY)

    def _spent(self, rule: Rule, at: datetime) -> str:
        return self.redis.key(
            "rule-spent", rule.team, rule.id, at.astimezone(UTC).date().isoformat()
        )

    def _seen(self, rule: Rule, ts: str) -> str:
        return self.redis.key("rule-seen", rule.team, rule.id, ts)
