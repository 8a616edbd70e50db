"""Jobs whose worker dies, or whose post fails: one message of each refresh, one result of a trial."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.core import failpoints
from bot.core.schedule import Schedule
from bot.dev.model import ResponsesServer, finish
from bot.dev.workspace import ADA, BEN, Workspace
from bot.features.feedback.instructions_form import TRY
from bot.features.refresh.message import KEEP
from bot.runs.queue.engine import EngineOptions
from bot.slack.intake import schedules as intake_schedules
from bot.store import open_stores
from bot.store.workspaces import schedules as stored_schedules
from tests.faults.processes import environment, started
from tests.support.deployment import deployed
from tests.support.runs import answer
from tests.unit.features.test_feedback import SALES, brain, filled, opened, shown
from tests.unit.features.test_refresh import NORTH, answered, asked_on_time, pressed, shop_in, told
from tests.unit.features.test_refresh_jobs import only_database, write


@pytest.fixture
def orders(tmp_path: Path) -> Iterator[Path]:
    """The directory of orders for failpoints, obeyed by this process."""
    folder = tmp_path / "orders"
    folder.mkdir()
    failpoints.arm(folder)
    yield folder
    failpoints._orders = None


async def test_a_scheduled_refresh_is_posted_once_whatever_fails_around_its_post(
    redis_url: str, tmp_path: Path, orders: Path
) -> None:
    """23.5 (windows 14 to 16): when the worker dies after the post, when Slack's reply to it is lost, and when
    Slack is down for a moment: the job is done again, and finds the message by its metadata."""
    shop, settings = shop_in(tmp_path)
    soon = EngineOptions(lease=4.0, sweep=1.0)
    async with (
        deployed(only_database, redis_url, engine=soon, **settings) as bot,
        open_stores(redis_url) as stores,
    ):
        thread, run = await answered(bot, BEN)
        await pressed(bot, BEN, thread, KEEP, f"{run} 0 9 * * 1")
        await told(bot, thread, BEN, "every Monday at 09:00")
        before = len(bot.own(SALES, thread))
        for posted, fault in enumerate(("message-posted", "reply", "error"), 1):
            match fault:
                case "reply":
                    bot.ws.faults.fail("chat.postMessage", None, after_effect=True)
                case "error":
                    bot.ws.faults.fail("chat.postMessage", "internal_error")
                case window:
                    (orders / window).write_text("raise", "utf-8")
            write(shop, {NORTH: 300_000.0 + posted})
            await asked_on_time(bot, stores, redis_url)
            own = bot.own(SALES, thread)
            assert len(own) == before + posted, fault
            assert f"300,00{posted}.00" in str(own[-1]["blocks"])
            assert {each.suffix for each in orders.iterdir()} <= {".taken"}  # noqa: ASYNC240
        await asked_on_time(bot, stores, redis_url)  # nothing new
        assert len(bot.own(SALES, thread)) == before + 3


def planned(ws: Workspace, **fields: Any) -> Schedule:
    """What is due at once in a channel: a reminder, or a question."""
    where = {"team": ws.team_id, "channel": SALES, "thread": "", "user": ADA, "text": "Call Ben"}
    return Schedule.model_validate({**where, "next_at": int(time.time()) - 5, **fields})


def shown_in(ws: Workspace) -> list[str]:
    """What the bot has standing in the channel: reminders, and answers of schedules."""
    own = [m for m in ws.messages(SALES) if m.get("user") == ws.bot_user_id]
    return ["reminder" if m["text"].startswith(":alarm_clock: R") else "answer" for m in own]


async def test_what_is_due_comes_once_whatever_slack_says_of_its_post(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """K11 (windows 1 and 2): a reminder, and a question whose message becomes its answer."""
    monkeypatch.setattr(intake_schedules, "LOOK_SECONDS", 0.2)
    monkeypatch.setattr(stored_schedules, "CLAIM_SECONDS", 1)
    async with (
        deployed(lambda _: finish(answer("Seven.")), redis_url) as bot,
        open_stores(redis_url) as stores,
    ):
        for count, is_lost in enumerate((True, False), 1):
            error = None if is_lost else "internal_error"
            bot.ws.faults.fail("chat.postMessage", error, after_effect=is_lost)
            for remind in (True, False):
                await stores.schedules.add(planned(bot.ws, remind=remind), most=9)
            both = sorted(["reminder", "answer"] * count)
            await bot.ws.until(lambda: sorted(shown_in(bot.ws)) == both, 30)  # noqa: B023 - awaited
            while await stores.schedules.of_all(bot.ws.team_id):  # noqa: ASYNC110 - the bot removes them
                await asyncio.sleep(0.1)
            assert sorted(shown_in(bot.ws)) == both


@pytest.mark.timeout(180)
async def test_what_is_due_comes_once_though_its_process_is_killed(
    redis_url: str, tmp_path: Path
) -> None:
    """K11: after the post of one, and once the other's request is stored."""
    orders, due = tmp_path / "orders", {"question-said": True, "request-queued": False}
    orders.mkdir()
    async with (
        Workspace.open() as ws,
        ResponsesServer.open(brain=lambda _: finish(answer("Seven."))) as api,
        open_stores(redis_url) as stores,
    ):
        more = {"bot_failpoints": str(orders), "redis_url": redis_url}
        settings = environment(ws, api, tmp_path, **more)
        for window, remind in due.items():
            (orders / window).write_text("kill", "utf-8")
            await stores.schedules.add(planned(ws, remind=remind), most=9)
            async with started("serve", settings, tmp_path / "log") as process:
                await process.wait()
            assert (orders / f"{window}.taken").exists()
            for each in await stores.schedules.of_all(ws.team_id):  # claims end within two minutes
                claim = ("schedule-claim", ws.team_id, each.id, str(each.next_at))
                await stores.redis.call("DEL", stores.redis.key(*claim))
        async with started("serve", settings, tmp_path / "log"):
            await ws.until(lambda: "Seven." in str(ws.messages(SALES)), 60)
            while await stores.schedules.of_all(ws.team_id):  # noqa: ASYNC110 - the bot removes them
                await asyncio.sleep(0.1)
        assert sorted(shown_in(ws)) == ["answer", "reminder"]


async def test_a_trial_whose_worker_dies_is_made_again_and_shown(
    redis_url: str, orders: Path
) -> None:
    """23.6: the admin sees one result, in the form that they have open."""
    async with deployed(brain, redis_url) as bot:
        view = await opened(bot)
        (orders / "model-answered").write_text("raise", "utf-8")
        await bot.ws.click_in_view(ADA, view["id"], TRY, values=filled())
        await shown(bot, "With what is written here: ")
        assert (orders / "model-answered.taken").exists()
