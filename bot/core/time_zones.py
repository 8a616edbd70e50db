"""Time zones by the names that Slack and people give."""

from __future__ import annotations

import difflib
import zoneinfo
from datetime import datetime
from functools import lru_cache

from bot.core.errors import ToolError


def zone_of(name: str) -> zoneinfo.ZoneInfo:
    """The zone of that name; UTC where there is none."""
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        return zoneinfo.ZoneInfo("UTC")


def day_and_time(when: datetime) -> str:
    """A moment for people: "Sun 1 Mar 2026 at 09:00 UTC"; without its zone where it has none."""
    return f"{when:%a} {when.day} {when:%b %Y} at {when:%H:%M %Z}".rstrip()


def zone_named(name: str) -> zoneinfo.ZoneInfo:
    """The zone of that name or of that city, in any case. Raises ToolError with similar names."""
    wanted = _plain(name)
    names = _names()
    if wanted in names:
        return zoneinfo.ZoneInfo(names[wanted])
    near = difflib.get_close_matches(wanted, names, n=3, cutoff=0.5)
    similar = ", ".join(dict.fromkeys(names[each] for each in near)) or "none"
    raise ToolError(
        f"There is no time zone or city {name!r} in the tz database. Similar: {similar}."
    )


def _plain(name: str) -> str:
    return name.strip().casefold().replace(" ", "_")


@lru_cache(maxsize=1)
def _names() -> dict[str, str]:
    """Zones by their name and by their city; where two share a city, by the shorter name."""
    zones = sorted(zoneinfo.available_timezones(), key=lambda zone: (-len(zone), zone))
    kept = [zone for zone in zones if not zone.startswith(("posix/", "right/"))]
    cities = {_plain(zone.rsplit("/", 1)[-1]): zone for zone in kept}
    return cities | {_plain(zone): zone for zone in kept}
