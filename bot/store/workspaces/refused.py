"""HTTP requests refused because of their signature, which `bot doctor` reports."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from bot.store.connection import Connection
from bot.store.values import decode

_SECONDS = 86_400
Reason = Literal["signature", "age", "missing headers"]


class Refused(BaseModel):
    """How many requests were refused for one reason since the last report, up to `at`.

    `skew` is how many seconds this machine's clock was ahead of the last request's timestamp.
    """

    model_config = ConfigDict(frozen=True)

    version: int = 1
    reason: Reason
    count: int
    skew: int
    at: datetime = Field(default_factory=lambda: datetime.now(UTC))


class RefusedStore:
    """The store of refusals: the last report for each reason, kept for a day."""

    def __init__(self, redis: Connection) -> None:
        self._redis = redis

    async def save(self, reason: Reason, count: int, skew: int) -> None:
        """Store a report, replacing the one before with the same reason."""
        refused = Refused(reason=reason, count=count, skew=skew)
        key = self._redis.key("refused", reason)
        await self._redis.call("SET", key, refused.model_dump_json(), "EX", _SECONDS)

    async def recent(self) -> list[Refused]:
        """Return the last report for each reason within a day. Raises StoreError."""
        keys = [self._redis.key("refused", reason) for reason in get_args(Reason)]
        kept = await self._redis.call("MGET", *keys)
        return [decode(Refused, raw) for raw in kept if raw]
