"""Refreshes of answers: their results until somebody posts them, and what keeps them apart."""

from __future__ import annotations

import hashlib
from datetime import datetime

from bot.features.refresh.refreshed import Refreshed
from bot.store import Stores
from bot.store.connection import Connection
from bot.store.values import Value

RESULT_SECONDS = 86_400  # within which a result can be posted
BUSY_SECONDS = 300  # longer than a refresh may take
PAUSE_SECONDS = 10  # between two refreshes of one answer


class RefreshStore:
    """The store of refreshes.

    All keys are those of the answer's thread, and go when it is erased.
    """

    def __init__(self, redis: Connection, seconds: int) -> None:
        self._redis = redis
        self._seconds = seconds

    @classmethod
    def of(cls, stores: Stores) -> RefreshStore:
        """Return the store in the Redis of `stores`."""
        return cls(stores.redis, stores.retention.thread)

    async def begin(self, thread_key: str, run_id: str) -> bool:
        """Note that an answer is being refreshed.

        Return False if it is already, or was just now.
        """
        key = self._key("refreshing", thread_key, run_id)
        return bool(await self._redis.call("SET", key, 1, "NX", "EX", BUSY_SECONDS))

    async def end(self, thread_key: str, run_id: str) -> None:
        """Note that the refresh has ended: the next may begin soon."""
        key = self._key("refreshing", thread_key, run_id)
        await self._redis.call("SET", key, 1, "EX", PAUSE_SECONDS)

    async def keep(self, thread_key: str, result: Refreshed) -> Refreshed:
        """Keep a person's result, and return it with the time of the last good one before it."""
        good = self._key("refresh-good", thread_key, result.run_id)
        raw = await self._redis.call("GET", good)
        before = datetime.fromisoformat(raw.decode()) if raw else None
        result = result.model_copy(update={"last_good": before})
        own = self._result(thread_key, result.run_id, result.user)
        is_good = [("SET", good, result.at.isoformat(), "EX", self._seconds)]
        await self._redis.together(
            own.setting(result),
            *(is_good if result.is_good else []),
        )
        return result

    async def get(self, thread_key: str, run_id: str, user: str) -> Refreshed | None:
        """Return a person's last result; None when there is none, or it was posted."""
        return await self._result(thread_key, run_id, user).get_readable()

    async def was_posted(self, thread_key: str, result: Refreshed) -> bool:
        """Return whether the last that was posted were the figures as they are now, or this refresh."""
        raw = await self._redis.call("GET", self._key("refresh-posted", thread_key, result.run_id))
        figures, _, request_id = (raw or b"").decode().partition(" ")  # older ones are figures only
        return figures == _digest(result) or request_id == result.request_id

    async def note_posted(self, thread_key: str, result: Refreshed) -> None:
        """Remember what was posted, and forget the person's result."""
        key = self._key("refresh-posted", thread_key, result.run_id)
        await self._redis.together(
            ("SET", key, f"{_digest(result)} {result.request_id}", "EX", self._seconds),
            ("DEL", self._result(thread_key, result.run_id, result.user).key),
        )

    def _result(self, thread_key: str, run_id: str, user: str) -> Value[Refreshed]:
        key = self._key("refresh", thread_key, run_id, user)
        return Value(self._redis, key, Refreshed, RESULT_SECONDS)

    def _key(self, family: str, thread_key: str, *more: str) -> str:
        return self._redis.key(family, thread_key, *more)


def _digest(result: Refreshed) -> str:
    values = "\n".join(figure.now for figure in result.figures)
    return hashlib.sha256(values.encode()).hexdigest()
