"""Days, holidays and hours."""

from __future__ import annotations

from datetime import date

import pytest

from bot.core.errors import ToolError
from tools import dates


def test_working_days_leave_out_weekends_and_holidays() -> None:
    counted = dates.count_days(date(2026, 4, 1), date(2026, 4, 8), "DE-BY")
    assert "days: 7 (1 weeks and 0 days)" in counted
    assert "working days: 3" in counted
    assert "holiday: 2026-04-03 Good Friday" in counted
    assert "days: -7" in dates.count_days(date(2026, 4, 8), date(2026, 4, 1))


@pytest.mark.parametrize(
    ("shift", "found"),
    [
        ({"months": 1}, "2026-02-28"),
        ({"years": -2, "days": 1}, "2024-02-01"),
        ({"working_days": 1}, "2026-02-02"),
        ({"working_days": -1}, "2026-01-30"),
    ],
)
def test_dates_are_counted_on(shift: dict[str, int], found: str) -> None:
    """The last of January, a Saturday."""
    assert dates.shift_date(date(2026, 1, 31), **shift).startswith(f"date: {found}")


def test_holidays_are_those_of_the_place() -> None:
    assert "2026-01-06 Tuesday: Epiphany" in dates.list_holidays("DE-BY", 2026)
    assert "Epiphany" not in dates.list_holidays("DE", 2026)
    with pytest.raises(ToolError, match="DE has no region XX"):
        dates.list_holidays("DE-XX", 2026)


def test_hours_that_suit_everybody_are_found() -> None:
    """Also in the weeks in which only one side has changed its clocks."""
    zones = ["Europe/Berlin", "America/New_York"]
    assert "Mon 15:00 Europe/Berlin · Mon 09:00 America/New_York" in dates.find_meeting_times(
        date(2026, 3, 30), zones
    )
    assert "Mon 14:00 Europe/Berlin · Mon 09:00 America/New_York" in dates.find_meeting_times(
        date(2026, 3, 23), zones
    )
    far = dates.find_meeting_times(date(2026, 3, 30), [*zones, "Asia/Tokyo"])
    assert far.startswith("none suits everybody")


@pytest.mark.parametrize(
    ("country", "said"),
    [
        ("GB", "Name the region (as GB-ENG)"),
        ("United Kingdom", "Name the region (as GB-ENG)"),
        ("CA", "Name the region (as CA-AB)"),
        ("CH", "Name the region (as CH-AG)"),
        ("IL", "the weekend of IL is Friday and Saturday"),
    ],
)
def test_a_country_whose_regions_or_weeks_differ_is_named(country: str, said: str) -> None:
    """V10: days off that only some regions have are not left out unsaid."""
    begin = date(2026, 4, 1)
    assert said in dates.count_days(begin, date(2026, 6, 1), country)
    assert said in dates.shift_date(begin, working_days=40, country=country)


@pytest.mark.parametrize("place", ["DE-BY", "de-bayern", "DE-Bayern", "JP", "Japan"])
def test_a_place_with_one_reading_gets_no_note(place: str) -> None:
    """V10: regions may be written as people write them."""
    assert "note" not in dates.count_days(date(2026, 4, 1), date(2026, 4, 8), place)


def test_days_that_a_country_works_at_the_weekend_count() -> None:
    """V10: China moves working days to Saturdays and Sundays around its long holidays."""
    assert "working days: 1 " in dates.count_days(date(2026, 2, 14), date(2026, 2, 15), "CN")
    assert "working days: 0" in dates.count_days(date(2026, 2, 14), date(2026, 2, 15), "JP")
