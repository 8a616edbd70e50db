"""What Slack shows as answered is over, whatever a backup or an empty Redis says (reliability 25, 28)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from bot.app import workspace_intake
from bot.app.process import bot
from bot.cli.backup import back_up, put_back
from bot.dev.model import ModelRequest, Reply, ResponsesServer, call, finish, held
from bot.dev.workspace import ADA, BEN, CHLOE, Workspace
from bot.runs.queue.engine import EngineOptions
from bot.slack.intake.catch_up import CatchUp
from bot.slack.settings import CatchUpSettings
from bot.slack.ui.buttons import STOP
from bot.store import open_stores
from tests.support.deployment import Deployment, configured
from tests.support.redis_process import RedisProcess, redis_process
from tests.support.runs import answer

SALES, GENERAL, DIRECT = "C0SALES001", "C0GENERAL1", "D0ADA00001"


class Scene:
    """A workspace that outlives its bot and its Redis. The model works once `go` is set."""

    def __init__(self, at: Deployment, redis: RedisProcess, folder: Path, go: asyncio.Event):
        self.at, self.go = at, go
        self._redis = redis
        self._backup = folder / "backup"
        self._settings = configured(
            at.ws,
            at.api,
            redis.url,
            engine=EngineOptions(sweep=1.0, grace=0.0),
            catch_up=CatchUpSettings(),
        )

    def bot(self, **changes: Any) -> Any:
        return bot(self._settings.model_copy(update=changes))

    async def back_up(self) -> None:
        await back_up(self._settings, self._backup, with_files=False)

    async def restore(self) -> None:
        async with Redis.from_url(self._redis.url) as client:
            await client.delete("bot:engine:workers")
        await put_back(self._settings, self._backup, replace=True)

    async def lose_everything(self) -> None:
        async with Redis.from_url(self._redis.url) as client:
            await client.flushall()

    def mention(self, text: str) -> str:
        return f"<@{self.at.ws.bot_user_id}> {text}"

    async def missed(self, user: str, channel: str, text: str, thread: str | None = None) -> str:
        lost = len(self.at.ws.delivery.lost)
        ts = str((await self.at.ws.say(user, channel, text, thread))["ts"])
        await self.at.ws.until(lambda: len(self.at.ws.delivery.lost) > lost)
        return ts

    async def settled(self) -> None:
        """Wait until the history was searched, and nothing waits or runs."""
        key = f"bot:v1:catch-up:{self.at.ws.team_id}"
        async with (
            asyncio.timeout(30),
            Redis.from_url(self._redis.url) as client,
            open_stores(self._redis.url) as stores,
        ):
            while not await client.exists(f"{key}:marks") or await client.exists(f"{key}:lock"):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            while await stores.mailbox.threads():  # noqa: ASYNC110
                await asyncio.sleep(0.05)

    def shown(self) -> dict[str, str]:
        """What stands in each message of the bot, for everybody."""
        me = self.at.ws.bot_user_id
        roots = [
            (place, m) for place in (SALES, GENERAL, DIRECT) for m in self.at.ws.messages(place)
        ]
        every = [m for place, root in roots for m in self.at.ws.messages(place, root["ts"])]
        return {m["ts"]: f"{m['text']} {m.get('blocks')}" for m in every if m.get("user") == me}

    def whispers(self) -> list[str]:
        return [str(e.args) for e in self.at.ws.effects if e.method == "chat.postEphemeral"]


@pytest.fixture
async def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Scene]:
    monkeypatch.setattr(workspace_intake, "CatchUp", partial(CatchUp, pace=0.0))
    async with _scene(tmp_path) as made:
        yield made


@asynccontextmanager
async def _scene(folder: Path) -> AsyncGenerator[Scene]:
    go = asyncio.Event()

    def looks_at_the_clock(request: ModelRequest) -> Reply:
        is_done = request.items[-1].get("type") == "function_call_output"
        reply = finish(answer("Two.")) if is_done else call("current_time", {})
        return held(reply, go)

    async with (
        redis_process(folder) as redis,
        Workspace.open() as ws,
        ResponsesServer.open(brain=looks_at_the_clock) as api,
    ):
        ws.delivery.retry_delays = ()
        yield Scene(Deployment(ws, api), redis, folder, go)


async def ask_privately(scene: Scene, root: str) -> None:
    ws = scene.at.ws
    await ws.shortcut(BEN, "ask_about_message", channel=SALES, ts=root)
    view = ws.views(BEN)[-1]
    where = next(b for b in view["blocks"] if b.get("block_id") == "where")
    alone = next(o for o in where["element"]["options"] if o["value"] == "me")
    values = {
        "question": {"question": "For me?"},
        "where": {"where": {"selected_option": alone}},
    }
    await ws.submit(BEN, view["id"], values)


async def test_a_backup_brings_back_no_question_that_ended_since(scene: Scene) -> None:
    """C1: of each kind one is worked on when the backup is made, and ends after it: answered, with
    another message that joined it, stopped, edited, deleted with what was posted for it. After the
    restore all messages stay as they are. Of one that was answered in private, nobody can know."""
    at, ws = scene.at, scene.at.ws
    async with scene.bot():
        plain = await at.ask(ADA, SALES, "Plain?")
        joined = await at.ask(BEN, SALES, "First?")
        await at.ask(ADA, DIRECT, "Direct?")
        stopped = await at.ask(CHLOE, SALES, "Stopped?")
        edited = await at.ask(BEN, GENERAL, "Edited?")
        deleted = await at.ask(ADA, GENERAL, "Deleted?")
        about = str((await ws.say(BEN, SALES, "Hm."))["ts"])
        await ask_privately(scene, about)
        await ws.until(lambda: len(at.api.requests) == 7)
        await at.ask(BEN, SALES, "Second?", joined)
        stop = await ws.until(
            lambda: next((m for m in at.own(SALES, stopped) if STOP in str(m)), None)
        )
        assert stop
        await ws.until(lambda: at.own(GENERAL, deleted))
        await scene.back_up()
        await ws.click(CHLOE, SALES, stop["ts"], STOP)
        await at.answered(SALES, stopped)
        await ws.edit(BEN, GENERAL, edited, scene.mention("Edited otherwise?"))
        await ws.delete(ADA, GENERAL, deleted)
        await ws.until(lambda: not at.own(GENERAL, deleted))
        await ws.until(lambda: any("otherwise" in str(r) for r in at.api.requests))
        scene.go.set()
        await at.answered(SALES, plain)
        await scene.settled()
    before, asked, whispers = scene.shown(), len(at.api.requests), len(scene.whispers())
    assert len(at.terminals(SALES, joined)) == 1
    await scene.restore()
    async with scene.bot():
        await scene.settled()
    assert scene.shown() == before
    assert len(at.api.requests) == asked
    [told] = scene.whispers()[whispers:]
    assert "do not know whether I have answered" in told


async def test_a_question_that_joined_before_the_backup_ends_with_its_run(scene: Scene) -> None:
    """C1: a message that was taken into the run is named by the answer, and so is over."""
    at = scene.at
    async with scene.bot():
        root = await at.ask(BEN, SALES, "First?")
        await at.ws.until(lambda: len(at.api.requests) == 1)
        second = await at.ask(BEN, SALES, "Second?", root)
        await at.ws.until(lambda: not at.ws.delivery.under_way)
        scene.go.set()
        await scene.settled()
    assert len(at.own(SALES, root)) == 1
    assert named(at, root) == [root, second]


async def test_a_followup_above_a_later_answer_is_taken_in(scene: Scene) -> None:
    """C2: everything is lost, and what decides is whom an answer names, not where it stands. What was
    answered is left alone, and the thread is followed as before."""
    at = scene.at
    scene.go.set()
    async with scene.bot():
        root = await at.ask(ADA, SALES, "How many?")
        await at.answered(SALES, root)
        await scene.settled()
    followup = await scene.missed(ADA, SALES, scene.mention("And how few?"), root)
    plain = await scene.missed(ADA, SALES, "And why?", root)
    await scene.lose_everything()
    async with scene.bot(catch_up=CatchUpSettings(every_minutes=0)):
        late = await at.ask(ADA, SALES, "And when?", root)
        await at.answered(SALES, root, 2)
        await at.ws.until(lambda: not at.ws.status(SALES, root).text)
    await scene.lose_everything()
    async with scene.bot():
        await at.ws.until(lambda: {followup, plain} <= set(named(at, root)), 20)
        await scene.settled()
    assert named(at, root) == [root, followup, plain, late]


def named(at: Deployment, root: str) -> list[str]:
    payloads = [(m.get("metadata") or {}).get("event_payload") or {} for m in at.own(SALES, root)]
    return sorted(ts for payload in payloads for ts in payload.get("answers", ()))


async def test_what_an_older_version_answered_is_not_answered_anew(scene: Scene) -> None:
    """C2: its messages name nothing: then what stands above one counts as answered."""
    at = scene.at
    scene.go.set()
    async with scene.bot():
        root = await at.ask(ADA, SALES, "How many?")
        [said] = await at.answered(SALES, root)
        await scene.settled()
    del said["metadata"]["event_payload"]["answers"]
    await scene.lose_everything()
    async with scene.bot():
        await scene.settled()
    assert len(at.own(SALES, root)) == 1
