"""Schedules of the person who asks, and when each comes next."""

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
from bot.core.text.time_zones import zone_of
from bot.store import ScheduleStore

MOST = 10  # of one person in a workspace
_LEAST_MINUTES = 15
_LATEST_DAYS = 366
_GRACE_SECONDS = 600  # passed while somebody made up their mind to approve it: it comes at once
_TOO_MANY = f"The person has {MOST} schedules already; cancel one first."
_LOOKED_AT = 100  # times; at the least distance, more than a day of them


@dataclass(frozen=True, slots=True)
class OwnSchedules:
    """See `bot.toolkit.schedules.Schedules`. Whose they are follows from the request alone."""

    store: ScheduleStore
    clock: Callable[[], float] = time.time

    async def check(self, text: str, *, at: datetime | None, cron: str) -> None:
        self._made(text, at, cron)
        if len(await self.all()) >= MOST:
            raise ToolError(_TOO_MANY)

    async def add(self, text: str, *, at: datetime | None, cron: str) -> Schedule:
        schedule = self._made(text, at, cron)
        if not await self.store.add(schedule, most=MOST):
            raise ToolError(_TOO_MANY)
        return schedule

    def _made(self, text: str, at: datetime | None, cron: str) -> Schedule:
        request = current_request().request
        if request.private:
            raise ToolError("Only what is asked in the open can be asked again. Say so.")
        if bool(at) == bool(cron):
            raise ToolError("Give either at or cron.")
        first = int(at.timestamp()) if at else first_time(cron, request.time_zone, self.clock())
        now = self.clock()
        if first < now - _GRACE_SECONDS:
            raise ToolError(f"That time has passed: now it is {_said(now)}.")
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
    """As `next_time`; also raises ToolError for what comes too often at any hour, not only next."""
    soon = islice(_times(cron, time_zone, now), _LOOKED_AT)
    if any(later - sooner < timedelta(minutes=_LEAST_MINUTES) for sooner, later in pairwise(soon)):
        raise ToolError(f"At most every {_LEAST_MINUTES} minutes.")
    return next_time(cron, time_zone, now)


def next_time(cron: str, time_zone: str, now: float) -> int:
    """When `cron` comes next after `now`, in seconds since the epoch, by the clocks of `time_zone`.

    Raises ToolError for what is no cron expression, or never comes.
    """
    comes = next(_times(cron, time_zone, now), None)
    if comes is None:
        raise ToolError(f"{cron!r} never comes.")
    return int(comes.timestamp())


def _times(cron: str, time_zone: str, now: float) -> Iterator[datetime]:
    try:
        return CronSim(cron, datetime.fromtimestamp(now, zone_of(time_zone)))
    except CronSimError as error:
        raise ToolError(f'{cron!r} is no cron expression ({error}). Write "0 9 * * MON".') from None


def _said(moment: float) -> str:
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%dT%H:%MZ}"
