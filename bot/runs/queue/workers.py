"""The queue's keys in Redis, and its live workers. The queue's library, which is slow to load, is not
needed for them."""

from __future__ import annotations

from bot.store.connection import Connection

NAME = "bot:engine"
"""Prefix of the engine's own keys. Its streams and schedule live as long as the deployment."""

WORKERS_KEY = f"{NAME}:workers"
"""docket's sorted set of workers, by the time of their last heartbeat."""

SILENT_SECONDS = 60.0
"""Three heartbeats: a worker that was not heard of for so long counts as dead."""


async def live_workers(redis: Connection) -> list[str]:
    """Return the names of the workers that were heard of lately. Raises StoreUnavailable."""
    seconds, micros = await redis.call("TIME")
    since = seconds + micros / 1_000_000 - SILENT_SECONDS
    names = await redis.call("ZRANGEBYSCORE", WORKERS_KEY, since, "+inf")
    return sorted(name.decode() for name in names)
