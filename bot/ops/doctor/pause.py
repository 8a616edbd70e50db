"""Check of the pause switch: a paused bot looks healthy and answers nobody."""

from __future__ import annotations

import asyncio

from bot.core.check import SECONDS, Check, warning
from bot.core.errors import ConfigurationError, StoreUnavailable
from bot.settings import Settings
from bot.store import open_stores


async def examine_pause(settings: Settings) -> list[Check]:
    """Warn when the bot is paused; the check of Redis reports one that cannot be reached."""
    if settings.redis_url is None:
        return []
    try:
        async with asyncio.timeout(SECONDS), open_stores(settings.redis_url) as stores:
            pause = await stores.pause.get()
    except (ConfigurationError, StoreUnavailable, TimeoutError, ValueError):
        return []
    if pause is None:
        return []
    text = f"since {pause.at:%Y-%m-%d %H:%M} UTC, by {pause.name}: nobody is answered"
    return [warning("paused", text, "run `bot resume`")]
