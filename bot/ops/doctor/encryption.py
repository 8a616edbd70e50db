"""Check of BOT_ENCRYPTION_KEYS: how much is still encrypted with keys other than the first."""

from __future__ import annotations

import asyncio

from bot.app.accounts import account_store
from bot.app.oauth import install_store
from bot.core.audit import audit_keys
from bot.core.errors import ConfigurationError, StoreUnavailable
from bot.ops.doctor.check import SECONDS, Check, ok, warning
from bot.settings import Settings
from bot.store import open_stores

_SUBJECT = "BOT_ENCRYPTION_KEYS"


async def examine_encryption(settings: Settings) -> list[Check]:
    """Count what is encrypted with old keys, by kind. Change nothing.

    Other checks report an unreachable Redis and malformed keys.
    """
    given = settings.bot_encryption_keys
    if given is None or settings.redis_url is None:
        return []
    keys = audit_keys(given.get_secret_value())
    try:
        async with (
            asyncio.timeout(SECONDS),
            open_stores(settings.redis_url, audit_keys=keys) as stores,
        ):
            on_old = {"audit logs": await stores.audit.on_old_keys()}
            if settings.slack_client_id:
                on_old["installations"] = await install_store(settings, stores).on_old_keys()
            if settings.personal_servers:
                on_old["accounts"] = await account_store(settings, stores).on_old_keys()
    except (ConfigurationError, StoreUnavailable, TimeoutError, ValueError):
        return []
    if len(keys) == 1 and not any(on_old.values()):
        return []
    counted = ", ".join(f"{len(each):,} {kind}" for kind, each in on_old.items())
    if any(on_old.values()):
        fix = "keep the old keys and start the bot once: it encrypts them again with the first key"
        return [warning(_SUBJECT, f"not encrypted with the first key: {counted}", fix)]
    return [ok(_SUBJECT, "all use the first key; the other keys can be removed")]
