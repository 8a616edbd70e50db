"""Schedules of the asker, and the times at which they are due."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise

from cronsim import CronSim, CronSimError

from bot.core.context import current_request
from bot.core.errors import ToolError
from bot.core.schedule import Schedule
from bot.core.time_zones import zone_of
from bot.store import ScheduleStore

MOST = 10  # of one person in a workspace
_LEAST_MINUTES = 15
_LATEST_DAYS = 366
_GRACE_SECONDS = 600  # a time that passed while the approval was pending is due at once
_TOO_MANY = f"The person has {MOST} schedules already; cancel one first."
_CHECKED_TIMES = 100  # times of a schedule: more than a day of them at the shortest interval


@dataclass(frozen=True, slots=True)
class OwnSchedules:
    """The schedules of the current request's asker; see `bot.toolkit.provided.schedules.Schedules`."""

    store: ScheduleStore
    clock: Callable[[], float] = time.time

    async def check(self, text: str, *, at: datetime | None, cron: str) -> None:
        self._build(text, at, cron)
        if len(await self.all()) >= MOST:
            raise ToolError(_TOO_MANY)

    async def add(self, text: str, *, at: datetime | None, cron: str) -> Schedule:
        schedule = self._build(text, at, cron)
        if not await self.store.add(schedule, most=MOST):
            raise ToolError(_TOO_MANY)
        return schedule

    def _build(self, text: str, at: datetime | None, cron: str) -> Schedule:
        request = current_request().request
        if request.private:
            raise ToolError("Only what is asked in the open can be asked again. Say so.")
        if bool(at) == bool(cron):
            raise ToolError("Give either at or cron.")
        first = int(at.timestamp()) if at else first_time(cron, request.time_zone, self.clock())
        now = self.clock()
        if first < now - _GRACE_SECONDS:
            raise ToolError(f"That time has passed: now it is {_utc(now)}.")
        if first > now + _LATEST_DAYS * 86_400:
            raise ToolError(f"That is too far off: {_LATEST_DAYS} days ahead is the most.")
        return Schedule(
            team=request.team,
            channel=request.channel,
            thread=request.thread,
            user=request.user,
            text=text,
            cron=cron,
            time_zone=request.time_zone,
            next_at=first,
            suggested=request.channel.startswith("D"),
        )

    async def all(self) -> list[Schedule]:
        request = current_request().request
        return await self.store.of(request.team, request.user)

    async def cancel(self, schedule_id: str) -> Schedule:
        found = next((each for each in await self.all() if each.id == schedule_id), None)
        if found is None:
            raise ToolError(f"The person has no schedule {schedule_id}. list_schedules names them.")
        await self.store.remove(found.team, found.id)
        return found


def first_time(cron: str, time_zone: str, now: float) -> int:
    """Return the first time of a new schedule, as `next_time` does.

    Also raises ToolError if any two of its times are closer than 15 minutes.
    """
    soon = islice(_times(cron, time_zone, now), _CHECKED_TIMES)
    if any(later - sooner < timedelta(minutes=_LEAST_MINUTES) for sooner, later in pairwise(soon)):
        raise ToolError(f"At most every {_LEAST_MINUTES} minutes.")
    return next_time(cron, time_zone, now)


def next_time(cron: str, time_zone: str, now: float) -> int:
    """Return when `cron` is next due after `now`, both in seconds since the epoch.

    `cron` is in the local time of `time_zone`. Raises ToolError if it is invalid or never due.
    """
    due = next(_times(cron, time_zone, now), None)
    if due is None:
        raise ToolError(f"{cron!r} never comes.")
    return int(due.timestamp())


def _times(cron: str, time_zone: str, now: float) -> Iterator[datetime]:
    try:
        return CronSim(cron, datetime.fromtimestamp(now, zone_of(time_zone)))
    except CronSimError as error:
        raise ToolError(f'{cron!r} is no cron expression ({error}). Write "0 9 * * MON".') from None


def _utc(moment: float) -> str:
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%dT%H:%MZ}"
