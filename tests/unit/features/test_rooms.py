"""The bot without any feature, and with each alone: it answers, survives a kill, and erases."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from itertools import count
from pathlib import Path

import pytest
from redis.asyncio import Redis

from bot.app.features import all_features
from bot.core.schedule import Schedule
from bot.dev.model import ModelRequest, Reply, ResponsesServer, call, finish
from bot.dev.workspace import ADA, Workspace
from bot.settings import Settings
from bot.slack.intake.due_schedules import DueSchedules
from bot.slack.ui import words
from bot.store import open_stores
from tests.faults.processes import environment, started_code
from tests.support.deployment import Deployment
from tests.support.redis import redis_server, redis_url
from tests.support.runs import answer
from tests.unit.slack.rig import wired

__all__ = ["redis_server", "redis_url"]

SALES = "C0SALES001"
NAMES = [feature.name for feature in all_features(Settings(_env_file=None))]
ALONE = [(), *((name,) for name in NAMES)]
ACTIONS = {"evidence": "show_evidence", "refresh": "refresh_answer"}
"""The button of each feature under answers."""

SERVING = """
import asyncio
from bot.app.features import all_features
from bot.app.process import bot
from bot.settings import load_settings

async def main():
    settings = load_settings()
    features = [feature for feature in all_features(settings) if feature.name in {names}]
    async with bot(settings, features=features):
        print(" ready", flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


def calculates(request: ModelRequest) -> Reply:
    if request.input[-1].get("type") == "function_call_output":
        return finish(answer("1,000 and 234 are 1,234."))
    return call("calculate", {"expression": "1000+234"})


def buttons(message: Mapping[str, object]) -> set[str]:
    """The features whose button stands under an answer."""
    return {name for name, action in ACTIONS.items() if f"'{action}'" in str(message["blocks"])}


@pytest.mark.parametrize("names", ALONE, ids=lambda names: "".join(names) or "none")
async def test_a_killed_run_is_resumed_and_answered_without_the_other_features(
    names: tuple[str, ...], redis_url: str, tmp_path: Path
) -> None:
    """On another worker, once, over real processes; so is the next question. Then nothing is left of
    whoever asked."""
    resumed = asyncio.Event()

    async def slow(request: ModelRequest) -> Reply:
        if request.input[-1].get("type") == "function_call_output":
            await resumed.wait()
        return calculates(request)

    async with (
        Workspace.open() as ws,
        ResponsesServer.open(brain=slow) as api,
        open_stores(redis_url) as stores,
    ):
        bot, log = Deployment(ws, api), tmp_path / "log"
        settings = environment(ws, api, tmp_path, redis_url=redis_url)
        async with started_code(SERVING.format(names=names), settings, log) as process:
            thread = await bot.ask(ADA, SALES, "How much is that?")
            await ws.until(lambda: len(api.requests) == 2, 30)  # what it calculated is kept
            process.kill()
            await process.wait()
        resumed.set()
        async with started_code(SERVING.format(names=names), settings, log):
            await bot.answered(SALES, thread, seconds=60)
            await bot.ask(ADA, SALES, "Are you sure?", thread)
            messages = await bot.answered(SALES, thread, 2, seconds=60)
            while await stores.mailbox.threads():  # noqa: ASYNC110 - the process does it
                await asyncio.sleep(0.1)
        for message in messages:
            assert "1,000 and 234 are 1,234." in str(message["blocks"])
            assert buttons(message) == {*names} - {"refresh"}  # nothing is read again
        erased = await stores.erasure.person(ADA)
        assert not erased.busy
    async with Redis.from_url(redis_url, decode_responses=True) as client:
        keys = [key async for key in client.scan_iter("bot:v1:*")]
    left = [key for key in keys if ADA in key or thread in key]
    assert not [key for key in left if ":claim:" not in key]  # so that it is taken in once


async def test_the_schedule_of_a_feature_that_is_switched_off_ends_with_a_sentence(
    redis_url: str,
) -> None:
    """It asks nothing in its feature's place; its owner is told after three times."""
    async with Workspace.open() as ws, wired(ws) as rig, open_stores(redis_url) as stores:
        root = (await ws.say(ADA, SALES, "Figures"))["ts"]
        kept = Schedule(
            team=ws.team_id,
            channel=SALES,
            thread=root,
            user=ADA,
            text="Keep it up to date",
            cron="0 9 * * 1",
            next_at=0,
            refresh="run_1",
        )
        await stores.schedules.add(kept, most=9)
        times = count(int(time.time()), 30 * 86_400)
        look = DueSchedules(
            ws.team_id, stores.schedules, stores.pause, rig.asking, [], rig.slack, times.__next__
        )
        for _ in range(3):
            await look.submit_due()
        assert await stores.schedules.of(ws.team_id, ADA) == []
        assert rig.mailbox.requests == []
        [told] = ws.messages(rig.direct(ADA))
    assert words.SWITCHED_OFF() in told["text"]
