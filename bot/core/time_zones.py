"""Time zones by the names that Slack and people give."""

from __future__ import annotations

import zoneinfo


def zone_of(name: str) -> zoneinfo.ZoneInfo:
    """The zone of that name; UTC where there is none."""
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        return zoneinfo.ZoneInfo("UTC")
