"""Tools for the current time and for conversion between time zones."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Annotated

from pydantic import Field

from bot.toolkit import Reads, ToolError, current_request, tool, zone_label, zone_named, zone_note

_Zone = Field(description='Time zone, city or offset, as "Europe/Berlin", "Tokyo" or "UTC+2".')


@tool(
    group="time",
    summary="Date and time now, here or anywhere",
    safety=Reads(public=True, repeatable=False),
    title="Look at the clock",
)
def current_time(
    zone: Annotated[
        str | None, Field(description='Zone or city, as "Tokyo"; leave out for the asker\'s own.')
    ] = None,
) -> str:
    """Tell the current date, weekday and time in a time zone."""
    name = zone or current_request().request.time_zone
    now = f"now: {_written(datetime.now(UTC).astimezone(zone_named(name)))}"
    return "\n".join([now, *_readings(name)])


@tool(
    group="time",
    summary="Convert a time between time zones",
    safety=Reads(calculates=True),
    title="Convert {time} from {from_zone} to {to_zone}",
)
def convert_time(
    time: Annotated[
        str, Field(description='"2026-03-29 14:30", or "14:30" for today in from_zone.')
    ],
    from_zone: Annotated[str, _Zone],
    to_zone: Annotated[str, _Zone],
) -> str:
    """Convert a date and time from one time zone to another, daylight saving included."""
    source, target = zone_named(from_zone), zone_named(to_zone)
    moment = _moment(time, source)
    lines = [
        f"from: {_written(moment)}",
        f"to: {_written(moment.astimezone(UTC).astimezone(target))}",
    ]
    return "\n".join([*lines, *_oddities(moment), *_readings(from_zone, to_zone)])


def _readings(*zones: str) -> list[str]:
    """Return a note for each zone whose name is ambiguous, with the reading that was used."""
    return [f"note: {note}." for zone in dict.fromkeys(zones) if (note := zone_note(zone))]


def _moment(text: str, zone: tzinfo) -> datetime:
    try:
        if re.fullmatch(r"\d{1,2}:\d{2}(:\d{2})?", text.strip()):
            clock = time.fromisoformat(text.strip().zfill(5))
            return datetime.combine(datetime.now(zone).date(), clock, zone)
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ToolError(
            f'{text!r} is not a time. Write it as "2026-03-29 14:30" or "14:30".'
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


def _oddities(moment: datetime) -> list[str]:
    """Return a note if daylight saving skips the time in spring or repeats it in autumn."""
    back = moment.astimezone(UTC).astimezone(moment.tzinfo)
    if back.replace(tzinfo=None) != moment.replace(tzinfo=None):
        return [
            f"note: that time does not exist there: the clocks go forward. Taken as {back:%H:%M}."
        ]
    if moment.replace(fold=1).utcoffset() != moment.utcoffset():
        later = moment.replace(fold=1).astimezone(UTC) - moment.astimezone(UTC)
        return [
            f"note: that time comes twice there; the first is taken, the second is {later} later."
        ]
    return []


def _written(moment: datetime) -> str:
    offset = moment.utcoffset() or timedelta()
    sign = "-" if offset < timedelta() else "+"
    hours, minutes = divmod(abs(offset) // timedelta(minutes=1), 60)
    written = f"UTC{sign}{hours:02}:{minutes:02}"
    label = zone_label(moment.tzinfo) if moment.tzinfo else written
    names = written if label == written else f"{label}, {written}"
    return f"{moment:%Y-%m-%d %H:%M:%S %A} ({names})"
