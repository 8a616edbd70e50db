"""A message is answered by a rule at most once, whenever a process dies, and when it was missed."""

from __future__ import annotations

import functools
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import bot.app.process
import bot.app.workspace_intake
from bot.core.failpoints import FAILPOINTS
from bot.dev.model import ModelRequest, Reply, ResponsesServer, call, finish
from bot.dev.workspace import ADA, BEN, Workspace
from bot.features.triggers.rules import Rule, RuleState
from bot.features.triggers.store import RuleStore
from bot.slack.intake.catch_up import CatchUp
from bot.slack.settings import CatchUpSettings
from bot.store import open_stores
from tests.faults.fleet import RETRIES
from tests.faults.processes import environment, started
from tests.support.deployment import Deployment, configured
from tests.support.runs import answer

PLACE = "C0GENERAL1"
WINDOWS = ("request-kept", "model-answered", "run-started", "message-posted")


def brain(request: ModelRequest) -> Reply:
    if any(tool.get("name") == "decide" for tool in request.body.get("tools", ())):
        return call("decide", {"yes": True})
    return finish({**answer("Restart the queue."), "nothing_to_say": False})


def on(ws: Workspace, **fields: Any) -> Rule:
    """A rule as one is stored that an admin has approved."""
    fields = {"instruction": "Say what to do.", "question": "Is it one?", **fields}
    return Rule(
        team=ws.team_id, channel=PLACE, owner=ADA, anyone=True, state=RuleState.ON, **fields
    )


@pytest.mark.timeout(300)
async def test_a_kill_in_every_window_of_a_rule_makes_one_run(
    redis_url: str, tmp_path: Path
) -> None:
    """(39.1) From the event to the posted answer, the question of the rule among it."""
    assert set(WINDOWS) <= set(FAILPOINTS)
    orders, config = tmp_path / "orders", tmp_path / "bot.toml"
    orders.mkdir()
    config.write_text("[engine]\nlease = 2.0\nsweep = 1.0\n", "utf-8")
    async with (
        Workspace.open() as ws,
        ResponsesServer.open(brain=brain) as api,
        open_stores(redis_url) as stores,
    ):
        ws.delivery.retry_delays = RETRIES
        store = RuleStore(stores)
        rule = on(ws)
        await store.add(rule, most=1)
        more = {"bot_failpoints": str(orders), "bot_config": str(config), "redis_url": redis_url}
        settings, watched, roots = environment(ws, api, tmp_path, **more), Deployment(ws, api), []
        for window in WINDOWS:
            (orders / window).write_text("kill", "utf-8")
            async with started("serve", settings, tmp_path / "log") as process:
                roots.append(str((await ws.say(BEN, PLACE, f"broken at {window}"))["ts"]))
                await process.wait()
            assert (orders / f"{window}.taken").exists()
        async with started("serve", settings, tmp_path / "log"):
            for root in roots:
                await watched.answered(PLACE, root, seconds=60)
            await ws.until(lambda: not ws.delivery.under_way, 30)
        assert [len(watched.own(PLACE, root)) for root in roots] == [1] * len(WINDOWS)
        assert (await store.used(rule)).day == len(WINDOWS)


async def test_missed_messages_are_looked_at_up_to_the_age_of_the_rule(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """(39.1, reliability 5) Once, however often the history is read; and no older ones, nor any that was
    there before the rule was approved."""
    monkeypatch.setattr(bot.app.workspace_intake, "CatchUp", functools.partial(CatchUp, pace=0.0))
    async with (
        Workspace.open() as ws,
        ResponsesServer.open(brain=brain) as api,
        open_stores(redis_url) as stores,
    ):
        ws.delivery.retry_delays = ()
        store, away = RuleStore(stores), Deployment(ws, api)
        approved_at = datetime.now(UTC) - timedelta(seconds=400)
        rule = on(ws, age_minutes=10, question="", approved_at=approved_at)
        await store.add(rule, most=1)
        old, before = (f"{time.time() - age:.6f}" for age in (700, 500))
        for ts in (old, before):
            ws.store.add(PLACE, {"type": "message", "user": BEN, "text": "old", "ts": ts})
        missed = str((await ws.say(BEN, PLACE, "missed"))["ts"])
        by_app: dict[str, Any] = {"bot_id": "B0PAGER001", "app_id": "A0PAGER001"}
        alert = str((await ws.say(BEN, PLACE, "alert", **by_app))["ts"])
        await ws.until(lambda: len(ws.delivery.lost) == 2)
        settings = configured(
            ws, api, redis_url, catch_up=CatchUpSettings(every_minutes=0.02, look_back_minutes=60)
        )
        for _ in range(2):
            async with bot.app.process.bot(settings):
                await away.answered(PLACE, missed)
                since = len(ws.effects)
                await ws.until(
                    lambda since=since: (
                        sum(  # type: ignore[misc]
                            call.method == "conversations.history" for call in ws.effects[since:]
                        )
                        > 8
                    )
                )
        assert [len(away.own(PLACE, ts)) for ts in (old, before, missed, alert)] == [0, 0, 1, 0]
        assert len(api.requests) == 1
        assert (await store.used(rule)).day == 1
