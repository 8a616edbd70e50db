"""Requests under Slack's address that were refused lately, and why."""

from __future__ import annotations

import asyncio

from bot.core.errors import ConfigurationError, StoreError
from bot.ops.doctor.findings import SECONDS, Finding, warning
from bot.settings import Settings
from bot.slack.transport.signatures import RefusedRequest
from bot.store import open_stores

_MEND = {
    "signature": "copy the Signing Secret from the app's Basic Information into SLACK_SIGNING_SECRET",
    "age": "let the machine keep its time (NTP)",
    "missing headers": "nothing, if the address is public: anybody may send these",
}


async def examine_refused(settings: Settings) -> list[Finding]:
    """Look for refused requests of the last day; of a Redis that is away its own check tells."""
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
            _MEND[each.reason],
        )
        for each in recent
    ]
