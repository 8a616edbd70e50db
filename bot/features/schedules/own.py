"""Schedules of the asker."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.core.context import current_request
from bot.core.errors import ToolError
from bot.core.schedule import MOST, Schedule, first_time, next_time
from bot.store import ScheduleStore
from bot.toolkit.provided.schedules import SchedulePlace

_DAY = 86_400
_LATEST_DAYS = 366
_GRACE_SECONDS = 600  # a time that passed while the approval was pending is due at once
_TOO_MANY = f"The person has {MOST} schedules already; cancel one first."


DirectChannel = Callable[[str], Awaitable[str]]
"""Return the id of the direct messages between a user and the bot. Raises ToolError."""


async def _no_direct_channel(_user: str) -> str:
    raise ToolError("There are no direct messages here.")


@dataclass(frozen=True, slots=True)
class OwnSchedules:
    """The schedules of the current request's asker; see `bot.toolkit.provided.schedules.Schedules`."""

    store: ScheduleStore
    clock: Callable[[], float] = time.time
    direct_channel: DirectChannel = _no_direct_channel

    async def check(
        self,
        text: str,
        *,
        at: datetime | None,
        cron: str,
        remind: bool = False,
        where: SchedulePlace = "thread",
    ) -> None:
        await self._build(text, at, cron, remind, where)
        if len(await self._every()) >= MOST:
            raise ToolError(_TOO_MANY)

    async def add(
        self,
        text: str,
        *,
        at: datetime | None,
        cron: str,
        remind: bool = False,
        where: SchedulePlace = "thread",
    ) -> Schedule:
        schedule = await self._build(text, at, cron, remind, where)
        if not await self.store.add(schedule, most=MOST):
            raise ToolError(_TOO_MANY)
        return schedule

    async def _build(
        self, text: str, at: datetime | None, cron: str, remind: bool, where: SchedulePlace
    ) -> Schedule:
        request = current_request().request
        if request.private and where != "direct":
            raise ToolError(
                "This was asked in private, so it can only come in a direct message. Say so."
            )
        if bool(at) == bool(cron):
            raise ToolError("Give either at or cron.")
        first = int(at.timestamp()) if at else first_time(cron, request.time_zone, self.clock())
        now = self.clock()
        if first < now - _GRACE_SECONDS:
            raise ToolError(f"That time has passed: now it is {_utc(now)}.")
        if first > now + _LATEST_DAYS * _DAY:
            raise ToolError(f"That is too far off: {_LATEST_DAYS} days ahead is the most.")
        channel = request.channel
        if where == "direct" and not channel.startswith("D"):
            channel = await self.direct_channel(request.user)
        return Schedule(
            team=request.team,
            channel=channel,
            thread=(request.reply_to or "") if where == "thread" else "",
            user=request.user,
            text=text,
            cron=cron,
            time_zone=request.time_zone,
            next_at=first,
            remind=remind,
            suggested=channel.startswith("D"),
        )

    async def is_crowded(self, *, at: datetime | None, cron: str) -> bool:
        others = [one for one in await self._every() if one.suggested and not one.remind]
        zone = current_request().request.time_zone
        return any(
            bool(cron and one.cron)
            or (at is not None and _is_near(at.timestamp(), one.cron, one.time_zone, one.next_at))
            or bool(cron and _is_near(one.next_at, cron, zone, 0))
            for one in others
        )

    async def all(self) -> list[Schedule]:
        request, schedules = current_request().request, await self._every()
        if request.is_for_one:
            return schedules
        return [schedule for schedule in schedules if schedule.channel == request.channel]

    async def _every(self) -> list[Schedule]:
        request = current_request().request
        return await self.store.of(request.team, request.user)

    async def cancel(self, schedule_id: str) -> Schedule:
        found = next((each for each in await self._every() if each.id == schedule_id), None)
        if found is None:
            raise ToolError(f"The person has no schedule {schedule_id}. list_schedules names them.")
        await self.store.remove(found.team, found.id)
        return found


def _is_near(moment: float, cron: str, zone: str, once: int) -> bool:
    """Return whether `cron`, or without one `once`, is due less than a day before or after `moment`."""
    due = next_time(cron, zone, moment - _DAY) if cron else once
    return abs(due - moment) < _DAY


def _utc(moment: float) -> str:
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%dT%H:%MZ}"
