"""Times are told and converted in real zones, summer time included."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from bot.core.errors import ToolError
from tests.support.conversation import asked
from tools.clock import convert_time, current_time


def test_now_is_told_in_the_askers_zone() -> None:
    """Nobody has to say where they are."""
    with asked(time_zone="Asia/Tokyo"):
        told = current_time()
    match = re.fullmatch(r"now: (\S+ \S+) \w+ \(Asia/Tokyo, UTC\+09:00\)", told)
    assert match
    then = datetime.fromisoformat(f"{match[1]}+09:00")
    assert abs((datetime.now(UTC) - then).total_seconds()) < 60


@pytest.mark.parametrize(
    ("zone", "found"),
    [
        ("new york", "America/New_York"),
        ("Europe/Berlin", "Europe/Berlin"),
        ("UTC", "UTC"),
        ("kolkata", "Asia/Kolkata"),
        ("são paulo", None),
    ],
)
def test_a_city_names_its_zone(zone: str, found: str | None) -> None:
    if found:
        assert f"({found}, UTC" in current_time(zone)
        return
    with pytest.raises(ToolError, match="America/Sao_Paulo"):
        current_time(zone)


def test_a_time_is_converted() -> None:
    assert convert_time("2026-11-20 14:30", "Berlin", "America/Los_Angeles") == (
        "from: 2026-11-20 14:30:00 Friday (Europe/Berlin, UTC+01:00)\n"
        "to: 2026-11-20 05:30:00 Friday (America/Los_Angeles, UTC-08:00)"
    )
    assert "to: 2026-01-01 05:30:00 Thursday" in convert_time("2026-01-01 00:00", "UTC", "kolkata")
    assert convert_time("9:15", "UTC", "UTC").count("09:15:00") == 2


def test_hours_that_the_clocks_skip_or_repeat_are_named() -> None:
    assert "does not exist there" in convert_time("2026-03-29 02:30", "Berlin", "UTC")
    assert "comes twice there" in convert_time("2026-10-25 02:30", "Berlin", "UTC")


@pytest.mark.parametrize("text", ["tomorrow", "25:00", "2026-13-01", ""])
def test_what_is_no_time_says_how_to_write_one(text: str) -> None:
    with pytest.raises(ToolError, match="is not a time"):
        convert_time(text, "UTC", "UTC")


@pytest.mark.parametrize("zone", ["Berlim", "../../etc/passwd", "\x00"])
def test_an_unknown_zone_gets_near_matches(zone: str) -> None:
    with pytest.raises(ToolError, match="no time zone or city"):
        current_time(zone)
