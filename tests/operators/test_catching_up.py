"""What was asked while nothing listened is found in the history and answered once (reliability 5)."""

from __future__ import annotations

import asyncio
import functools
import os
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

import bot.app.process
import bot.app.workspace_intake
import bot.slack.intake.catch_up
from bot.cli.operator import erase_lines
from bot.dev.model import ModelRequest, Reply, ResponsesServer, finish
from bot.dev.workspace import ADA, BEN, GUS, Workspace
from bot.settings import ChannelTable
from bot.slack.intake.catch_up import CatchUp
from bot.slack.settings import CatchUpSettings
from tests.support.commands import Command, start_code
from tests.support.deployment import MODEL, Deployment, configured
from tests.support.runs import answer

SALES, GENERAL, DIRECT = "C0SALES001", "C0GENERAL1", "D0ADA00001"
CATCH_UP = {"catch_up": CatchUpSettings(every_minutes=3, look_back_minutes=60)}


def brain(request: ModelRequest) -> Reply:
    return finish(answer("Two."))


@pytest.fixture
async def away(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Deployment]:
    """A workspace in which nothing listens, and which delivers nothing twice."""
    monkeypatch.setattr(bot.app.workspace_intake, "CatchUp", functools.partial(CatchUp, pace=0.0))
    async with Workspace.open() as ws, ResponsesServer.open(brain=brain) as api:
        ws.delivery.retry_delays = ()
        yield Deployment(ws, api)


@asynccontextmanager
async def back(away: Deployment, redis_url: str, **settings: Any) -> AsyncGenerator[None]:
    async with bot.app.process.bot(
        configured(away.ws, away.api, redis_url, **CATCH_UP, **settings)
    ):
        yield


async def missed(
    away: Deployment, user: str, channel: str, text: str, thread: str | None = None
) -> str:
    """A message that Slack gave up delivering; its ts."""
    lost = len(away.ws.delivery.lost)
    ts = str((await away.ws.say(user, channel, text, thread))["ts"])
    await away.ws.until(lambda: len(away.ws.delivery.lost) > lost)
    return ts


def mention(away: Deployment, text: str) -> str:
    return f"<@{away.ws.bot_user_id}> {text}"


async def looked_through(away: Deployment, redis: Redis, since: float = 0.0) -> None:
    """Waits until a turn that began after `since` (Redis's time) has ended."""
    key = f"bot:v1:catch-up:{away.ws.team_id}"

    async def ended() -> bool:
        begun = float(await redis.get(f"{key}:begun") or 0)
        return begun > since and not await redis.exists(f"{key}:lock")

    async with asyncio.timeout(15):
        while not await ended():  # noqa: ASYNC110 - Redis tells nobody
            await asyncio.sleep(0.02)


async def taken_in(redis: Redis) -> int:
    """How many messages have been taken for questions, answered or not yet."""
    return len(await redis.keys("*:claim:message:*"))


async def test_each_way_of_asking_is_found_and_answered_once(away, redis_url, redis) -> None:
    """A mention, a direct message, a mention in mid-thread; not what people say to each other."""
    chat = await missed(away, BEN, GENERAL, "lunch?")
    await missed(away, ADA, GENERAL, mention(away, "where to?"), chat)
    top = await missed(away, ADA, SALES, mention(away, "how many?"))
    direct = await missed(away, ADA, DIRECT, "how many?")
    async with back(away, redis_url):
        for channel, thread in ((SALES, top), (DIRECT, direct), (GENERAL, chat)):
            await away.answered(channel, thread)
        await looked_through(away, redis)
        for channel, thread in ((SALES, top), (DIRECT, direct), (GENERAL, chat)):
            assert len(away.own(channel, thread)) == 1
    assert len(away.api.requests) == 3


async def test_what_was_written_before_it_was_added_was_not_for_it(away, redis_url, redis) -> None:
    """Slack tells who mentions it that it is not there; what they write after that it finds."""
    ws = away.ws
    await ws.remove(ADA, SALES, ws.bot_user_id)
    before = str((await ws.say(ADA, SALES, mention(away, "too early?")))["ts"])
    await ws.invite(ADA, SALES, ws.bot_user_id)
    after = await missed(away, ADA, SALES, mention(away, "how many?"))
    async with back(away, redis_url):
        await away.answered(SALES, after)
        await looked_through(away, redis)
        assert away.own(SALES, before) == []


async def test_a_followed_thread_goes_on(away, redis_url) -> None:
    """Who talks with the bot alone need not mention it, also while it is away."""
    async with back(away, redis_url):
        root = await away.ask(ADA, SALES, "how many?")
        await away.answered(SALES, root)
        await away.ws.until(lambda: not away.ws.status(SALES, root).text)
    await missed(away, ADA, SALES, "and how few?", root)
    async with back(away, redis_url):
        await away.answered(SALES, root, 2)


async def test_what_was_said_in_a_thread_before_it_came_in_was_not_for_it(
    away, redis_url, redis
) -> None:
    """It came in later, as by a shortcut on the first message: what stands above that it lets stand."""
    async with back(away, redis_url):
        await looked_through(away, redis)
        root = str((await away.ws.say(ADA, SALES, "who calls them?"))["ts"])
        await away.ws.say(ADA, SALES, "Ben does, tomorrow", root)
        await away.ws.until(lambda: not away.ws.delivery.under_way)
        await away.ws.say(ADA, SALES, mention(away, "how many?"), root)
        await away.answered(SALES, root)
        await away.ws.until(lambda: not away.ws.status(SALES, root).text)
    seconds, micros = await redis.time()
    async with back(away, redis_url):
        await looked_through(away, redis, seconds + micros / 1e6)
    assert await taken_in(redis) == 1


async def test_what_was_not_for_it_stays_so(away, redis_url, redis) -> None:
    """Somebody is let in, or all replies are to be for it: that is no answer to what was said before."""
    async with back(away, redis_url):
        await looked_through(away, redis)
        await away.ask(GUS, GENERAL, "how few?")
        root = await away.ask(ADA, SALES, "how many?")
        await away.answered(SALES, root)
        await away.ws.say(BEN, SALES, "That is not much", root)
        await away.ws.until(lambda: not away.ws.delivery.under_way)
    seconds, micros = await redis.time()
    rules = {SALES: ChannelTable(follow="always"), GENERAL: ChannelTable(allow_guests=True)}
    async with back(away, redis_url, channels=rules):
        await looked_through(away, redis, seconds + micros / 1e6)
    assert await taken_in(redis) == 1


async def test_a_stop_is_not_for_what_was_asked_after_it(away, redis_url, redis) -> None:
    """Whoever looks through the history finds it again, while the next question is worked on."""
    go_on = asyncio.Event()

    async def slow(request: ModelRequest) -> Reply:
        await go_on.wait()
        return brain(request)

    away.api.brain = slow
    async with back(away, redis_url):
        await looked_through(away, redis)
        first = str((await away.ws.say(ADA, DIRECT, "how many?"))["ts"])
        await away.ws.until(lambda: away.api.requests)
        await away.ws.say(ADA, DIRECT, "stop")
        await away.answered(DIRECT, first)
        second = str((await away.ws.say(ADA, DIRECT, "how few?"))["ts"])
        await away.ws.until(lambda: len(away.api.requests) == 2)
        seconds, micros = await redis.time()
        async with back(away, redis_url):
            await looked_through(away, redis, seconds + micros / 1e6)
            go_on.set()
            [answer] = await away.answered(DIRECT, second)
    assert "Two." in str(answer["blocks"])


async def test_what_was_answered_is_not_answered_again(away, redis_url, redis) -> None:
    """Neither after a restart, nor when Redis has lost everything it knew."""
    async with back(away, redis_url):
        root = await away.ask(ADA, SALES, "how many?")
        await away.answered(SALES, root)
        await away.ws.until(lambda: not away.ws.status(SALES, root).text)
        await looked_through(away, redis)
    for loses in (False, True):
        if loses:
            await redis.flushall()
        before = float((await redis.time())[0])
        async with back(away, redis_url):
            await looked_through(away, redis, before)
        assert len(away.own(SALES, root)) == 1


async def test_what_was_erased_is_not_asked_again(away, redis_url, redis) -> None:
    """It stands in Slack still; that it was answered is no secret, and is all that is kept."""
    async with back(away, redis_url):
        await looked_through(away, redis)
        root = await away.ask(ADA, SALES, "how many?")
        await away.answered(SALES, root)
        await away.ws.until(lambda: not away.ws.status(SALES, root).text)
        await erase_lines(configured(away.ws, away.api, redis_url), user=ADA)
    seconds, micros = await redis.time()
    async with back(away, redis_url):
        await looked_through(away, redis, seconds + micros / 1e6)
    assert await redis.keys("*:request:*") == []


async def test_slack_delivers_it_later_all_the_same(away, redis_url) -> None:
    """Both ways lead to one claim."""
    ts = await missed(away, ADA, SALES, mention(away, "how many?"))
    event = away.ws.delivery.lost[-1]
    async with back(away, redis_url):
        await away.answered(SALES, ts)
        await away.ws.delivery.transport.send("events_api", event, within=3, retry=1)
        assert len(away.own(SALES, ts)) == 1
    assert len(away.api.requests) == 1


async def test_a_late_answer_says_so_and_a_prompt_one_does_not(away, redis_url) -> None:
    late = await missed(away, ADA, SALES, mention(away, "how many?"))
    away.ws.clock.advance(1_800)
    prompt = await missed(away, ADA, SALES, mention(away, "how few?"))
    async with back(away, redis_url):
        [first] = await away.answered(SALES, late)
        [second] = await away.answered(SALES, prompt)
    assert "comes late" in str(first["blocks"])
    assert "comes late" not in str(second["blocks"])


async def test_old_questions_are_left_alone(away, redis_url, redis) -> None:
    """After a long outage nobody wants yesterday's questions answered all at once."""
    old = await missed(away, ADA, SALES, mention(away, "how many?"))
    away.ws.clock.advance(3_700)
    recent = await missed(away, ADA, SALES, mention(away, "how few?"))
    async with back(away, redis_url):
        await away.answered(SALES, recent)
        await looked_through(away, redis)
        assert away.own(SALES, old) == []


async def test_permission_is_judged_as_ever(away, redis_url, redis) -> None:
    """A guest is refused once, and no run starts."""
    await missed(away, GUS, GENERAL, mention(away, "how many?"))
    async with back(away, redis_url):
        await away.ws.until(
            lambda: [e for e in away.ws.effects if e.method == "chat.postEphemeral"]
        )
    assert away.api.requests == []


async def test_one_of_several_processes_looks(away, redis_url, redis, monkeypatch) -> None:
    """While one looks, another that was started leaves it to it; each is answered once."""
    monkeypatch.setattr(bot.app.workspace_intake, "CatchUp", functools.partial(CatchUp, pace=0.2))
    ts = await missed(away, ADA, SALES, mention(away, "how many?"))
    async with back(away, redis_url), back(away, redis_url):
        await away.answered(SALES, ts)
        await looked_through(away, redis)
        assert len(away.own(SALES, ts)) == 1
    assert len([e for e in away.ws.effects if e.method == "users.conversations"]) == 1


async def test_a_channel_that_cannot_be_read_keeps_no_other_from_it(away, redis_url) -> None:
    """Slack's refusal concerns one channel; it is tried again at the next turn."""
    ts = await missed(away, ADA, SALES, mention(away, "how many?"))
    away.ws.faults.fail("conversations.history", "internal_error")
    async with back(away, redis_url):
        await away.answered(SALES, ts)


def is_ready(out: Path) -> bool:
    return out.exists() and "ready" in out.read_text()


@asynccontextmanager
async def process(
    away: Deployment, redis_url: str, out: Path, pace: float
) -> AsyncGenerator[Command]:
    settings = {
        "SLACK_BOT_TOKEN": away.ws.bot_token,
        "SLACK_APP_TOKEN": away.ws.app_token,
        "SLACK_API_URL": away.ws.api_url,
        "OPENAI_API_KEY": away.api.api_key,
        "OPENAI_BASE_URL": away.api.url,
        "OPENAI_MODEL": MODEL,
        "REDIS_URL": redis_url,
        "PATH": os.environ["PATH"],
    }
    code = (
        "import asyncio\n"
        "from tests.operators.catching_up_process import main\n"
        f"asyncio.run(main({pace}))"
    )
    started = start_code(code, environment=settings, out=out, err=out)
    try:
        async with asyncio.timeout(60):
            while not is_ready(out):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        yield started
    finally:
        started.kill()
        await started.wait()


async def test_the_process_is_killed_while_it_looks(away, redis_url, tmp_path) -> None:
    """kill -9 after one channel; the next process finds the rest, and each is answered once."""
    asked = {
        channel: await missed(away, ADA, channel, mention(away, "how many?"))
        for channel in (SALES, GENERAL)
    }
    asked[DIRECT] = await missed(away, ADA, DIRECT, "how many?")

    def looks() -> int:
        return len([e for e in away.ws.effects if e.method == "conversations.history"])

    async with process(away, redis_url, tmp_path / "first", pace=1.0) as first:
        await away.ws.until(looks)
        first.kill()
    assert looks() < len(away.ws.channels)
    async with process(away, redis_url, tmp_path / "second", pace=0.0):
        for channel, ts in asked.items():
            await away.answered(channel, ts, seconds=30)
            assert len(away.own(channel, ts)) == 1
