"""Uses of skills: a hash per month with a count for each, and the metric."""

from __future__ import annotations

from collections import Counter as Counts
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from prometheus_client import Counter

from bot.agent.events import Event, FromSubagent, SkillAcquired
from bot.features.skills.library import Library
from bot.features.skills.written import WrittenSkills
from bot.store import Stores
from bot.store.connection import Connection
from bot.store.families import Family
from bot.store.values import Command

USES = Family("skill-uses", "hash")

_SECONDS = 100 * 86_400
_WRITTEN = "(written in Slack)"  # the label of these in the metric: admins choose their names


class SkillMetric:
    """The metric of one process."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self.counter = Counter(
            "bot_skills_acquired",
            "Skills that a conversation was told, by who chose them.",
            ["skill", "by"],
            registry=None,
        )

    def count(self, acquired: SkillAcquired) -> None:
        """Count a skill that was acquired."""
        name = acquired.name if self._library.get(acquired.name) else _WRITTEN
        self.counter.labels(name, acquired.by).inc()


def acquired_in(event: Event) -> SkillAcquired | None:
    """Return the event if a skill was acquired, also by a sub-agent."""
    inner = event.event if isinstance(event, FromSubagent) else event
    return inner if isinstance(inner, SkillAcquired) else None


class SkillUses:
    """The store of uses."""

    def __init__(self, redis: Connection) -> None:
        self._redis = redis

    def counting(self, team: str, names: Sequence[str]) -> list[Command]:
        """Return the commands that count a use of each, for `Lease.write`."""
        key = self._key(datetime.now(UTC))
        counts = [("HINCRBY", key, f"{team}:{name}", 1) for name in names]
        return [*counts, ("EXPIRE", key, _SECONDS)] if counts else []

    async def of_month(self, month: datetime) -> Counts[str]:
        """Return the uses in the month of a time in UTC, by "team:name"."""
        counts = await self._redis.call("HGETALL", self._key(month))
        return Counts({name.decode(): int(n) for name, n in counts.items() if n.isdigit()})

    def _key(self, month: datetime) -> str:
        return self._redis.key("skill-uses", month.strftime("%Y-%m"))


async def use_lines(stores: Stores, library: Library) -> list[str]:
    """Return a table of the uses of all skills in this month and the one before; [] without any."""
    now = datetime.now(UTC)
    uses, written = SkillUses(stores.redis), WrittenSkills.of(stores)
    months = [now, now.replace(day=1) - timedelta(days=1)]
    counts = [await uses.of_month(month) for month in months]
    rows = dict[str, list[int]]()
    for skill in library.loaded.skills:
        ends = f":{skill.name}"
        rows[skill.name] = [sum(n for k, n in of.items() if k.endswith(ends)) for of in counts]
    for team in await written.teams():
        for skill_of_team in await written.all(team):
            name = f"{skill_of_team.name} (Home, {team})"
            rows.setdefault(name, [of[f"{team}:{skill_of_team.name}"] for of in counts])
    if not rows:
        return []
    unused = "never in these months"
    lines = [
        f"{name:<40} {this:>12,} {last:>12,}" if this or last else f"{name:<40} {unused}"
        for name, (this, last) in sorted(rows.items(), key=lambda row: [-n for n in row[1]])
    ]
    return ["", f"{'skills, by uses':<40} {'this month':>12} {'last month':>12}", *lines]
