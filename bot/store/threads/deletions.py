"""Ids of stored model responses that must be deleted at the model service.

An erase writes them here before it removes anything else, so that no id is lost when the model
service is away or the process is killed. An id leaves the set once the service has deleted it.
"""

from __future__ import annotations

from collections.abc import Iterable

from bot.store.connection import Connection, Retention


class ResponseDeletions:
    """The ids to delete: one set for the deployment. Every access renews its expiry."""

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._redis = redis
        self._key = redis.key("to-delete")
        self._seconds = retention.settings

    async def add(self, ids: Iterable[str]) -> None:
        """Add `ids`; they stay in the set until `remove`."""
        if members := sorted(ids):
            renewed = ("EXPIRE", self._key, self._seconds)
            await self._redis.together(("SADD", self._key, *members), renewed)

    async def all(self) -> list[str]:
        """Return all ids that are still to be deleted, sorted."""
        renewed = ("EXPIRE", self._key, self._seconds)
        members, _ = await self._redis.together(("SMEMBERS", self._key), renewed)
        return sorted(each.decode() for each in members)

    async def remove(self, ids: Iterable[str]) -> None:
        """Remove `ids` that the service has deleted."""
        if members := sorted(ids):
            await self._redis.call("SREM", self._key, *members)
