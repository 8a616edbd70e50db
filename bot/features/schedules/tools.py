"""Tools for questions that the bot answers later, once or repeatedly."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any, cast

from pydantic import Field

from bot.toolkit import (
    Changes,
    Provided,
    Reads,
    Schedule,
    Schedules,
    Services,
    Text,
    ToolError,
    cron_in_words,
    current_request,
    day_and_time,
    often_of,
    tool,
    zone_of,
)

_ONCE_A_DAY = re.compile(r"\d+ +\d+( +\S+){3}")
"""A cron expression of five fields with one minute and one hour."""
_NONE = (
    "No question or reminder is scheduled. Messages that wait to be posted are told by "
    "list_scheduled_messages."
)


_SCHEDULE = Text("Schedule in this thread")
_SCHEDULE_FOR = Text("Schedule in this thread for {time}")
_SCHEDULE_OFTEN = Text("Schedule in this thread, {often} ({zone})")


def _schedule_title(arguments: Any) -> str:
    if arguments.cron:
        zone = current_request().request.time_zone
        return _SCHEDULE_OFTEN(often=often_of(arguments.cron), zone=zone)
    if arguments.at:
        return _SCHEDULE_FOR(time=day_and_time(arguments.at))
    return _SCHEDULE()


def _is_daily_at_most(arguments: Any) -> bool:
    """Return whether the question is asked once, or at one time of a day: anything that was read may
    have talked the model into more, and each time costs."""
    return not arguments.cron or _ONCE_A_DAY.fullmatch(arguments.cron.strip()) is not None


async def _can_be_scheduled(call: Any, services: Services) -> None:
    schedules = cast(Schedules, services[Schedules])
    await schedules.check(call.text, at=_with_offset(call.at), cron=call.cron or "")


@tool(
    group="schedules",
    summary="Ask something later or again and again, in this thread",
    safety=Changes(sensitive=True, check=_can_be_scheduled, free_in_direct=_is_daily_at_most),
    title=_schedule_title,
)
async def schedule_prompt(
    text: Annotated[
        str,
        Field(min_length=3, max_length=2_000, description="The whole question, as asked then."),
    ],
    schedules: Provided[Schedules],
    at: Annotated[
        datetime | None,
        Field(description='Once: "2026-03-01T09:00+01:00", with the offset of the asker.'),
    ] = None,
    cron: Annotated[
        str | None,
        Field(max_length=100, description='Or again and again: "0 9 * * MON", asker\'s zone.'),
    ] = None,
) -> str:
    """Have a question asked for the asker at a time or by a cron expression; it is answered in this
    thread. Only when they want that. In a channel, or more than once a day, somebody approves exactly this
    text first."""
    made = await schedules.add(text, at=_with_offset(at), cron=cron or "")
    return f"scheduled: {_line(made)}"


def _with_offset(at: datetime | None) -> datetime | None:
    """Return `at`. Raises ToolError for a time without an offset."""
    if at and at.tzinfo is None:
        raise ToolError("at needs an offset, as in 2026-03-01T09:00+01:00.")
    return at


@tool(
    group="schedules",
    summary="The asker's schedules",
    safety=Reads(repeatable=False),
    title="List the schedules",
)
async def list_schedules(schedules: Provided[Schedules]) -> str:
    """List what is asked later for the asker, with ids. Whoever asks what is scheduled means
    list_scheduled_messages as well."""
    return "\n".join(map(_line, await schedules.all())) or _NONE


@tool(
    group="schedules",
    summary="Cancel one of the asker's schedules",
    safety=Changes(),
    title="Cancel a schedule",
)
async def cancel_schedule(
    id: Annotated[str, Field(description="As list_schedules gives it.")],
    schedules: Provided[Schedules],
) -> str:
    """Never ask it again."""
    return f"cancelled: {_line(await schedules.cancel(id))}"


def _line(schedule: Schedule) -> str:
    zone = zone_of(schedule.time_zone)
    when = datetime.fromtimestamp(schedule.next_at, UTC).astimezone(zone)
    often = f"{cron_in_words(schedule.cron)}, next" if schedule.cron else "once"
    return f"{schedule.id} · {often} {when:%a %Y-%m-%d %H:%M} {zone.key} · {schedule.text}"
