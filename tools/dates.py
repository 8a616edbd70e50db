"""Tools for dates: working days, public holidays, and meeting times across time zones."""

from __future__ import annotations

from calendar import day_name
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from bot.toolkit import Reads, ToolError, tool, zone_label, zone_named, zone_note

if TYPE_CHECKING:
    from holidays import HolidayBase

_MOST_DAYS = 40_000
_MOST_ZONES = 10
_STEP = timedelta(minutes=30)

_Country = Annotated[
    str | None,
    Field(
        description='Country, with its region if that is known: "DE-BY", "US-CA", "GB-SCT", "JP". '
        "Leave out to count without holidays."
    ),
]


@tool(
    group="time",
    summary="Days, weeks and working days between two dates",
    safety=Reads(calculates=True),
    title="Count the days",
)
def count_days(
    start: Annotated[date, Field(description="First date, as 2026-03-29.")],
    end: Annotated[date, Field(description="Second date; may be before the first.")],
    country: _Country = None,
) -> str:
    """Count from one date to another; the second date itself is not counted. Working days are those
    of the country's week (Monday to Friday unless it has another) without its public holidays."""
    first, last = min(start, end), max(start, end)
    _bounded(last - first)
    place = _Place(country, range(first.year, last.year + 1))
    days = [first + timedelta(n) for n in range((last - first).days)]
    working = sum(place.works(day) for day in days)
    weeks, rest = divmod(len(days), 7)
    sign = "-" if end < start else ""
    lines = [
        f"days: {sign}{len(days):,} ({weeks:,} weeks and {rest} days)",
        f"working days: {sign}{working:,}{f' without the holidays of {country}' if country else ''}",
    ]
    skipped = [day for day in days if day in place.free and not place.is_weekend(day)]
    return "\n".join(
        [
            *lines,
            *place.notes(first, last),
            *(f"holiday: {day} {place.free[day]}" for day in skipped[:_MOST_LISTED]),
            *_left_out(len(skipped)),
        ]
    )


@tool(
    group="time",
    summary="The date so many days, working days, months or years from another",
    safety=Reads(calculates=True),
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
        day = start + relativedelta(years=years, months=months, days=days)
        if not working_days:
            return f"date: {day} ({day:%A})"
        counted_from = day
        place = _Place(country, range(day.year - 21, day.year + 22))
        step = timedelta(1 if working_days > 0 else -1)
        days_left = abs(working_days)
        while days_left:
            day += step
            days_left -= place.works(day)
    except (OverflowError, ValueError):
        raise ToolError("That is before the year 1 or after 9999.") from None
    notes = place.notes(min(counted_from, day), max(counted_from, day) + timedelta(1))
    return "\n".join([f"date: {day} ({day:%A})", *notes])


@tool(
    group="time",
    summary="Public holidays of a country or region in a year",
    safety=Reads(public=True),
    title="Holidays of {country} in {year}",
)
def list_holidays(
    country: Annotated[str, Field(description='As "DE", "DE-BY", "US-CA", "JP".')],
    year: Annotated[int, Field(ge=1900, le=2100, description="As 2026.")],
) -> str:
    """List the public holidays. For the future they are as the law stands now."""
    place = _Place(country, range(year, year + 1))
    lines = [f"{day} {day:%A}: {name}" for day, name in sorted(place.free.items())] or ["None."]
    return "\n".join([*lines, *place.notes(date(year, 1, 1), date(year + 1, 1, 1))])


@tool(
    group="time",
    summary="Hours of a day that suit people in several time zones",
    safety=Reads(calculates=True),
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
    found_zones = [zone_named(name) for name in zones]
    fits: dict[datetime, list[str]] = {
        start: [
            name
            for name, zone in zip(zones, found_zones, strict=True)
            if not _within(start, minutes, zone, from_hour, to_hour)
        ]
        for start in _starts(day, found_zones[0])
    }
    fewest = min(len(outside) for outside in fits.values())
    lines = [
        " · ".join(f"{start.astimezone(zone):%a %H:%M} {zone_label(zone)}" for zone in found_zones)
        + (f" · outside for {', '.join(outside)}" if outside else "")
        for start, outside in fits.items()
        if len(outside) == fewest
    ]
    head = "starts within everybody's hours:" if not fewest else "none suits everybody; nearest:"
    notes = [f"note: {note}." for name in zones if (note := zone_note(name))]
    return "\n".join([head, *lines[:24], *notes])


_SATURDAY = 5
_MOST_LISTED = 30
_MOST_YEARS_COMPARED = 5
"""Comparing the holidays of 57 states over 40 years would take a second."""


class _Place:
    """The working week and public holidays of a country or region.

    Without a country the week is Monday to Friday, without holidays. `free` maps holidays to names.
    """

    def __init__(self, country: str | None, years: range) -> None:
        self._years = years
        self._calendar: HolidayBase | None = None
        self._code = self._region = ""
        if country:
            self._code, self._region = _code_and_region(country)
            self._calendar = self._of_region(self._region)
        self.free: dict[date, str] = dict(self._calendar or {})

    def works(self, day: date) -> bool:
        """Return whether `day` is a working day. Some countries move working days to a weekend."""
        if self._calendar is None:
            return not self.is_weekend(day)
        return self._calendar.is_working_day(day)

    def is_weekend(self, day: date) -> bool:
        if self._calendar is None:
            return day.weekday() >= _SATURDAY
        return self._calendar.is_weekend(day)

    def notes(self, first: date, last: date) -> list[str]:
        """Return notes on a count from `first` to before `last`.

        They name a weekend other than Saturday and Sunday, years that the calendar lacks, and
        regions with other holidays.
        """
        calendar = self._calendar
        if calendar is None:
            return []
        notes = []
        if calendar.weekend != {5, 6}:
            days = " and ".join(day_name[day] for day in sorted(calendar.weekend))
            notes.append(f"note: the weekend of {self._code} is {days}.")
        if first.year < calendar.start_year or last > date(calendar.end_year + 1, 1, 1):
            notes.append(
                f"note: holidays of {self._code} are known from {calendar.start_year} to "
                f"{calendar.end_year} only."
            )
        return [*notes, *self._regional(first, last)]

    def _regional(self, first: date, last: date) -> list[str]:
        import holidays

        regions = [] if self._region else holidays.list_supported_countries()[self._code]
        if not regions:
            return []
        name = f"as {self._code}-{regions[0]}"
        if last.year - first.year >= _MOST_YEARS_COMPARED:
            return [f"note: holidays may differ by region; name one ({name}) where it matters."]
        own = self._free_days(self._calendar, first, last)
        differing = {
            region: free_days
            for region in regions
            if (free_days := self._free_days(self._of_region(region), first, last)) != own
        }
        if not differing:
            return []
        counts = sorted({len(own), *map(len, differing.values())})
        return [
            f"note: these are the holidays of all of {self._code}. Regions differ in this time: "
            f"{len(own)} holidays on working days here, {counts[0]} to {counts[-1]} by region "
            f"({', '.join(sorted(differing))}). Name the region ({name}) where it matters, or ask "
            "which one is meant."
        ]

    def _free_days(self, calendar: HolidayBase | None, first: date, last: date) -> frozenset[date]:
        """Return the holidays from `first` to before `last` that are not on a weekend."""
        return frozenset(
            day for day in calendar or () if first <= day < last and not self.is_weekend(day)
        )

    def _of_region(self, region: str) -> HolidayBase:
        import holidays

        # In English, whatever the language of the machine and its Python.
        return holidays.country_holidays(
            self._code, subdiv=region or None, years=self._years, language="en_US"
        )


def _left_out(count: int) -> list[str]:
    more = count - _MOST_LISTED
    return [f"and {more} more holidays on working days"] if more > 0 else []


def _bounded(span: timedelta) -> None:
    if span.days > _MOST_DAYS:
        raise ToolError(f"Up to {_MOST_DAYS:,} days can be counted.")


def _code_and_region(place: str) -> tuple[str, str]:
    """Return the codes of a place such as "DE-BY", "GB-Scotland" or "Germany", region "" if none.

    Raises ToolError for an unknown place.
    """
    import holidays
    from babel import Locale

    supported = holidays.list_supported_countries()
    named = {name.casefold(): code for code, name in Locale("en").territories.items()}
    place_name = place.strip()
    code, _, region = place_name.partition("-")
    code = named.get(place_name.casefold(), code.upper())
    if code not in supported:
        raise ToolError(f"There are no holidays for {place!r}. Use a code as DE, DE-BY or US-CA.")
    if place_name.casefold() in named or not region:
        return code, ""
    names: dict[str, str] = holidays.country_holidays(code).subdivisions_aliases
    by_name = {name.casefold(): code for name, code in names.items()}
    by_code = {region_code.casefold(): region_code for region_code in supported[code]}
    match = by_code.get(region.casefold()) or by_name.get(region.casefold())
    if match is None:
        known = ", ".join(supported[code]) or "none"
        raise ToolError(f"{code} has no region {region}. Regions: {known}.")
    return code, match


def _starts(day: date, zone: tzinfo) -> Iterator[datetime]:
    moment = datetime.combine(day, time.min, zone).astimezone(UTC)
    while moment.astimezone(zone).date() == day:
        yield moment
        moment += _STEP


def _within(start: datetime, minutes: int, zone: tzinfo, from_hour: int, to_hour: int) -> bool:
    begins = start.astimezone(zone)
    ends = (start + timedelta(minutes=minutes)).astimezone(zone)
    day = datetime.combine(begins.date(), time.min, zone)
    opens, closes = day.replace(hour=from_hour), day + timedelta(hours=to_hour)
    return begins.weekday() < _SATURDAY and opens <= begins and ends <= closes
