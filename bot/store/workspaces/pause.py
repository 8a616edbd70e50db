"""The kill switch: while it is set, no run may ask a model."""

from __future__ import annotations

from datetime import UTC, datetime

from bot.core.budgets import Pause
from bot.core.errors import CorruptValue
from bot.store.connection import Connection, Retention
from bot.store.values import decode

UNREADABLE = Pause(by="", name="an admin", at=datetime.fromtimestamp(0, UTC))


class PauseSwitch:
    """One for the deployment. It stays set until somebody takes it back: each look at it puts off
    its expiry."""

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._redis = redis
        self._seconds = retention.thread
        self._key = redis.key("paused")

    async def set(self, pause: Pause) -> None:
        """Pause the bot."""
        await self._redis.call("SET", self._key, pause.model_dump_json(), "EX", self._seconds)

    async def clear(self) -> None:
        """Let it work again."""
        await self._redis.call("DEL", self._key)

    async def get(self) -> Pause | None:
        """Who paused the bot; None when nobody did. One that cannot be read still holds."""
        raw = await self._redis.call("GETEX", self._key, "EX", self._seconds)
        return read_pause(raw) if raw else None


def read_pause(raw: bytes) -> Pause:
    """Return a kept pause; one that cannot be read still holds."""
    try:
        return decode(Pause, raw)
    except CorruptValue:
        return UNREADABLE
