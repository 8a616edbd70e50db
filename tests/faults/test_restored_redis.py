"""A Redis that was restored from an older state: what it forgot of runs does not stay in Slack."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from bot.app.process import bot
from bot.dev.model import ModelRequest, Reply, ResponsesServer, call, finish, held
from bot.dev.workspace import ADA, BEN, CHLOE, Workspace
from bot.runs.queue.engine import EngineOptions
from bot.slack.settings import CatchUpSettings
from bot.slack.ui import words
from bot.slack.ui.buttons import STOP
from bot.store import open_stores
from bot.text.translation import reader
from tests.support.deployment import Deployment, configured
from tests.support.redis_process import redis_process
from tests.support.runs import answer

SALES, GENERAL = "C0SALES001", "C0GENERAL1"


class Stage:
    """A workspace and a model that outlive the bot."""

    def __init__(self, ws: Workspace, api: ResponsesServer, redis_url: str) -> None:
        self.at = Deployment(ws, api)
        self._redis_url = redis_url
        self.go: Callable[[], None] = lambda: None

    def bot(self, **more: Any) -> Any:
        options = {"engine": EngineOptions(lease=4.0, sweep=1.0, grace=0.0), **more}
        return bot(configured(self.at.ws, self.at.api, self._redis_url, **options))

    def unfinished(self, channel: str, root: str) -> list[dict[str, Any]]:
        return [m for m in self.at.own(channel, root) if STOP in str(m.get("blocks"))]


@asynccontextmanager
async def _stage(redis_url: str) -> AsyncGenerator[Stage]:
    go = asyncio.Event()

    def brain(_: ModelRequest) -> Reply:
        return held(finish(answer("Two.")), go)

    async with Workspace.open() as ws, ResponsesServer.open(brain=brain) as api:
        ws.clock.advance(-100)  # so that what is posted first is older than any run that just ends
        stage = Stage(ws, api, redis_url)
        stage.go = go.set
        yield stage


@pytest.fixture
async def stage(redis_url):
    async with _stage(redis_url) as made:
        yield made


async def left_unfinished(stage: Stage, user: str, channel: str) -> str:
    """Ask; returns the thread once a run shows itself there."""
    root = await stage.at.ask(user, channel, "How many?")
    await stage.at.ws.until(lambda: stage.unfinished(channel, root))
    return root


async def test_a_question_that_is_asked_again_leaves_nothing_of_its_lost_run(stage, redis) -> None:
    """(R15) Slack delivers it again: the thread has the answer, and no message that still works on it."""
    async with stage.bot():
        root = await left_unfinished(stage, ADA, SALES)
    await redis.flushdb()
    assert stage.unfinished(SALES, root)
    stage.go()
    async with stage.bot():
        [asked] = [m for m in stage.at.ws.messages(SALES) if m["ts"] == root]
        event = {**asked, "type": "app_mention", "channel": SALES}
        stage.at.ws.emit(event, stage.at.ws.channels[SALES])
        await stage.at.answered(SALES, root)
    [said] = stage.at.own(SALES, root)
    assert "Two." in said["text"]


@pytest.mark.timeout(180)
async def test_what_redis_forgot_is_answered_or_said_to_be_lost(stage, redis) -> None:
    """(R15) A question of which nothing is known is found in the history, and answered, though the
    thread says that it is worked on; of one that is known to have been taken in, and is not there, the
    thread says that it got lost. Neither looks as if somebody worked on it."""
    async with stage.bot():
        forgotten = await left_unfinished(stage, ADA, SALES)
        lost = await left_unfinished(stage, CHLOE, GENERAL)
    for key in await redis.keys("*"):
        if not (":claim:" in key and lost in key):
            await redis.delete(key)
    stage.go()
    async with stage.bot(catch_up=CatchUpSettings(every_minutes=1)):
        await stage.at.answered(SALES, forgotten, seconds=90)
        await stage.at.ws.until(lambda: not stage.unfinished(GENERAL, lost), 90)
    [said] = stage.at.own(SALES, forgotten)
    assert "Two." in said["text"]
    [told] = stage.at.own(GENERAL, lost)
    with reader("en-US"):
        assert told["text"] == words.LOST()  # in the language of the question (K7)
    assert stage.at.ws.status(GENERAL, lost).session == "active"


def shares_and_answers(gates: list[asyncio.Event]) -> Callable[[ModelRequest], Reply]:
    """A model that shares a file and then answers; who asked first waits before that, the other one
    before anything."""

    def brain(request: ModelRequest) -> Reply:
        done = [each["name"] for each in request.items if each.get("type") == "function_call"]
        first = "first" in request.text
        if not first and not done:
            return held(call("acquire_tools", {"names": ["share_file"]}), gates[1])
        if "acquire_tools" not in done:
            return call("acquire_tools", {"names": ["share_file"]})
        if "share_file" not in done:
            name = "first.txt" if first else "second.txt"
            shared = {"name": name, "content": "Two.", "handle": None, "comment": ""}
            return call("share_file", shared)
        return held(finish(answer("Two.")), gates[0])

    return brain


@pytest.mark.timeout(120)
async def test_what_was_answered_since_the_copy_is_not_answered_twice(tmp_path: Path) -> None:
    """(R15, R1) Redis comes back with a copy from the middle of two runs that have been answered since.
    They are gone on with, in the message that is there, and what the copy knows of is not done again."""
    gates = [asyncio.Event(), asyncio.Event()]
    async with (
        Workspace.open() as ws,
        ResponsesServer.open(brain=shares_and_answers(gates)) as api,
        redis_process(tmp_path, appendonly="no") as server,
    ):
        stage = Stage(ws, api, server.url)
        dump, copy = tmp_path / "dump.rdb", tmp_path / "copy.rdb"
        async with stage.bot():
            roots = [await stage.at.ask(ADA, SALES, "The first")]
            await ws.until(lambda: len(api.requests) == 3)
            roots.append(await stage.at.ask(BEN, SALES, "The second"))
            await ws.until(lambda: len(api.requests) == 4 and stage.unfinished(SALES, roots[1]))
            async with Redis.from_url(server.url) as redis:
                await redis.save()
            shutil.copy(dump, copy)
            for gate in gates:
                gate.set()
            for root in roots:
                await stage.at.answered(SALES, root)
        await server.kill()
        shutil.copy(copy, dump)
        asked = len(api.requests)
        await server.start()
        async with stage.bot(), open_stores(server.url) as stores:
            assert await stores.mailbox.waiting_anywhere() == 2
            async with asyncio.timeout(60):
                while await stores.mailbox.waiting_anywhere():  # noqa: ASYNC110 - Redis tells nobody
                    await asyncio.sleep(0.1)
        assert len(api.requests) > asked
        for root in roots:
            assert len(stage.at.terminals(SALES, root)) == 1
        files = [m for m in stage.at.own(SALES, roots[0]) if m.get("files")]
        assert len(files) == 1
