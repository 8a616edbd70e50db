"""Schedules: one hash for each workspace, and an index by due time."""

from __future__ import annotations

from bot.core.schedule import Schedule
from bot.store.connection import Connection, Retention
from bot.store.values import Hash, TimedSet

CLAIM_SECONDS = 120
"""How long a due schedule belongs to the process that took it."""


class ScheduleStore:
    """The store of schedules. They expire only after the latest next run; adding and moving renews it."""

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._redis = redis
        self._seconds = retention.settings

    async def add(self, schedule: Schedule, *, most: int) -> bool:
        """Add a schedule. Return False if the person already has `most`; the check is atomic."""
        keys, raw = self._keys(schedule.team), schedule.model_dump_json()
        args = (schedule.id, raw, schedule.next_at, self._seconds, schedule.user, most)
        return bool(await self._redis.script("schedule_add", keys, *args))

    async def move(self, schedule: Schedule) -> bool:
        """Store a schedule with a new time. Return False if it has been deleted; it stays deleted."""
        raw, due = schedule.model_dump_json(), schedule.next_at
        keys = self._keys(schedule.team)
        return bool(
            await self._redis.script("schedule_move", keys, schedule.id, raw, due, self._seconds)
        )

    async def of(self, team: str, user: str) -> list[Schedule]:
        """Return the schedules of a person, the next first."""
        return [schedule for schedule in await self.of_all(team) if schedule.user == user]

    async def of_all(self, team: str) -> list[Schedule]:
        """Return all schedules of a workspace, the next first."""
        schedules = (await self._schedules(team).all()).values()
        return sorted(schedules, key=lambda schedule: schedule.next_at)

    async def ended(self, team: str, schedule_id: str, run_id: str, *, failed: bool) -> int:
        """Record the end of a scheduled run. Return how many runs have failed in a row."""
        keys = [self._keys(team)[0], self._failures(team)]
        flag = "1" if failed else "0"
        return int(
            await self._redis.script(
                "schedule_ended", keys, schedule_id, run_id, flag, self._seconds
            )
        )

    async def remove(self, team: str, schedule_id: str) -> bool:
        """Delete a schedule. Return False if it does not exist."""
        schedules, due = self._keys(team)
        gone, *_ = await self._redis.together(
            ("HDEL", schedules, schedule_id),
            ("ZREM", due, schedule_id),
            ("HDEL", self._failures(team), schedule_id),
        )
        return bool(gone)

    async def due(self, team: str, now: float) -> list[Schedule]:
        """Take the schedules that are due at `now`. Each goes to one process at a time.

        A schedule is due again two minutes later unless it was moved or removed.
        """
        due = TimedSet(self._redis, self._keys(team)[1], self._seconds)
        taken: list[Schedule] = []
        for name in await due.between(float("-inf"), int(now)):
            schedule = await self._schedules(team).get(name)
            if schedule is None:  # erased or damaged
                await self.remove(team, name)
                continue
            claim = self._redis.key("schedule-claim", team, name, str(schedule.next_at))
            if await self._redis.call("SET", claim, "1", "NX", "EX", CLAIM_SECONDS):
                taken.append(schedule)
        return taken

    def _schedules(self, team: str) -> Hash[Schedule]:
        return Hash(self._redis, self._keys(team)[0], Schedule, self._seconds)

    def _keys(self, team: str) -> tuple[str, str]:
        return self._redis.key("schedules", team), self._redis.key("schedules-due", team)

    def _failures(self, team: str) -> str:
        return self._redis.key("schedule-failures", team)
