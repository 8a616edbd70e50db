"""Days, holidays, hours, units and lots."""

from __future__ import annotations

from datetime import date

import pytest

from bot.core.errors import ToolError
from tools import dates, measures


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
    ("value", "unit", "to", "found"),
    [
        (1, "mile", "km", "1.609344 km"),
        (100, "degF", "degC", "37.7777777778 degC"),
        (1, "GiB", "MB", "1,073.741824 MB"),
        (3, "kWh", "MJ", "10.8 MJ"),
    ],
)
def test_units_are_converted(value: float, unit: str, to: str, found: str) -> None:
    assert measures.convert_units(value, unit, to).endswith(f"= {found}")


@pytest.mark.parametrize("unit", ["kg", "blorp", "__import__('os')", "m**99999", "m^99"])
def test_what_is_no_fitting_unit_is_refused(unit: str) -> None:
    with pytest.raises(ToolError):
        measures.convert_units(1, "mile", unit)


def test_lots_leave_nobody_out() -> None:
    names = list("abcdefg")
    drawn = measures.draw_lots(names, group_size=3)
    assert sorted(drawn.replace("group", "").translate(str.maketrans("", "", " ,:\n12"))) == names
    with pytest.raises(ToolError, match="9 cannot be drawn"):
        measures.draw_lots(names, count=9)


def test_words_are_counted() -> None:
    counted = measures.count_words("Hello world. It's fine!\nOk?")
    assert counted.startswith("words: 5 · characters: 27 · without spaces: 23 · sentences: 3")
