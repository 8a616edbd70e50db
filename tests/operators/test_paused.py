"""A pause pauses everything, says so to whoever waits, and loses nothing (O2, reliability 29)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from typing import Any

import pytest
from redis.asyncio import Redis

from bot.app.process import bot
from bot.core.approvals import Decision, Verdict
from bot.core.budgets import Pause
from bot.core.schedule import Schedule
from bot.dev.model import ModelRequest, Reply, ResponsesServer, held
from bot.dev.workspace import ADA, BEN, Workspace
from bot.features.memories.store import MemoryStore
from bot.features.sharing.slack_part import SHARE
from bot.runs.queue.engine import EngineOptions, open_engine
from bot.slack.intake import schedules as intake_schedules
from bot.slack.intake.manifest import manifest
from bot.slack.ui.buttons import APPROVE, STOP
from bot.store import Stores, open_stores
from bot.toolkit import MemoryScope
from tests.security.model import question, won_over
from tests.security.test_boundaries import private_question
from tests.support.deployment import Deployment, configured, deployed
from tests.support.redis import decided
from tests.support.runs import answer

SALES, GENERAL, DIRECT = "C0SALES001", "C0GENERAL1", "D0ADA00001"
BY_BEN = "paused by Ben"
POST = ("post_message", {"channel": "general", "text": "Hello", "thread": None})


@dataclass
class Scene:
    """A bot whose model can be held: from one request on, its replies come only when `go` is set."""

    bot: Deployment
    stores: Stores
    go: asyncio.Event

    async def pause(self) -> None:
        await self.stores.pause.set(Pause(by=BEN, name="Ben", at=datetime.now(UTC)))

    async def resume(self) -> None:
        await self.stores.pause.clear()

    async def asked(self, number: int) -> None:
        """Returns when the model was asked `number` times."""
        await self.bot.ws.until(lambda: len(self.bot.api.requests) >= number)

    def posted(self) -> list[dict[str, Any]]:
        return [m for m in self.bot.ws.messages(GENERAL) if m["user"] == self.bot.ws.bot_user_id]

    async def paused_ends(self, thread: str, count: int = 1) -> list[dict[str, Any]]:
        """The final messages of a thread, all of which say who paused the bot."""
        ends = await self.bot.answered(SALES, thread, count)
        assert all(BY_BEN in str(each["blocks"]) for each in ends)
        return ends


@asynccontextmanager
async def scene(redis_url: str, *, hold_from: int | None = None) -> AsyncGenerator[Scene]:
    go, numbers = asyncio.Event(), count(1)

    def think(request: ModelRequest) -> Reply:
        reply = won_over(request)
        return held(reply, go) if hold_from and next(numbers) >= hold_from else reply

    async with deployed(think, redis_url) as bot, open_stores(redis_url) as stores:
        yield Scene(bot, stores, go)


@pytest.mark.parametrize(
    "change",
    [
        ("remember", {"text": "I like tea."}),
        ("share_file", {"handle": "$last", "name": "a", "format": "csv"}),
        ("post_message", {"channel": "general", "text": "Hello", "thread": None}),
    ],
)
async def test_no_change_is_made_in_mid_run(redis_url: str, change: Any) -> None:
    """O2: the model asked for one before the pause; nothing of it is done, by cards or without."""
    async with scene(redis_url, hold_from=2) as here:
        thread = await here.bot.ask(ADA, SALES, question(change, say=answer("Done.")))
        await here.asked(2)
        await here.pause()
        here.go.set()
        await here.paused_ends(thread)
        assert len(here.bot.api.requests) == 2
        assert here.posted() == []
        assert not [m for m in here.bot.own(SALES, thread) if m.get("files")]
        assert (
            await MemoryStore.of(here.stores).all(MemoryScope.USER, f"{here.bot.ws.team_id}:{ADA}")
            == []
        )
        await here.resume()
        await here.bot.ask(ADA, SALES, question(say=answer("Back.")), thread)
        [_, back] = await here.bot.answered(SALES, thread, 2)
        assert "Back." in str(back["blocks"])


async def test_helpers_at_work_ask_nothing_more(redis_url: str) -> None:
    """O2: sub-agents of a run are part of it; their run says that it was paused, once."""
    report = {"summary": "So.", "findings": [], "gaps": []}
    goals = [question(("current_time", {}), say=report | {"summary": f"{n}"}) for n in range(2)]
    dispatch = [("dispatch_subagent", {"goal": goal, "tools": []}) for goal in goals]
    async with scene(redis_url, hold_from=4) as here:
        asked = question(*dispatch, say=answer("Whole."))
        thread = await here.bot.ask(ADA, SALES, asked)
        await here.asked(4)
        await here.pause()
        before = len(here.bot.api.requests)
        here.go.set()
        await here.paused_ends(thread)
        assert len(here.bot.api.requests) == before
        await here.resume()
        assert len(here.bot.terminals(SALES, thread)) == 1


async def test_questions_in_line_wait_and_are_answered_once(redis_url: str) -> None:
    """O2, reliability 29: each question of a pause waits for its end, and then gets its one answer, in
    order; its thread says so meanwhile."""
    async with scene(redis_url, hold_from=1) as here:
        first = await here.bot.ask(ADA, SALES, question(say=answer("One.")))
        await here.asked(1)
        await here.bot.ask(BEN, SALES, question(say=answer("Two.")), first)
        await here.pause()
        await here.bot.ask(ADA, GENERAL, question(say=answer("Three.")))
        here.go.set()
        [one] = await here.bot.answered(SALES, first)
        assert "One." in str(one["blocks"])  # asked before the pause
        await here.bot.ws.until(lambda: BY_BEN in here.bot.ws.status(SALES, first).text)
        assert len(here.bot.api.requests) == 1
        await here.resume()
        [one, two] = await here.bot.answered(SALES, first, 2)
        assert "Two." in str(two["blocks"])
        assert len(here.bot.api.requests) == 3


async def test_what_is_asked_in_a_pause_outlives_it_and_every_process(redis_url: str) -> None:
    """C7, reliability 29: hours pass, the bot is restarted, and the pause ends while no worker is alive.
    Then everything is answered once and in order, but for what was stopped or deleted meanwhile."""

    async with (
        Workspace.open() as ws,
        ResponsesServer.open(brain=won_over) as api,
        open_stores(redis_url) as stores,
    ):
        at = Deployment(ws, api)
        settings = configured(ws, api, redis_url, engine=EngineOptions(sweep=0.5, grace=0.0))
        await stores.pause.set(Pause(by=BEN, name="Ben", at=datetime.now(UTC)))
        async with bot(settings):
            first = await at.ask(ADA, SALES, question(say=answer("One.")))
            await at.ask(BEN, SALES, question(say=answer("Two.")), first)
            direct = await at.ask(ADA, DIRECT, question(say=answer("Three.")))
            stopped = await at.ask(BEN, GENERAL, question(say=answer("Four.")))
            deleted = await at.ask(ADA, GENERAL, question(say=answer("Five.")))
            waits = ((SALES, first), (DIRECT, direct), (GENERAL, stopped), (GENERAL, deleted))
            for channel, thread in waits:
                await ws.until(partial(says_paused, at, channel, thread))
            await ws.say(BEN, GENERAL, "stop", stopped)
            await at.answered(GENERAL, stopped)
            await ws.delete(ADA, GENERAL, deleted)
            await nothing_waits(stores, f"{ws.team_id}:{GENERAL}:{deleted}")
            async with Redis.from_url(redis_url) as client:  # as if two days were nearly over
                names = [name async for name in client.scan_iter("bot:v1:request:*")]
                for name in names:
                    await client.expire(name, 5)
                head = (await stores.mailbox.all_of(f"{ws.team_id}:{SALES}:{first}"))[0].id
                while await client.ttl(f"bot:v1:request:{head}") < 1_000:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
        assert api.requests == []
        async with bot(settings):
            await ws.until(lambda: BY_BEN in ws.status(SALES, first).text)
        await stores.pause.clear()
        async with bot(settings):
            ends = await at.answered(SALES, first, 2, seconds=20)
            [late] = await at.answered(DIRECT, direct, seconds=20)
            for key in await stores.mailbox.threads():
                await nothing_waits(stores, key)
        assert ["One." in str(ends[0]["blocks"]), "Two." in str(ends[1]["blocks"])] == [True, True]
        assert "Three." in str(late["blocks"])
        assert len(api.requests) == 3
        assert "Four." not in str(at.own(GENERAL, stopped))
        assert at.own(GENERAL, deleted) == []


def says_paused(at: Deployment, channel: str, thread: str) -> bool:
    return BY_BEN in at.ws.status(channel, thread).text


async def nothing_waits(stores: Stores, thread_key: str) -> None:
    async with asyncio.timeout(20):
        while await stores.mailbox.waiting(thread_key):  # noqa: ASYNC110 - Redis tells nobody
            await asyncio.sleep(0.05)


async def test_share_waits_for_the_end_of_the_pause(redis_url: str) -> None:
    """O2: pressed meanwhile it posts nothing and says why; pressed again afterwards it posts once."""
    async with scene(redis_url) as here:
        root = str((await here.bot.ws.say(BEN, SALES, "Hm?"))["ts"])
        await private_question(here.bot, ADA, root, question(say=answer("For me.")))

        def is_shared() -> bool:
            return "For me." in str(here.bot.own(SALES, root))

        def alone() -> dict[str, Any] | None:
            own = here.bot.ws.messages(SALES, root, viewer=ADA)
            every = [*own, *here.bot.ws.messages(SALES, None, viewer=ADA)]
            return next((m for m in every if SHARE in str(m.get("blocks"))), None)

        button = await here.bot.ws.until(alone)
        assert button
        await here.pause()
        await here.bot.ws.click(ADA, SALES, button["ts"], SHARE)
        await here.bot.ws.until(lambda: BY_BEN in str([*here.bot.sent()]))
        assert not is_shared()
        await here.resume()
        await here.bot.ws.click(ADA, SALES, button["ts"], SHARE)
        await here.bot.ws.until(is_shared)
        shared = [m for m in here.bot.own(SALES, root) if "For me." in str(m.get("blocks"))]
        assert len(shared) == 1


async def test_a_workflow_step_fails_with_the_reason(redis_url: str) -> None:
    """O2: a workflow cannot wait for an admin; its step says who paused the bot."""
    async with scene(redis_url) as here:
        await here.pause()
        outputs = list(
            manifest()["functions"]["answer_question"]["output_parameters"]["properties"]
        )
        step = await here.bot.ws.run_step("answer_question", {"question": "1+1?"}, outputs)
        execution = here.bot.ws.execution(step)
        await here.bot.ws.until(lambda: execution.is_over)
        assert BY_BEN in str(execution.error)
        assert here.bot.api.requests == []


async def test_schedules_wait_and_are_asked_once(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """O2: what comes due in a pause, once or often, is asked when it is over: nobody reads in the
    thread each day that the bot is paused, and no reminder is lost."""
    monkeypatch.setattr(intake_schedules, "LOOK_SECONDS", 0.05)
    async with scene(redis_url) as here:
        root = str((await here.bot.ws.say(ADA, SALES, "Here.", None))["ts"])
        await here.pause()
        due = datetime.now(UTC) - timedelta(hours=3)
        for text, cron in (("Remind.", ""), ("Often.", "* * * * *")):
            kept = Schedule(
                team=here.bot.ws.team_id,
                channel=SALES,
                thread=root,
                user=ADA,
                text=question(say=answer(text)),
                cron=cron,
                next_at=int(due.timestamp()),
            )
            assert await here.stores.schedules.add(kept, most=9)
        looks = len(here.bot.ws.effects)
        await asyncio.sleep(0.5)
        assert here.bot.own(SALES, root) == []
        assert looks <= len(here.bot.ws.effects)
        await here.resume()
        ends = await here.bot.answered(SALES, root, 2)
        await asyncio.sleep(0.5)
        assert len(here.bot.terminals(SALES, root)) == 2
        assert {"Remind.", "Often."} == {
            text for text in ("Remind.", "Often.") if text in str([e["blocks"] for e in ends])
        }


async def test_stop_ends_what_a_pause_holds(redis_url: str) -> None:
    """O2: an approved call that waits for the end of the pause is not made once somebody pressed
    Stop; its run ends at once, and nothing comes after the pause."""
    async with scene(redis_url) as here:
        thread = await here.bot.ask(ADA, SALES, question(POST, say=answer("Posted.")))

        def card() -> dict[str, Any] | None:
            return next((m for m in here.bot.own(SALES, thread) if APPROVE in str(m)), None)

        await here.bot.ws.until(card)
        await here.bot.ws.until(lambda: "Waiting" in str(here.bot.own(SALES, thread)))
        await here.pause()
        key = f"{here.bot.ws.team_id}:{SALES}:{thread}"
        async with open_engine(redis_url, here.stores.mailbox) as engine:
            run = await here.stores.runs.id_of((await here.stores.mailbox.all_of(key))[0].id)
            [asked] = await here.stores.approvals.of_run(run or "")
            yes = Decision(verdict=Verdict.APPROVED, by=ADA)
            await decided(here.stores, asked.approval, yes)
            await engine.wake(key)
        stop = next(m for m in here.bot.own(SALES, thread) if STOP in str(m.get("blocks")))
        await here.bot.ws.click(ADA, SALES, stop["ts"], STOP)
        await here.bot.answered(SALES, thread)
        await here.resume()
        await asyncio.sleep(0.5)
        assert here.posted() == []
        assert len(here.bot.terminals(SALES, thread)) == 1
