"""Time zones by name: those of the tz database, and those that people use, such as cities."""

from __future__ import annotations

import difflib
import re
import tomllib
import unicodedata
import zoneinfo
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from babel.dates import format_skeleton

from bot.text.locales import locale_of
from bot.text.translation import Text, reader_locale

_MAX_OFFSET = 14 * 60
"""The largest offset from UTC in minutes: that of Kiritimati."""

_LONGEST = 100  # characters of a name that are read: what is done with them is quadratic

_OFFSET = re.compile(r"(?:utc|gmt)?_?([+\-−–])_?(\d{1,2})(?::?([0-5]\d))?")
_POSIX = re.compile(r"etc/gmt[+-]\d{1,2}")


_DAY_AND_TIME = Text("{day} at {time}")


class UnknownZone(ValueError):
    """No zone has this name; the message says so, with what may be meant."""


def zone_of(name: str) -> zoneinfo.ZoneInfo:
    """Return the zone with the name `name` in the tz database, UTC if there is none."""
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        return zoneinfo.ZoneInfo("UTC")


def day_and_time(when: datetime) -> str:
    """Format a time for people: "Sun 1 Mar 2026 at 09:00 UTC"; a naive time has no zone name.

    It is in the language of the reader.
    """
    day = format_skeleton("yMMMEd", when, locale=locale_of(reader_locale()))
    if reader_locale() == "en-US":
        day = f"{when:%a} {when.day} {when:%b %Y}"
    return _DAY_AND_TIME(day=day, time=f"{when:%H:%M %Z}".rstrip())


def zone_named(name: str) -> tzinfo:
    """Return the zone that people call `name`: "Europe/Berlin", "Munich", "Japan", "PST", "UTC+2".

    Case is ignored. "GMT+2" is two hours ahead of UTC, as people mean it; only "Etc/GMT+2" has the
    meaning of the tz database, two hours behind. Raises UnknownZone with similar names, or with the
    zones of a country that has several.
    """
    wanted = _plain(name)
    if wanted in _same_names():
        return zoneinfo.ZoneInfo(_in_region(wanted, _plain(_same_names()[wanted][0])))
    if wanted in _names():
        return zoneinfo.ZoneInfo(_names()[wanted])
    if offset := _OFFSET.fullmatch(wanted):
        sign = 1 if offset[1] == "+" else -1
        minutes = int(offset[2]) * 60 + int(offset[3] or 0)
        if minutes <= _MAX_OFFSET:
            return timezone(sign * timedelta(minutes=minutes))
    if zone := _in_region(*_city_and_region(name)):
        return zoneinfo.ZoneInfo(zone)
    if zones := _countries().get(wanted):
        raise UnknownZone(f"{name} has several time zones. Name one: {', '.join(zones[:12])}.")
    near = difflib.get_close_matches(wanted, _names(), n=3, cutoff=0.5)
    similar = ", ".join(dict.fromkeys(_names()[each] for each in near)) or "none"
    raise UnknownZone(
        f"There is no time zone or city {name[:_LONGEST]!r} known here. Similar: {similar}."
    )


def zone_label(zone: tzinfo) -> str:
    """Return the name of a zone in the tz database, or its offset such as "UTC+02:00"."""
    return getattr(zone, "key", None) or str(zone)


def zone_note(name: str) -> str:
    """Return a note on how an ambiguous zone name was understood, "" if it has one meaning."""
    wanted = _plain(name)
    if _POSIX.fullmatch(wanted):
        return f"{name} has the sign of POSIX, the opposite of UTC's"
    if regions := _same_names().get(wanted):
        places = [f"{name}, {region}" for region in regions]
        others = ", ".join(f"{place} ({zone_label(zone_named(place))})" for place in places[1:])
        return f"{name} is read as {places[0]}; there are also {others}"
    city, region = _city_and_region(name)
    is_own = wanted in _names() or _in_region(city, region) == _names().get(city)
    if region in _places()["divided"].split() and not is_own:
        return f"{name} is read as the time in most of that state; a part of it keeps another"
    zone = _by_word("abbreviations").get(wanted)
    if zone is None:
        return ""
    also_used_by = _places()["also_used_by"]
    others = f"; {also_used_by[wanted]} use it too" if wanted in also_used_by else ""
    return f"{name} is read as the time in {zone}, summer time included where it is kept{others}"


def _city_and_region(name: str) -> tuple[str, str]:
    """Return the city and the state or country in "Paris, Texas, USA" or "Paris Texas", else two
    empty texts."""
    city, comma, rest = name.partition(",")
    if comma:
        return _plain(city), _plain(rest.split(",")[0])
    words = _plain(name).split("_")
    parted = [("_".join(words[:at]), "_".join(words[at:])) for at in range(1, len(words))]
    known = _names().keys() | _same_names().keys()
    return next((each for each in parted if each[0] in known and _in_region(*each)), ("", ""))


def _in_region(city: str, region: str) -> str:
    """Return the zone of a city in a state or country, "" if it is not known."""
    code = _country_codes().get(region, "")
    zones = [name for each, _, name in _table("zone.tab") if each == code]
    main = _by_word("regions").get(region, "")
    known = _names().get(city, "")
    if known in zones:
        return known
    return main or (zones[0] if len(zones) == 1 else "")


@lru_cache(maxsize=1)
def _same_names() -> dict[str, list[str]]:
    return {_plain(city): regions.split(", ") for city, regions in _places()["same_name"].items()}


def _plain(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name.strip()[:_LONGEST].casefold())
    letters = "".join(each for each in plain if not unicodedata.combining(each))
    return re.sub(r"[\s_]+", "_", letters.replace(".", "").replace(",", ""))


def _by_word(table: str) -> dict[str, str]:
    return {word: zone for zone, words in _places()[table].items() for word in words.split()}


@lru_cache(maxsize=1)
def _places() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("places.toml").read_text("utf-8"))


@lru_cache(maxsize=1)
def _countries() -> dict[str, tuple[str, ...]]:
    """Return the zones of each country by English name, one of several with the same clock."""
    found: dict[str, dict[tuple[timedelta | None, ...], str]] = defaultdict(dict)
    year = datetime.now(UTC).year
    for code, _, name in _table("zone.tab"):
        zone = zoneinfo.ZoneInfo(name)
        clocks = tuple(
            datetime(year, month, 15, tzinfo=zone).utcoffset() for month in (1, 4, 7, 10)
        )
        found[code].setdefault(clocks, name)
    return {name: tuple(found[code].values()) for name, code in _country_codes().items()}


@lru_cache(maxsize=1)
def _country_codes() -> dict[str, str]:
    """Return the code of each country by English name."""
    short = {"uk": "GB", "united_kingdom": "GB", "us": "US", "usa": "US", "south_korea": "KR"}
    with_zones = {code for code, *_ in _table("zone.tab")}
    names = {code: name for code, name, *_ in _table("iso3166.tab") if code in with_zones}
    return {_plain(name): code for code, name in names.items()} | short


def _table(name: str) -> Iterator[list[str]]:
    """Yield the rows of a table of the tz database, cut to three columns."""
    text = (resources.files("tzdata") / "zoneinfo" / name).read_text("utf-8")
    return (line.split("\t")[:3] for line in text.splitlines() if not line.startswith("#"))


@lru_cache(maxsize=1)
def _names() -> dict[str, str]:
    """Return zone names by zone name, city, abbreviation, and country if it has one zone.

    If two zones have the same city, the shorter zone name wins.
    """
    zones = sorted(zoneinfo.available_timezones(), key=lambda zone: (-len(zone), zone))
    kept = [zone for zone in zones if not zone.startswith(("posix/", "right/"))]
    cities = {_plain(zone.rsplit("/", 1)[-1]): zone for zone in kept if not zone.startswith("Etc/")}
    countries = {country: zones[0] for country, zones in _countries().items() if len(zones) == 1}
    own_names = {_plain(zone): zone for zone in kept}
    return (
        countries
        | _by_word("cities")
        | cities
        | own_names
        | _by_word("abbreviations")
        | {"utc": "UTC", "gmt": "GMT", "z": "UTC"}
    )
