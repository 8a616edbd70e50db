"""Where the figures in answers come from, counted by model: over the real runner, loop and Redis."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.cli.operator import usage_lines
from bot.core import failpoints
from bot.dev.model import Script, finish
from bot.features.evidence.figures import FigureStore, FindingsMetric
from bot.library.tracing.findings import FigureCounts
from bot.settings import Settings
from bot.store import Stores
from bot.telemetry.metrics import Metrics
from tests.support.redis import asked
from tests.support.runs import MODEL, answer, bot_with
from tests.unit.runs.test_references import READ, SALES, asked_of, with_handle

MIXED = answer("North sold {{HANDLE.units[region=North]}} units, West 17, and East 9,413.")
COUNTS = FigureCounts(filled_in=1, found=1, not_found=1)


async def counts(stores: Stores) -> dict[str, FigureCounts]:
    return await FigureStore(stores.redis).of_month(datetime.now(UTC))


async def test_the_operator_sees_for_each_model_where_its_figures_come_from(
    stores: Stores, redis_url: str
) -> None:
    """Issue 33.6: how many a model filled in by reference, and how many of what it typed were found."""
    async with bot_with(
        stores, Script([READ, with_handle(MIXED), finish(answer("You are welcome!"))])
    ) as bot:
        await asked_of(bot)
        await bot.ask("Thanks")
    assert await counts(stores) == {MODEL: COUNTS}
    head, line = (await usage_lines(Settings(redis_url=redis_url)))[-2:]
    assert head.startswith("figures this month, by model")
    assert line.split() == [MODEL, "1", "33%", "1", "33%", "0", "0%", "1", "33%", "0"]


async def test_an_answer_is_counted_once(
    stores: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A4: though its worker died while it was saved, and the next one saved it again."""
    monkeypatch.setattr(failpoints, "_orders", tmp_path)
    async with bot_with(stores, Script([READ, with_handle(MIXED)])) as bot:
        file = bot.conversation.attach("sales.csv", SALES)
        question = asked("Units?").model_copy(update={"files": (file,)})
        for deaths, name in enumerate(("run-finishing", "run-finished")):
            (tmp_path / name).write_text("raise")
            with pytest.raises(failpoints.FailpointRaised):
                await bot.ask(question, deaths=deaths)
        await bot.ask(question, deaths=2)
    assert await counts(stores) == {MODEL: COUNTS}


async def test_a_damaged_count_ends_no_run(stores: Stores) -> None:
    """O6: people get their answers."""
    key = stores.redis.key("figures", f"{datetime.now(UTC):%Y-%m}")
    for damage in (("SET", key, "x"), ("HSET", key, f"found {MODEL}", "x")):
        await stores.redis.call("DEL", key)
        await stores.redis.call(*damage)
        async with bot_with(stores, Script([READ, with_handle(MIXED)])) as bot:
            outcome = await asked_of(bot)
        assert outcome.result is not None
    assert await counts(stores) == {MODEL: COUNTS.model_copy(update={"found": 0})}


async def test_a_reference_has_a_label_of_its_own_in_the_metric(stores: Stores) -> None:
    """Issue 33.6: `bot_evidence_findings` keeps its name and label."""
    async with bot_with(stores, Script([READ, with_handle(MIXED)])) as bot:
        outcome = await asked_of(bot)
    metrics, findings = Metrics(), FindingsMetric()
    metrics.include([findings.counter])
    for _ in range(2):  # posted again after a crash
        findings.count(outcome)
    for verdict in ("filled_in", "read", "untraced"):
        assert f'bot_evidence_findings_total{{verdict="{verdict}"}} 1.0' in metrics.text().decode()
