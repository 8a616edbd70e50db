"""Counts of the figures in answers, by model and month: where they come from, see `FigureCounts`.

One hash per month with the fields "filled_in gpt-5", "found gpt-5", and so on.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from datetime import UTC, datetime

from prometheus_client import Counter
from typing_extensions import override

from bot.core.outcome import Outcome
from bot.features import OperatorPart
from bot.library.tracing.findings import FigureCounts, counted_as
from bot.store import Stores
from bot.store.connection import Connection
from bot.store.values import Command

_SECONDS = 62 * 86_400
_MOST_REMEMBERED = 10_000  # ended runs, so that none is counted twice


class FiguresForOperators(OperatorPart):
    """The table of `bot usage`, and the metric of findings."""

    def __init__(self, metric: FindingsMetric) -> None:
        self.metrics = (metric.counter,)

    @override
    async def usage_lines(self, stores: Stores) -> list[str]:
        """Return a table of where the figures in answers of this month come from; [] without any."""
        figures = await FigureStore(stores.redis).of_month(datetime.now(UTC))
        if not figures:
            return []
        heads = ("filled in", "found", "worked out", "not found", "sent back")
        lines = [
            "",
            f"{'figures this month, by model':<28} {' '.join(f'{head:>12}' for head in heads)}",
        ]
        for model, counts in sorted(figures.items()):
            shares = (counts.filled_in, counts.found, counts.worked_out, counts.not_found)
            cells = [f"{count:,} {count / max(counts.total, 1):>4.0%}" for count in shares]
            cells.append(f"{counts.sent_back:,}")
            lines.append(f"{model:<28} {' '.join(f'{cell:>12}' for cell in cells)}")
        return lines


class FigureStore:
    """The store of figure counts."""

    def __init__(self, redis: Connection) -> None:
        self._redis = redis

    def counting(self, model: str, figures: FigureCounts) -> list[Command]:
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


class FindingsMetric:
    """The metric of findings of one process. Each run counts once, though it may end twice."""

    def __init__(self) -> None:
        self.counter = Counter(
            "bot_evidence_findings",
            "Figures, dates, ids, addresses and quotes of answers, by what tracing them found.",
            ["verdict"],
            registry=None,
        )
        self._counted = OrderedDict[str, None]()

    def count(self, outcome: Outcome) -> None:
        """Count the findings of an outcome that was posted."""
        if outcome.traced is None or outcome.run_id in self._counted:
            return
        self._counted[outcome.run_id] = None
        if len(self._counted) > _MOST_REMEMBERED:
            self._counted.popitem(last=False)
        for finding in outcome.traced.items:
            self.counter.labels(counted_as(finding)).inc()
