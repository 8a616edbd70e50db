"""Trouble with Redis, against a server of the test's own: one end for each question all the same
(reliability 8)."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from redis.asyncio import Redis

from bot.local.model import ModelRequest, Reply, call, finish, held
from bot.local.workspace import ADA
from bot.store.embedded import embedded_redis
from tests.support.deployment import Deployment, deployed
from tests.support.redis_process import RedisProcess, free_port, redis_process
from tests.support.runs import answer

SALES, GENERAL = "C0SALES001", "C0GENERAL1"
AWAY = 3.0  # seconds; longer than any single try of ours to reach it


class Held:
    """A model that calculates, and then keeps its answer until it is told to go."""

    def __init__(self) -> None:
        self.go = asyncio.Event()

    def __call__(self, request: ModelRequest) -> Reply:
        if request.input[-1].get("type") == "function_call_output":
            return held(finish(answer("Two.")), self.go)
        return call("calculate", {"expression": "1+1"})


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[RedisProcess]:
    async with redis_process(tmp_path) as started:
        yield started


@asynccontextmanager
async def in_mid_run(url: str) -> AsyncGenerator[tuple[Deployment, str, Held]]:
    """A bot whose run waits for its model; the ts of the question."""
    brain = Held()
    async with deployed(brain, url) as bot:
        bot.ws.delivery.retry_delays = (1.0, 2.0, 4.0, 8.0)
        asked = await bot.ask(ADA, SALES, "How many?")
        await bot.ws.until(lambda: len(bot.api.requests) > 1)
        yield bot, asked, brain


async def ends_once(bot: Deployment, *questions: str) -> None:
    for ts in questions:
        await bot.answered(SALES, ts, seconds=40)
        assert len(bot.own(SALES, ts)) == 1


async def test_it_is_killed_and_comes_back(server) -> None:
    """The run goes on; what was asked meanwhile was not acknowledged, and comes again."""
    async with in_mid_run(server.url) as (bot, asked, brain):
        await server.kill()
        meanwhile = await bot.ask(ADA, SALES, "How few?")
        brain.go.set()
        await asyncio.sleep(AWAY)
        await server.start()
        await ends_once(bot, asked, meanwhile)


async def test_the_embedded_one_crashes(tmp_path) -> None:
    """It is started again by us."""
    async with embedded_redis(tmp_path) as url, in_mid_run(url) as (bot, asked, brain):
        async with Redis.from_url(url) as redis:
            os.kill((await redis.info("server"))["process_id"], signal.SIGKILL)
        meanwhile = await bot.ask(ADA, SALES, "How few?")
        brain.go.set()
        await ends_once(bot, asked, meanwhile)


async def test_it_becomes_a_replica(server) -> None:
    """A failover under way: it reads and takes no writes. Nothing is acknowledged until it does."""
    async with in_mid_run(server.url) as (bot, asked, brain), Redis.from_url(server.url) as redis:
        await redis.replicaof("127.0.0.1", free_port())
        meanwhile = await bot.ask(ADA, SALES, "How few?")
        brain.go.set()
        await asyncio.sleep(AWAY)
        assert bot.own(SALES, meanwhile) == []
        await redis.replicaof("NO", "ONE")
        await ends_once(bot, asked, meanwhile)


async def test_its_memory_is_full(server) -> None:
    """With noeviction it refuses writes and forgets nothing: no question is acknowledged, and the
    run ends once there is room."""
    async with in_mid_run(server.url) as (bot, asked, brain), Redis.from_url(server.url) as redis:
        await redis.config_set("maxmemory", 1)
        meanwhile = await bot.ask(ADA, SALES, "How few?")
        brain.go.set()
        await asyncio.sleep(AWAY)
        assert bot.own(SALES, meanwhile) == []
        await redis.config_set("maxmemory", 0)
        await ends_once(bot, asked, meanwhile)


async def test_scripts_are_flushed(server) -> None:
    """Somebody tidies up, or a restart forgot them: they are sent again."""
    async with in_mid_run(server.url) as (bot, asked, brain), Redis.from_url(server.url) as redis:
        await redis.script_flush()
        meanwhile = await bot.ask(ADA, SALES, "How few?")
        brain.go.set()
        await ends_once(bot, asked, meanwhile)
