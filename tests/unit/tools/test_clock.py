"""Times are told and converted in real zones, summer time included."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from bot.core.errors import ToolError
from bot.testing.conversation import asked
from bot.text import time_zones
from bot.text.time_zones import zone_named
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
        ("são paulo", "America/Sao_Paulo"),
        ("München", "Europe/Berlin"),
        ("San Francisco", "America/Los_Angeles"),
        ("germany", "Europe/Berlin"),
        ("India", "Asia/Kolkata"),
        ("UK", "Europe/London"),
        ("CEST", "Europe/Brussels"),
    ],
)
def test_what_people_call_a_zone_is_found(zone: str, found: str) -> None:
    """V10: by city, country and abbreviation."""
    assert f"({found}, UTC" in current_time(zone)


@pytest.mark.parametrize(
    ("zone", "noon"),
    [("UTC+2", 10), ("GMT+2", 10), ("gmt -3", 15), ("+05:30", 6), ("UTC−8", 20), ("Etc/GMT+2", 14)],
)
def test_offsets_mean_what_people_mean(zone: str, noon: int) -> None:
    """V10: two hours ahead of UTC is +2; only the tz database's own name has it reversed, and that
    is said."""
    told = convert_time("2026-11-20 12:00", zone, "UTC")
    assert f"to: 2026-11-20 {noon:02}:" in told
    assert ("opposite" in told) == zone.startswith("Etc/")


@pytest.mark.parametrize(
    ("zone", "said"),
    [("IST", "Israel and Ireland use it too"), ("PST", "summer time included"), ("CST", "China")],
)
def test_an_abbreviation_says_how_it_was_read(zone: str, said: str) -> None:
    """V10: three letters stand for several zones."""
    assert said in convert_time("2026-07-01 12:00", zone, "UTC")


def test_a_country_of_several_zones_asks_for_one() -> None:
    """V10: nobody is told the time of the wrong coast."""
    with pytest.raises(ToolError, match="America/Chicago"):
        current_time("United States")


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


@pytest.mark.parametrize(
    ("name", "zone", "others"),
    [
        ("Paris", "Europe/Paris", "Paris, Texas (America/Chicago)"),
        ("Springfield", "America/Chicago", "Springfield, Massachusetts (America/New_York)"),
        ("Portland", "America/Los_Angeles", "Portland, Maine (America/New_York)"),
        ("San Juan", "America/Puerto_Rico", "San Juan, Argentina (America/Argentina/San_Juan)"),
    ],
)
def test_a_city_of_several_places_names_the_others(name: str, zone: str, others: str) -> None:
    """V19: which one was taken is said, and how to ask for another."""
    now = current_time(name)

    assert f"({zone}, UTC" in now
    assert f"{name} is read as {name}, " in now
    assert others in now


@pytest.mark.parametrize(
    ("name", "zone", "is_divided"),
    [
        ("Paris, Texas", "America/Chicago", True),
        ("Paris Texas", "America/Chicago", True),
        ("Portland, ME", "America/New_York", False),
        ("Springfield, MA, USA", "America/New_York", False),
        ("Athens, Georgia", "America/New_York", False),
        ("Tbilisi, Georgia", "Asia/Tbilisi", False),
        ("Adelaide, Australia", "Australia/Adelaide", False),
        ("Mérida, Spain", "Europe/Madrid", False),
        ("Berlin, Germany", "Europe/Berlin", False),
        ("El Paso, TX", "America/Denver", False),
    ],
)
def test_a_city_may_be_named_with_its_state_or_country(
    name: str, zone: str, is_divided: bool
) -> None:
    """V19: a state or country settles which city is meant; a divided state is said."""
    now = current_time(name)

    assert f"({zone}, UTC" in now
    assert ("a part of it keeps another" in now) == is_divided


def test_each_city_of_a_name_can_be_asked_for() -> None:
    """V19: what a note names is understood."""
    for city, regions in time_zones._same_names().items():
        for region in regions:
            assert isinstance(zone_named(f"{city}, {region}"), ZoneInfo)
