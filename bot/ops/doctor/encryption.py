"""Check of BOT_ENCRYPTION_KEYS: how much is still encrypted with keys other than the first."""

from __future__ import annotations

import asyncio

from bot.app.features import all_features
from bot.app.oauth import install_store
from bot.core.audit import audit_keys
from bot.core.check import SECONDS, Check, ok, warning
from bot.core.errors import ConfigurationError, StoreUnavailable
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
            lacking = await stores.keyring.lacking_first()
            unsealed = await stores.audit.without_seal()
            on_old = {"audit logs": await stores.audit.on_old_keys()}
            if settings.slack_client_id:
                on_old["installations"] = await install_store(settings, stores).on_old_keys()
            for feature in all_features(settings):
                if feature.sealed:
                    on_old[feature.sealed.sealed] = [*await feature.sealed.on_old_keys(stores)]
    except (ConfigurationError, StoreUnavailable, TimeoutError, ValueError):
        return []
    found = list[Check]()
    if unsealed:
        text = f"audit logs without a seal: {', '.join(unsealed)}"
        fix = "read `bot audit`; if they were begun without keys, `bot audit --seal` seals them"
        found.append(warning(_SUBJECT, text, fix))
    if lacking:
        text = f"running processes without the first key: {lacking:,}"
        fix = "give every process these keys and restart it; until then, all keep to a key that they share"
        return [*found, warning(_SUBJECT, text, fix)]
    if any(on_old.values()):
        counted = ", ".join(f"{len(each):,} {kind}" for kind, each in on_old.items())
        fix = (
            "keep the old keys: within a minute of the restart of its last process, a running bot "
            "encrypts them again with the first key"
        )
        return [*found, warning(_SUBJECT, f"not encrypted with the first key: {counted}", fix)]
    if len(keys) > 1:
        text = (
            "all use the first key; to finish a change of keys, remove the others (to begin one, the "
            "new key may also come second until every process has it)"
        )
        found.append(ok(_SUBJECT, text))
    return found
