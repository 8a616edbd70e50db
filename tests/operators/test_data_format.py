"""A version of the bot never works with data that it would misread (reliability 8)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from redis.asyncio import Redis

from bot.app.process import bot
from bot.cli.operator import usage_lines
from bot.core.errors import ConfigurationError
from bot.dev.model import ModelRequest, Reply, ResponsesServer, Script, finish, held
from bot.dev.workspace import ADA, Workspace
from bot.runs.queue.engine import EngineOptions
from bot.store import data_format
from bot.store.connection import connect
from tests.support.deployment import Deployment, configured
from tests.support.runs import answer

SALES = "C0SALES001"
KEY = "bot:v1:format"
NEWER = str(data_format.FORMAT + 1)


async def everything(redis: Redis) -> dict[str, Any]:
    return {key: await redis.dump(key) async for key in redis.scan_iter("*")}


async def test_the_data_of_a_newer_version_is_refused_and_left_as_it_is(
    redis_url: str, redis: Redis
) -> None:
    """One line at the start and for commands; not a byte in Redis is changed."""
    await redis.set(KEY, NEWER, ex=100)
    async with (
        Redis.from_url(redis_url) as raw,
        Workspace.open() as ws,
        ResponsesServer.open(brain=Script([])) as api,
    ):
        before = await everything(raw)
        settings = configured(ws, api, redis_url)
        with pytest.raises(ConfigurationError, match="A newer version of the bot"):
            async with bot(settings):
                pass
        with pytest.raises(ConfigurationError, match="A newer version of the bot"):
            await usage_lines(settings)
        assert await everything(raw) == before


async def test_a_running_bot_stops_for_a_newer_version_and_leaves_it_the_questions(
    redis_url: str, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was being answered is answered by the newer one, once. It waits until the old one is gone."""
    monkeypatch.setattr(data_format, "WATCH_SECONDS", 0.1)
    go = asyncio.Event()

    def brain(_: ModelRequest) -> Reply:
        return held(finish(answer("Two.")), go)

    async with Workspace.open() as ws, ResponsesServer.open(brain=brain) as api:
        at = Deployment(ws, api)
        settings = configured(ws, api, redis_url, engine=EngineOptions(sweep=0.5))

        async def until_it_stops() -> None:
            async with bot(settings):
                await at.ask(ADA, SALES, "How many?")
                await ws.until(lambda: api.requests)
                await redis.set(KEY, NEWER, ex=100)
                await asyncio.sleep(30)

        with pytest.raises(ConfigurationError, match="A newer version of the bot"):
            await until_it_stops()
        go.set()
        monkeypatch.setattr(data_format, "FORMAT", int(NEWER))
        [thread] = [each["ts"] for each in ws.messages(SALES) if "How many?" in each["text"]]
        async with bot(settings):
            await at.answered(SALES, thread)
        assert len(at.own(SALES, thread)) == 1


async def test_an_earlier_version_gets_time_to_stop(
    redis_url: str, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only when the format has grown: other starts wait for nobody."""
    monkeypatch.setattr(data_format, "HANDOVER_SECONDS", 3_600.0)
    async with connect(redis_url) as connection:
        await data_format.take_over(connection)
        await data_format.take_over(connection)
        monkeypatch.setattr(data_format, "FORMAT", int(NEWER))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(data_format.take_over(connection), 0.2)
    assert await redis.get(KEY) == NEWER
    assert await redis.ttl(KEY) > 0
