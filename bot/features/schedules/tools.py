"""Tools for reminders, and for questions that the bot answers later, once or repeatedly."""

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
    SchedulePlace,
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
_ELSEWHERE = "What comes elsewhere is told in a direct message only."


_PLACES = {
    "thread": Text("in this thread"),
    "channel": Text("in {channel}"),
    "direct": Text("in direct messages"),
}
_TITLES = {
    False: (Text("Schedule {place} for {time}"), Text("Schedule {place}, {often} ({zone})")),
    True: (Text("Reminder {place} for {time}"), Text("Reminder {place}, {often} ({zone})")),
}


def _schedule_title(arguments: Any) -> str:
    once, again = _TITLES[bool(arguments.remind)]
    place = _PLACES[_place(arguments)](channel=current_request().channel)
    if arguments.cron:
        zone = current_request().request.time_zone
        return again(place=place, often=often_of(arguments.cron), zone=zone)
    return once(place=place, time=day_and_time(arguments.at) if arguments.at else "?")


def _place(arguments: Any) -> SchedulePlace:
    """Return where it comes. Direct messages are no channel that others read."""
    where: SchedulePlace = arguments.where or ("direct" if arguments.remind else "thread")
    return "direct" if where == "channel" and current_request().channel.startswith("D") else where


def _is_daily_at_most(arguments: Any) -> bool:
    """Return whether it comes once, or at one time of a day: anything that was read may have talked the
    model into more, and each time costs."""
    return not arguments.cron or _ONCE_A_DAY.fullmatch(arguments.cron.strip()) is not None


def _is_for_asker(arguments: Any) -> bool:
    return _place(arguments) == "direct" and _is_daily_at_most(arguments)


async def _is_crowded(call: Any, services: Services) -> bool:
    """Return whether a question comes within a day of another that nobody approved: many that come
    once cost as much as one that comes often."""
    schedules = cast(Schedules, services[Schedules])
    return not call.remind and await schedules.is_crowded(at=call.at, cron=call.cron or "")


async def _can_be_scheduled(call: Any, services: Services) -> Any:
    """Return the call with what is unusual in it, which is all that the card lists below its title."""
    schedules, where = cast(Schedules, services[Schedules]), _place(call)
    at = _with_offset(call.at)
    remind = bool(call.remind)
    await schedules.check(call.text, at=at, cron=call.cron or "", remind=remind, where=where)
    usual = where == ("direct" if remind else "thread")
    return call.model_copy(update={"remind": remind or None, "where": None if usual else where})


_ASKED = (
    r"\bremind(?:er)?\b|\berinner\w*|\brappel(?:le|er|ez)\b|\brecu[ée]rda(?:me|nos|le|les)\b"
    r"|\brecordar(?:me|nos|le|les)\b|\brecordatorio|\blembre(?:te|-me|-nos)\b|\b(?:me|nos) lembr[ae]\b",
    r"\b(?:every|each) (?:other )?(?:work|week)?(?:day|morning|evening|hour|week|month|\w+day)s?\b",
    r"\bjede[nrs]? (?:\w+ )?(?:tag|morgen|abend|stunde|woche|monat|mittwoch|\w+tag)\b",
    r"\b(?:chaque|tous les|toutes les) (?:jour|matin|soir|heure|semaine|mois|\w+di|dimanche)s?\b",
    r"\b(?:cada|tod[oa]s? (?:[oa]s |l[oa]s )?)\s*(?:d[íi]a|mañana|noche|hora|semana|mes|lunes|martes"
    r"|mi[ée]rcoles|jueves|viernes|s[áa]bado|domingo|manhã|m[êe]s|segunda|terça|quarta|quinta|sexta)s?\b",
    r"リマインド|リマインダー|思い出させて|毎(?:日|朝|晩|週|月|時|回)",
)


@tool(
    group="schedules",
    summary="Remind the asker, or ask something later or again and again (every Monday)",
    safety=Changes(
        sensitive=True,
        check=_can_be_scheduled,
        free_in_direct=_is_daily_at_most,
        for_asker=_is_for_asker,
        too_many=_is_crowded,
    ),
    asked_as=_ASKED,
    title=_schedule_title,
)
async def schedule_prompt(
    text: Annotated[
        str,
        Field(
            min_length=3,
            max_length=2_000,
            description="The whole question, as asked then; of a reminder, what it is about.",
        ),
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
    remind: Annotated[
        bool | None,
        Field(
            description="True: text is posted then as it is, and nothing is looked up or written."
        ),
    ] = None,
    where: Annotated[
        SchedulePlace | None,
        Field(
            description='"thread": here; "channel": a new message here; "direct": to the asker alone. '
            "Null: a question here, a reminder to the asker."
        ),
    ] = None,
) -> str:
    """Have the asker reminded, or a question asked for them and answered, at a time or by a cron
    expression. Only when they want that. What others read, or comes more than once a day, somebody
    approves first, exactly so."""
    place: SchedulePlace = where or ("direct" if remind else "thread")
    made = await schedules.add(
        text, at=_with_offset(at), cron=cron or "", remind=bool(remind), where=place
    )
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
    """List what is asked later for the asker, and their reminders, with ids. Whoever asks what is
    scheduled means list_scheduled_messages as well."""
    listed = "\n".join(map(_line, await schedules.all())) or _NONE
    return listed if current_request().request.is_for_one else f"{listed}\n{_ELSEWHERE}"


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
    """Let it never come again."""
    return f"cancelled: {_line(await schedules.cancel(id))}"


def _line(schedule: Schedule) -> str:
    zone = zone_of(schedule.time_zone)
    when = datetime.fromtimestamp(schedule.next_at, UTC).astimezone(zone)
    often = f"{cron_in_words(schedule.cron)}, next" if schedule.cron else "once"
    kind = "reminder" if schedule.remind else "question"
    place = "direct message" if schedule.channel.startswith("D") else f"channel {schedule.channel}"
    return f"{schedule.id} · {often} {when:%a %Y-%m-%d %H:%M} {zone.key} · {kind}, {place} · {schedule.text}"
