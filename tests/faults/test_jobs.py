"""Jobs whose worker dies, or whose post fails: one message of each refresh, one result of a trial."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.core import failpoints
from bot.dev.workspace import ADA, BEN
from bot.features.feedback.instructions_form import TRY
from bot.features.refresh.message import KEEP
from bot.runs.queue.engine import EngineOptions
from bot.store import open_stores
from tests.support.deployment import deployed
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


async def test_a_trial_whose_worker_dies_is_made_again_and_shown(
    redis_url: str, orders: Path
) -> None:
    """23.6: the admin sees one result, in the form that they have open."""
    async with deployed(brain, redis_url) as bot:
        view = await opened(bot)
        (orders / "model-answered").write_text("raise", "utf-8")
        await bot.ws.click_in_view(ADA, view["id"], TRY, values=filled())
        await shown(bot, "With the new instructions: ")
        assert (orders / "model-answered.taken").exists()
