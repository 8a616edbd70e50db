"""Places that change under a run, and a Redis that is away: still one end for each question."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest
from redis.asyncio import Redis

from bot.dev.model import ModelRequest, Reply, finish, held
from bot.dev.workspace import ADA
from bot.slack.message.message_metadata import is_under_way
from bot.store.embedded import embedded_redis
from tests.support.deployment import Deployment, deployed, is_terminal
from tests.support.runs import answer

SALES, DIRECT = "C0SALES001", "D0ADA00001"


async def archive(bot: Deployment, root: str) -> None:
    await bot.ws.archive(ADA, SALES)


async def remove_bot(bot: Deployment, root: str) -> None:
    await bot.ws.remove(ADA, SALES, bot.ws.bot_user_id)


async def delete_question(bot: Deployment, root: str) -> None:
    await bot.ws.delete(ADA, SALES, root)


@pytest.mark.parametrize(("change", "told"), [(archive, 1), (remove_bot, 1), (delete_question, 0)])
async def test_the_place_is_gone(redis_url, change, told):
    """The person is told directly, once, and nothing is posted where it was not wanted; who deletes
    the question has taken it back and hears nothing."""
    go = asyncio.Event()

    def brain(request: ModelRequest) -> Reply:
        return held(finish(answer("Two.")), go)

    async with deployed(brain, redis_url) as bot:
        root = await bot.ask(ADA, SALES, "How many?")
        await bot.ws.until(lambda: bot.own(SALES, root))
        await bot.ws.until(lambda: bot.api.requests)
        await change(bot, root)
        go.set()
        await bot.ws.say(ADA, DIRECT, "And are you well?")
        await bot.ws.until(lambda: any("Two." in str(m) for m in everything(bot)))
        await bot.ws.until(lambda: len(dms(bot)) == told)
        begun = ("chat.postMessage", "chat.startStream")
        posted = [e.args["channel"] for e in bot.ws.effects if e.method in begun and e.ok]
        assert posted.count(SALES) == 1


def dms(bot: Deployment) -> list[dict[str, object]]:
    """What the bot tells Ada directly, without the answer to what she asks there."""
    own = [m for m in bot.ws.messages(DIRECT) if m["user"] == bot.ws.bot_user_id]
    return [m for m in own if not is_terminal(m) and not is_under_way(m)]


def everything(bot: Deployment) -> list[dict[str, object]]:
    roots = bot.ws.messages(DIRECT)
    return [m for root in roots for m in bot.ws.messages(DIRECT, root["ts"])]


async def test_events_of_a_channel_nobody_knows(redis_url):
    """It cannot be answered there; the bot goes on answering elsewhere."""
    async with deployed(lambda _: finish(answer("Two.")), redis_url) as bot:
        strange = {"type": "app_mention", "user": ADA, "ts": "1.5", "channel": "C0NOWHERE1"}
        bot.ws.emit({**strange, "text": f"<@{bot.ws.bot_user_id}> hm?"})
        ts = await bot.ask(ADA, SALES, "How many?")
        await bot.answered(SALES, ts)
        await bot.ws.until(lambda: dms(bot))


async def test_redis_stops_for_seconds_in_mid_run(tmp_path):
    """Frozen, not gone: the run waits for it, a question asked meanwhile is delivered again."""
    go = asyncio.Event()

    def brain(request: ModelRequest) -> Reply:
        return held(finish(answer("Two.")), go)

    async with embedded_redis(tmp_path) as url, deployed(brain, url) as bot:
        bot.ws.delivery.retry_delays = (1.0, 2.0, 4.0)
        first = await bot.ask(ADA, SALES, "How many?")
        await bot.ws.until(lambda: bot.api.requests)
        async with Redis.from_url(url) as redis:
            server = (await redis.info("server"))["process_id"]
        os.kill(server, signal.SIGSTOP)
        try:
            second = await bot.ask(ADA, SALES, "How few?")
            go.set()
            await asyncio.sleep(3)  # that long it is away
        finally:
            os.kill(server, signal.SIGCONT)
        for ts in (first, second):
            await bot.answered(SALES, ts, seconds=30)
            assert len(bot.own(SALES, ts)) == 1
