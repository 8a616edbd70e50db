"""Counts of the figures in answers, by model and month: where they come from, see `FigureCounts`.

One hash per month with the fields "filled_in gpt-5", "found gpt-5", and so on.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from typing import Any

from bot.core.findings import FigureCounts
from bot.store.connection import Connection

_SECONDS = 62 * 86_400


class FigureStore:
    """The store of figure counts."""

    def __init__(self, redis: Connection) -> None:
        self._redis = redis

    def counting(self, model: str, figures: FigureCounts) -> list[tuple[Any, ...]]:
        """Return the commands that add the counts of one answer, for `Lease.write`."""
        key = self._key(datetime.now(UTC))
        counts = [("HINCRBY", key, f"{name} {model}", count) for name, count in figures if count]
        return [*counts, ("EXPIRE", key, _SECONDS)] if counts else []

    async def of_month(self, now: datetime) -> dict[str, FigureCounts]:
        """Return the counts of the month of `now` in UTC, by model. Damaged counts are left out."""
        counts = defaultdict[str, dict[str, int]](dict)
        for field, count in (await self._redis.call("HGETALL", self._key(now))).items():
            name, _, model = field.decode().partition(" ")
            if count.isdigit():
                counts[model][name] = int(count)
        return {model: FigureCounts.model_validate(own) for model, own in counts.items()}

    def _key(self, now: datetime) -> str:
        return self._redis.key("figures", now.astimezone(UTC).strftime("%Y-%m"))
