"""Feedback on answers, for the operators of the bot."""

from __future__ import annotations

from contextlib import suppress

from bot.core.errors import CorruptValue
from bot.core.feedback import Feedback
from bot.store.connection import Connection, Retention
from bot.store.values import decode


class FeedbackStore:
    """The store of feedback: one rating per person and run, and an index by time."""

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._redis = redis
        self._seconds = retention.feedback
        self._index = redis.key("feedback")

    async def save(self, feedback: Feedback) -> None:
        """Store a rating, replacing an earlier one of the same person for the same run."""
        name = f"{feedback.run_id}:{feedback.user}"
        said_at = feedback.at.timestamp()
        await self._redis.together(
            ("SET", self._key(name), feedback.model_dump_json(), "EX", self._seconds),
            ("ZADD", self._index, said_at, name),
            ("ZREMRANGEBYSCORE", self._index, "-inf", said_at - self._seconds),
            ("EXPIRE", self._index, self._seconds),
        )

    async def latest(self, limit: int) -> list[Feedback]:
        """Return up to `limit` ratings, newest first; skip damaged ones."""
        names = await self._redis.call("ZREVRANGE", self._index, 0, limit - 1)
        keys = [self._key(name.decode()) for name in names]
        kept = await self._redis.call("MGET", *keys) if keys else []
        found = []
        for raw in filter(None, kept):
            with suppress(CorruptValue):
                found.append(decode(Feedback, raw))
        return found

    def _key(self, name: str) -> str:
        return self._redis.key("feedback", name)
