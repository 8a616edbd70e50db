"""Time zones by name: those of the tz database, and those that people use, such as cities."""

from __future__ import annotations

import difflib
import re
import unicodedata
import zoneinfo
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from importlib import resources

from babel.dates import format_skeleton

from bot.core.errors import ToolError
from bot.text.locales import locale_of
from bot.text.places import DIVIDED, REGIONS, SAME_NAME
from bot.text.translation import Text, reader_locale

_MAX_OFFSET = 14 * 60
_LONGEST = 100  # characters of a name that are read: what is done with them is quadratic
"""The largest offset from UTC in minutes: that of Kiritimati."""

_OFFSET = re.compile(r"(?:utc|gmt)?_?([+\-−–])_?(\d{1,2})(?::?([0-5]\d))?")
_POSIX = re.compile(r"etc/gmt[+-]\d{1,2}")

_ABBREVIATIONS = {
    "pst pdt pt pacific": "America/Los_Angeles",
    "mst mdt mt": "America/Denver",
    "cst cdt ct": "America/Chicago",
    "est edt et eastern": "America/New_York",
    "ast adt": "America/Halifax",
    "akst akdt": "America/Anchorage",
    "hst": "Pacific/Honolulu",
    "brt": "America/Sao_Paulo",
    "bst": "Europe/London",
    "wet west": "Europe/Lisbon",
    "cet cest met": "Europe/Brussels",
    "eet eest": "Europe/Athens",
    "msk": "Europe/Moscow",
    "sast": "Africa/Johannesburg",
    "eat": "Africa/Nairobi",
    "wat": "Africa/Lagos",
    "gst": "Asia/Dubai",
    "pkt": "Asia/Karachi",
    "ist": "Asia/Kolkata",
    "ict": "Asia/Bangkok",
    "wib": "Asia/Jakarta",
    "sgt": "Asia/Singapore",
    "hkt": "Asia/Hong_Kong",
    "jst": "Asia/Tokyo",
    "kst": "Asia/Seoul",
    "awst": "Australia/Perth",
    "aest aedt": "Australia/Sydney",
    "nzst nzdt": "Pacific/Auckland",
}
_ALSO_USED_BY = {
    "ast": "Saudi Arabia",
    "bst": "Bangladesh",
    "cst": "China and Cuba",
    "gst": "South Georgia",
    "ist": "Israel and Ireland",
    "pst": "the Philippines",
    "wat": "Western Australia",
}
_CITIES = {
    "atlanta boston washington washington_dc miami philadelphia charlotte orlando pittsburgh "
    "cleveland baltimore": "America/New_York",
    "dallas houston austin san_antonio new_orleans minneapolis nashville memphis milwaukee "
    "st_louis kansas_city": "America/Chicago",
    "salt_lake_city albuquerque el_paso el_paso_texas el_paso_tx": "America/Denver",
    "san_francisco seattle san_diego las_vegas san_jose sacramento oakland silicon_valley "
    "portland palo_alto": "America/Los_Angeles",
    "montreal ottawa quebec": "America/Toronto",
    "calgary": "America/Edmonton",
    "guadalajara": "America/Mexico_City",
    "rio rio_de_janeiro brasilia": "America/Sao_Paulo",
    "medellin": "America/Bogota",
    "munich munchen frankfurt hamburg cologne koln stuttgart dusseldorf leipzig dresden nuremberg "
    "hannover bremen": "Europe/Berlin",
    "geneva geneve basel bern lausanne": "Europe/Zurich",
    "salzburg graz linz innsbruck": "Europe/Vienna",
    "barcelona seville sevilla valencia bilbao": "Europe/Madrid",
    "milan milano turin torino naples napoli florence venice bologna": "Europe/Rome",
    "lyon marseille toulouse nice bordeaux lille strasbourg": "Europe/Paris",
    "rotterdam the_hague utrecht eindhoven": "Europe/Amsterdam",
    "antwerp ghent": "Europe/Brussels",
    "manchester birmingham edinburgh glasgow liverpool leeds bristol cardiff cambridge oxford "
    "england scotland wales": "Europe/London",
    "cork": "Europe/Dublin",
    "porto": "Europe/Lisbon",
    "gothenburg goteborg malmo": "Europe/Stockholm",
    "bergen": "Europe/Oslo",
    "aarhus": "Europe/Copenhagen",
    "espoo tampere": "Europe/Helsinki",
    "krakow gdansk wroclaw": "Europe/Warsaw",
    "brno": "Europe/Prague",
    "saint_petersburg st_petersburg": "Europe/Moscow",
    "ankara": "Europe/Istanbul",
    "tel_aviv haifa": "Asia/Jerusalem",
    "abu_dhabi": "Asia/Dubai",
    "jeddah": "Asia/Riyadh",
    "lahore islamabad": "Asia/Karachi",
    "mumbai bombay delhi new_delhi bangalore bengaluru chennai hyderabad pune ahmedabad": (
        "Asia/Kolkata"
    ),
    "beijing peking shenzhen guangzhou hangzhou chengdu wuhan tianjin": "Asia/Shanghai",
    "osaka kyoto yokohama nagoya": "Asia/Tokyo",
    "busan": "Asia/Seoul",
    "hanoi saigon": "Asia/Ho_Chi_Minh",
    "canberra": "Australia/Sydney",
    "gold_coast": "Australia/Brisbane",
    "wellington christchurch": "Pacific/Auckland",
    "cape_town durban pretoria": "Africa/Johannesburg",
    "abuja": "Africa/Lagos",
    "alexandria": "Africa/Cairo",
    "marrakesh rabat": "Africa/Casablanca",
}


_DAY_AND_TIME = Text("{day} at {time}")


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
    meaning of the tz database, two hours behind. Raises ToolError with similar names, or with the
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
        raise ToolError(f"{name} has several time zones. Name one: {', '.join(zones[:12])}.")
    near = difflib.get_close_matches(wanted, _names(), n=3, cutoff=0.5)
    similar = ", ".join(dict.fromkeys(_names()[each] for each in near)) or "none"
    raise ToolError(
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
    if region in DIVIDED and not is_own:
        return f"{name} is read as the time in most of that state; a part of it keeps another"
    zone = _by_word(_ABBREVIATIONS).get(wanted)
    if zone is None:
        return ""
    others = f"; {_ALSO_USED_BY[wanted]} use it too" if wanted in _ALSO_USED_BY else ""
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
    main = _by_word(REGIONS).get(region, "")
    known = _names().get(city, "")
    if known in zones:
        return known
    return main or (zones[0] if len(zones) == 1 else "")


@lru_cache(maxsize=1)
def _same_names() -> dict[str, list[str]]:
    return {_plain(city): regions.split(", ") for city, regions in SAME_NAME.items()}


def _plain(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name.strip()[:_LONGEST].casefold())
    letters = "".join(each for each in plain if not unicodedata.combining(each))
    return re.sub(r"[\s_]+", "_", letters.replace(".", "").replace(",", ""))


def _by_word(table: dict[str, str]) -> dict[str, str]:
    return {word: zone for words, zone in table.items() for word in words.split()}


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
        | _by_word(_CITIES)
        | cities
        | own_names
        | _by_word(_ABBREVIATIONS)
        | {"utc": "UTC", "gmt": "GMT", "z": "UTC"}
    )
