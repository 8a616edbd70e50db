"""Whether somebody has paused the bot: then all is well, and nobody is answered."""

from __future__ import annotations

import asyncio

from bot.core.errors import ConfigurationError, StoreUnavailable
from bot.ops.doctor.findings import SECONDS, Finding, warning
from bot.settings import Settings
from bot.store import open_stores


async def examine_pause(settings: Settings) -> list[Finding]:
    """Of a Redis that cannot be reached its own check says so."""
    if settings.redis_url is None:
        return []
    try:
        async with asyncio.timeout(SECONDS), open_stores(settings.redis_url) as stores:
            pause = await stores.pause.get()
    except (ConfigurationError, StoreUnavailable, TimeoutError, ValueError):
        return []
    if pause is None:
        return []
    said = f"since {pause.at:%Y-%m-%d %H:%M} UTC, by {pause.name}: nobody is answered"
    return [warning("paused", said, "`bot resume` lets it work again")]
