"""Time zones by the names that people use, for tools."""

from __future__ import annotations

from datetime import tzinfo

from bot.core.errors import ToolError
from bot.text import time_zones


def zone_named(name: str) -> tzinfo:
    """Return the zone that people call `name`: "Europe/Berlin", "Munich", "Japan", "PST", "UTC+2".

    Raises ToolError with similar names, or with the zones of a country that has several.
    """
    try:
        return time_zones.zone_named(name)
    except time_zones.UnknownZone as error:
        raise ToolError(str(error)) from None
