"""Requests that were refused for their signature, for `bot doctor` to tell of."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from bot.store.connection import Connection
from bot.store.values import decode

_SECONDS = 86_400
Reason = Literal["signature", "age", "missing headers"]


class Refused(BaseModel):
    """How many requests were refused for one reason up to `at`, since that was said before; `skew`
    is by how many seconds the clock was ahead of the last one's time."""

    model_config = ConfigDict(frozen=True)

    version: int = 1
    reason: Reason
    count: int
    skew: int
    at: datetime = Field(default_factory=lambda: datetime.now(UTC))


class RefusedStore:
    """The last of each reason, for a day."""

    def __init__(self, redis: Connection) -> None:
        self._redis = redis

    async def save(self, reason: Reason, count: int, skew: int) -> None:
        """Keep it in the place of the one before."""
        refused = Refused(reason=reason, count=count, skew=skew)
        key = self._redis.key("refused", reason)
        await self._redis.call("SET", key, refused.model_dump_json(), "EX", _SECONDS)

    async def recent(self) -> list[Refused]:
        """Return the last of each reason within a day. Raises StoreError."""
        keys = [self._redis.key("refused", reason) for reason in get_args(Reason)]
        kept = await self._redis.call("MGET", *keys)
        return [decode(Refused, raw) for raw in kept if raw]
