"""The pause switch: while it is set, no run may call a model."""

from __future__ import annotations

from datetime import UTC, datetime

from bot.core.budgets import Pause
from bot.core.errors import CorruptValue
from bot.store.connection import Connection, Retention
from bot.store.values import decode

UNREADABLE = Pause(by="", name="an admin", at=datetime.fromtimestamp(0, UTC))


class PauseSwitch:
    """The pause switch of the deployment. It stays set until cleared: reading renews its expiry."""

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._redis = redis
        self._seconds = retention.thread
        self._key = redis.key("paused")

    async def set(self, pause: Pause) -> None:
        """Pause the bot."""
        await self._redis.call("SET", self._key, pause.model_dump_json(), "EX", self._seconds)

    async def clear(self) -> None:
        """Resume the bot."""
        await self._redis.call("DEL", self._key)

    async def get(self) -> Pause | None:
        """Return the pause, None if the bot is not paused. A damaged pause still counts."""
        raw = await self._redis.call("GETEX", self._key, "EX", self._seconds)
        return read_pause(raw) if raw else None


def read_pause(raw: bytes) -> Pause:
    """Decode a pause. Return `UNREADABLE` for a damaged one, because it still counts."""
    try:
        return decode(Pause, raw)
    except CorruptValue:
        return UNREADABLE
