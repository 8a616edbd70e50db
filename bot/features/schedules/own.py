"""Schedules of the asker."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.core.context import current_request
from bot.core.errors import ToolError
from bot.core.schedule import MOST, Schedule, first_time
from bot.store import ScheduleStore

_LATEST_DAYS = 366
_GRACE_SECONDS = 600  # a time that passed while the approval was pending is due at once
_TOO_MANY = f"The person has {MOST} schedules already; cancel one first."


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


def _utc(moment: float) -> str:
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%dT%H:%MZ}"
