"""Bad lines between the bot and Redis, Slack or the model: one answer for each question."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from bot.app.process import bot
from bot.dev.model import ModelRequest, Reply, ResponsesServer, call, finish
from bot.dev.workspace import ADA, BEN, Workspace
from bot.runs.queue.engine import EngineOptions
from bot.store import connection
from tests.support.deployment import A_MOMENT, Deployment, configured
from tests.support.proxy import Proxy
from tests.support.runs import answer

SALES = "C0SALES001"


def two_turns(request: ModelRequest) -> Reply:
    if request.input[-1].get("type") == "function_call_output":
        return finish(answer("Two."))
    return call("calculate", {"expression": "1+1"})


async def two_slow_turns(request: ModelRequest) -> Reply:
    await asyncio.sleep(A_MOMENT)
    return two_turns(request)


@dataclass
class Lines:
    """A bot that reaches everything through a line of its own."""

    bot: Deployment
    redis: Proxy
    slack: Proxy
    model: Proxy

    async def one_answer_each(self) -> None:
        """Two people ask in two threads; each gets one message, which ends in an answer."""
        first = await self.bot.ask(ADA, SALES, "How many?")
        second = await self.bot.ask(BEN, SALES, "How few?")
        for ts in (first, second):
            [message] = await self.bot.answered(SALES, ts, seconds=40)
            assert "Two." in str(message)
            assert len(self.bot.own(SALES, ts)) == 1


@asynccontextmanager
async def lines(
    redis_url: str, brain: Callable[[ModelRequest], Any] = two_turns, **more: Any
) -> AsyncGenerator[Lines]:
    async with (
        Workspace.open() as ws,
        ResponsesServer.open(brain=brain) as api,
        Proxy.open(redis_url) as redis,
        Proxy.open(ws.api_url) as slack,
        Proxy.open(api.url) as model,
    ):
        ws.delivery.retry_delays = (0.2, 0.5, 1.0, 2.0, 4.0)
        settings = configured(
            ws, api, redis.url, slack_api_url=slack.url, openai_base_url=model.url, **more
        )
        async with bot(settings):
            yield Lines(Deployment(ws, api), redis, slack, model)


def called(line: Lines, method: str) -> bool:
    return any(effect.method == method for effect in line.bot.ws.effects)


def script(name: str) -> bytes:
    """What a call of one of the store's scripts contains."""
    return hashlib.sha1(connection.script(name).encode()).hexdigest().encode()


@pytest.mark.parametrize("name", ["submit", "head", "run_start", "fenced", "run_delivered"])
async def test_redis_acts_and_its_reply_is_lost(redis_url, name):
    """Each script of the store, done without anybody hearing of it: done again, to no effect."""
    async with lines(redis_url) as line:
        line.redis.lose_reply(script(name))
        await line.one_answer_each()
        await line.bot.ws.until(lambda: line.redis.lost == 1, 20)


async def test_every_fenced_write_is_answered_into_the_void(redis_url):
    async with lines(redis_url) as line:
        line.redis.lose_reply(script("fenced"), times=3)
        await line.one_answer_each()
        await line.bot.ws.until(lambda: line.redis.lost == 3, 20)


async def test_replies_to_the_engines_own_commands_are_lost(redis_url):
    """Docket's tickets, deliveries and acknowledgements: tickets may double, runs may not."""
    async with lines(redis_url, engine=EngineOptions(lease=4.0, sweep=1.0)) as line:
        line.redis.lose_reply(b"XREADGROUP", times=2)
        line.redis.lose_reply(b"bot:engine", times=12)
        await line.one_answer_each()
        await line.bot.ws.until(lambda: not line.redis.losses_left, 20)


async def test_redis_is_slow(redis_url):
    """Slower, and nothing worse: no lease is lost over it."""
    async with lines(redis_url) as line:
        line.redis.delay = 0.02
        await line.one_answer_each()
        numbers = [r.body["input"] for r in line.bot.api.requests]
        assert len(numbers) == 4


async def test_redis_is_cut_off_again_and_again(redis_url):
    async with lines(redis_url, two_slow_turns) as line:
        asked = asyncio.create_task(line.one_answer_each())
        for method in ("users.info", "chat.startStream", "chat.update"):
            await line.bot.ws.until(partial(called, line, method), 20)
            await line.redis.cut()
        await asked


@pytest.mark.parametrize("method", ["chat.startStream", "chat.stopStream", "users.info"])
async def test_slack_acts_and_its_reply_is_lost(redis_url, method):
    async with lines(redis_url, two_slow_turns) as line:
        line.slack.lose_reply(method.encode())
        await line.one_answer_each()
        await line.bot.ws.until(lambda: line.slack.lost == 1)


@pytest.mark.parametrize("brain", [two_turns, two_slow_turns])
async def test_slack_posts_and_its_reply_is_lost(redis_url, brain):
    """Where nothing streams, messages are posted: looked for, never posted again blindly."""
    async with lines(redis_url, brain) as line:
        line.bot.ws.faults.fail(
            "chat.startStream", "method_not_supported_for_channel_type", times=9
        )
        line.slack.lose_reply(b"chat.postMessage")
        await line.one_answer_each()
        await line.bot.ws.until(lambda: line.slack.lost == 1)


async def test_slack_is_cut_off_in_mid_run(redis_url):
    async with lines(redis_url) as line:
        asked = asyncio.create_task(line.one_answer_each())
        await line.bot.ws.until(lambda: line.bot.api.requests, 20)
        await line.slack.cut()
        await asked


@pytest.mark.parametrize("after", [0, 400, 2_000])
async def test_the_model_answers_into_the_void(redis_url, after):
    """No reply, the headers only, or the first events: the call is made again."""
    async with lines(redis_url) as line:
        line.model.lose_reply(b"/responses", after=after)
        await line.one_answer_each()
        assert line.model.lost == 1


async def test_the_model_trickles(redis_url):
    """A few bytes at a time: it takes longer and nothing else."""
    async with lines(redis_url) as line:
        line.model.trickle, line.model.delay = 512, 0.001
        await line.one_answer_each()


async def test_the_model_cannot_be_reached_for_a_while(redis_url):
    async with lines(redis_url) as line:
        line.model.refusing = True
        await line.model.cut()
        first = await line.bot.ask(ADA, SALES, "How many?")
        [said] = await line.bot.answered(SALES, first, seconds=40)
        assert "retry in a minute" in str(said)
        line.model.forgive()
        await line.one_answer_each()
