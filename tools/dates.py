"""Days and working days, public holidays, and hours that suit people in several time zones."""

from __future__ import annotations

import zoneinfo
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated

from pydantic import Field

from bot.toolkit import ToolError, tool, zone_named

_MOST_DAYS = 40_000
_MOST_ZONES = 10
_STEP = timedelta(minutes=30)

_Country = Annotated[
    str | None,
    Field(
        description='Two-letter code, with a region if holidays differ there: "DE", "DE-BY", '
        '"US-CA". Leave out to count without holidays.'
    ),
]


@tool(
    group="time", summary="Days, weeks and working days between two dates", title="Count the days"
)
def count_days(
    start: Annotated[date, Field(description="First date, as 2026-03-29.")],
    end: Annotated[date, Field(description="Second date; may be before the first.")],
    country: _Country = None,
) -> str:
    """Count from one date to another; the second date itself is not counted. Working days are Monday
    to Friday without the public holidays of the country."""
    first, last = min(start, end), max(start, end)
    _bounded(last - first)
    free = _holidays(country, range(first.year, last.year + 1))
    days = [first + timedelta(n) for n in range((last - first).days)]
    working = sum(_works(day, free) for day in days)
    weeks, rest = divmod(len(days), 7)
    sign = "-" if end < start else ""
    lines = [
        f"days: {sign}{len(days):,} ({weeks:,} weeks and {rest} days)",
        f"working days: {sign}{working:,}{f' without the holidays of {country}' if country else ''}",
    ]
    skipped = [f"{day} {free[day]}" for day in days if day in free and day.weekday() < _SATURDAY]
    return "\n".join([*lines, *(f"holiday: {each}" for each in skipped[:30])])


@tool(
    group="time",
    summary="The date so many days, working days, months or years from another",
    title="Count on from {start}",
)
def shift_date(
    start: Annotated[date, Field(description="Date to count from, as 2026-03-29.")],
    days: Annotated[int, Field(ge=-_MOST_DAYS, le=_MOST_DAYS, description="Days on.")] = 0,
    working_days: Annotated[int, Field(ge=-5_000, le=5_000, description="Working days on.")] = 0,
    months: Annotated[int, Field(ge=-1_200, le=1_200, description="Months on.")] = 0,
    years: Annotated[int, Field(ge=-200, le=200, description="Years on.")] = 0,
    country: _Country = None,
) -> str:
    """Count on (or back, with negative numbers) from a date: years and months first, then days, then
    working days. A day that a month does not have becomes its last."""
    from dateutil.relativedelta import relativedelta

    try:
        found = start + relativedelta(years=years, months=months, days=days)
        years_around = range(found.year - 21, found.year + 22) if working_days else range(0)
        free = _holidays(country, years_around) if working_days else {}
        step = timedelta(1 if working_days > 0 else -1)
        left = abs(working_days)
        while left:
            found += step
            left -= _works(found, free)
    except (OverflowError, ValueError):
        raise ToolError("That is before the year 1 or after 9999.") from None
    return f"date: {found} ({found:%A})"


@tool(
    group="time",
    summary="Public holidays of a country or region in a year",
    title="Holidays of {country} in {year}",
)
def list_holidays(
    country: Annotated[str, Field(description='As "DE", "DE-BY", "US-CA", "JP".')],
    year: Annotated[int, Field(ge=1900, le=2100, description="As 2026.")],
) -> str:
    """List the public holidays. For the future they are as the law stands now."""
    found = _holidays(country, range(year, year + 1))
    return "\n".join(f"{day} {day:%A}: {name}" for day, name in sorted(found.items())) or "None."


@tool(
    group="time",
    summary="Hours of a day that suit people in several time zones",
    title="Find a time on {day}",
)
def find_meeting_times(
    day: Annotated[date, Field(description="The day in the first zone, as 2026-03-30.")],
    zones: Annotated[
        list[str],
        Field(min_length=2, max_length=_MOST_ZONES, description='As "Europe/Berlin".'),
    ],
    from_hour: Annotated[int, Field(ge=0, le=23, description="Nobody begins before.")] = 9,
    to_hour: Annotated[int, Field(ge=1, le=24, description="Nobody ends after.")] = 17,
    minutes: Annotated[int, Field(ge=15, le=480, description="Length of the meeting.")] = 60,
) -> str:
    """Find starts within everybody's working hours, daylight saving included; where there is none, the
    starts that are outside them for the fewest."""
    if from_hour >= to_hour:
        raise ToolError("from_hour must be before to_hour.")
    there = [zone_named(name) for name in zones]
    fits: dict[datetime, list[str]] = {
        start: [
            name
            for name, zone in zip(zones, there, strict=True)
            if not _within(start, minutes, zone, from_hour, to_hour)
        ]
        for start in _starts(day, there[0])
    }
    fewest = min(len(outside) for outside in fits.values())
    lines = [
        " · ".join(f"{start.astimezone(zone):%a %H:%M} {zone.key}" for zone in there)
        + (f" · outside for {', '.join(outside)}" if outside else "")
        for start, outside in fits.items()
        if len(outside) == fewest
    ]
    head = "starts within everybody's hours:" if not fewest else "none suits everybody; nearest:"
    return "\n".join([head, *lines[:24]])


_SATURDAY = 5


def _works(day: date, free: dict[date, str]) -> bool:
    return day.weekday() < _SATURDAY and day not in free


def _bounded(span: timedelta) -> None:
    if span.days > _MOST_DAYS:
        raise ToolError(f"Up to {_MOST_DAYS:,} days can be counted.")


def _holidays(country: str | None, years: range) -> dict[date, str]:
    if not country or not years:
        return {}
    import holidays

    code, _, region = country.strip().upper().partition("-")
    supported = holidays.list_supported_countries()
    if code not in supported:
        raise ToolError(f"There are no holidays for {country!r}. Use a code as DE, DE-BY or US-CA.")
    if region and region not in supported[code]:
        known = ", ".join(supported[code]) or "none"
        raise ToolError(f"{code} has no region {region}. Regions: {known}.")
    return dict(holidays.country_holidays(code, subdiv=region or None, years=years))


def _starts(day: date, zone: zoneinfo.ZoneInfo) -> Iterator[datetime]:
    moment = datetime.combine(day, time.min, zone).astimezone(UTC)
    while moment.astimezone(zone).date() == day:
        yield moment
        moment += _STEP


def _within(
    start: datetime, minutes: int, zone: zoneinfo.ZoneInfo, from_hour: int, to_hour: int
) -> bool:
    begins = start.astimezone(zone)
    ends = (start + timedelta(minutes=minutes)).astimezone(zone)
    day = datetime.combine(begins.date(), time.min, zone)
    opens, closes = day.replace(hour=from_hour), day + timedelta(hours=to_hour)
    return begins.weekday() < _SATURDAY and opens <= begins and ends <= closes
