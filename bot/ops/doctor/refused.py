"""Check of HTTP requests refused in the last day, and why."""

from __future__ import annotations

import asyncio

from bot.core.check import SECONDS, Check, warning
from bot.core.errors import ConfigurationError, StoreError
from bot.settings import Settings
from bot.slack.edge.http import RefusedRequest
from bot.store import open_stores

_FIX = {
    "signature": "if you have corrected it since, there is nothing to do: this stays for a day",
    "age": "synchronise the machine's clock (NTP)",
    "missing headers": "ignore this if the address is public: anybody can send such requests",
}


async def examine_refused(settings: Settings) -> list[Check]:
    """Warn of refused requests; the check of Redis reports one that cannot be reached."""
    if settings.redis_url is None:
        return []
    try:
        async with asyncio.timeout(SECONDS), open_stores(settings.redis_url) as stores:
            recent = await stores.refused.recent()
    except (ConfigurationError, StoreError, TimeoutError, ValueError):
        return []
    return [
        warning(
            "refused requests",
            f"last at {each.at:%Y-%m-%d %H:%M} UTC: {RefusedRequest(each.reason, each.skew)}",
            _FIX[each.reason],
        )
        for each in recent
    ]
