"""Trouble with Redis, against a server of the test's own: one end for each question all the same
(reliability 8)."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from bot.dev.model import ModelRequest, Reply, call, finish, held
from bot.dev.workspace import ADA
from bot.runs.queue.engine import EngineOptions
from bot.slack.ui import words
from bot.store.embedded import embedded_redis
from tests.support.deployment import Deployment, deployed
from tests.support.ports import free_port
from tests.support.proxy import Proxy
from tests.support.redis_process import RedisProcess, redis_process
from tests.support.runs import answer

SALES, GENERAL = "C0SALES001", "C0GENERAL1"
SOON = EngineOptions(sweep=1.0)
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
    async with deployed(brain, url, engine=SOON) as bot:
        bot.ws.delivery.retry_delays = (1.0, 2.0, 4.0, 8.0)
        asked = await bot.ask(ADA, SALES, "How many?")
        await bot.ws.until(lambda: len(bot.api.requests) > 1)
        yield bot, asked, brain


async def ends_once(bot: Deployment, *questions: str) -> None:
    for ts in questions:
        await bot.answered(SALES, ts, seconds=40)
        assert len(bot.own(SALES, ts)) == 1


async def both_are_told(bot: Deployment, running: str, meanwhile: str) -> None:
    """Nobody is left with silence: the run says that it waits, and so does the question's status."""
    await bot.ws.until(lambda: words.WAITING() in str(bot.own(SALES, running)), 20)
    await bot.ws.until(lambda: bot.ws.status(SALES, meanwhile).text == words.STATUS_WAITING())


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
        await both_are_told(bot, asked, meanwhile)
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
        await both_are_told(bot, asked, meanwhile)
        assert bot.own(SALES, meanwhile) == []
        await redis.config_set("maxmemory", 0)
        await ends_once(bot, asked, meanwhile)


async def no_disk(redis: Any, folder: Path) -> None:
    """MISCONF: the last save failed, as the disk is gone."""
    await redis.config_set("save", "3600 1")
    shutil.rmtree(folder)
    with suppress(ResponseError):
        await redis.bgsave()
    async with asyncio.timeout(10):
        while (await redis.info("persistence"))["rdb_last_bgsave_status"] != "err":  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def no_replicas(redis: Any, _: Path) -> None:
    """NOREPLICAS: it may not write alone."""
    await redis.config_set("min-replicas-to-write", 1)


@pytest.mark.parametrize("trouble", [no_disk, no_replicas])
async def test_it_refuses_writes(server, tmp_path, trouble) -> None:
    """(R10, reliability 8) No question is acknowledged meanwhile, and the run ends once it can be kept."""
    async with in_mid_run(server.url) as (bot, asked, brain), Redis.from_url(server.url) as redis:
        await trouble(redis, tmp_path)
        meanwhile = await bot.ask(ADA, SALES, "How few?")
        brain.go.set()
        await both_are_told(bot, asked, meanwhile)
        assert bot.own(SALES, meanwhile) == []
        await redis.config_set("stop-writes-on-bgsave-error", "no")
        await redis.config_set("min-replicas-to-write", 0)
        await ends_once(bot, asked, meanwhile)


async def test_scripts_are_flushed(server) -> None:
    """Somebody tidies up, or a restart forgot them: they are sent again."""
    async with in_mid_run(server.url) as (bot, asked, brain), Redis.from_url(server.url) as redis:
        await redis.script_flush()
        meanwhile = await bot.ask(ADA, SALES, "How few?")
        brain.go.set()
        await ends_once(bot, asked, meanwhile)


THREAD_KINDS = (
    "caller-state",
    "claim",
    "lease",
    "ledger",
    "mailbox",
    "participants",
    "request",
    "run",
    "run-of",
    "spent",
    "written",
)
"""Every kind of key that a run leaves; that there is no other is checked below."""


def kind_of(key: bytes) -> str:
    return key.split(b":")[2].decode()


async def keys_of(redis: Any, kind: str | None = None) -> list[bytes]:
    keys = [key async for key in redis.scan_iter("bot:v1:*")]
    return [key for key in keys if kind in (None, kind_of(key))]


async def garble(redis: Any, key: bytes) -> None:
    """Bits that fell over."""
    broken = b"\xff{broken"
    match (await redis.type(key)).decode():
        case "string":
            await redis.set(key, broken, keepttl=True)
        case "hash":
            await redis.hset(key, mapping=dict.fromkeys(await redis.hkeys(key), broken))
        case "list":
            await redis.lset(key, 0, broken)
        case "set":
            await redis.sadd(key, broken)
        case _:
            pass  # gone meanwhile


async def from_the_future(redis: Any, key: bytes) -> None:
    """Written by a version of the program that is newer than this one."""

    def newer(value: bytes) -> bytes:
        if not value.startswith(b"{"):
            return value
        return json.dumps({**json.loads(value), "version": 999}).encode()

    match (await redis.type(key)).decode():
        case "string":
            await redis.set(key, newer(await redis.get(key)), keepttl=True)
        case "hash":
            fields = await redis.hgetall(key)
            await redis.hset(key, mapping={name: newer(value) for name, value in fields.items()})
        case "list":
            await redis.lset(key, 0, newer(await redis.lindex(key, 0)))
        case _:
            pass  # names without values


async def lost(redis: Any, key: bytes) -> None:
    """Expired early, evicted, or deleted by somebody."""
    await redis.delete(key)


@pytest.mark.parametrize("damage", [garble, from_the_future, lost])
async def test_values_are_damaged_between_two_questions(server, damage) -> None:
    """One kind after the other: each thread goes on, with what can still be read of it."""
    async with (
        deployed(lambda _: finish(answer("Two.")), server.url, engine=SOON) as bot,
        Redis.from_url(server.url) as redis,
    ):
        for kind in THREAD_KINDS:
            root = await bot.ask(ADA, SALES, kind)
            await bot.answered(SALES, root)
            await bot.ws.until(lambda: not bot.ws.status(SALES, root).text)  # noqa: B023
            for key in await keys_of(redis, kind):
                await damage(redis, key)
            await bot.ask(ADA, SALES, f"and without {kind}?", root)
            await bot.answered(SALES, root, 2, seconds=10)


@pytest.mark.parametrize("damage", [garble, lost])
async def test_values_are_damaged_in_mid_run(server, damage) -> None:
    """One kind after the other: the question gets its end, and so does the next one."""
    async with in_mid_run(server.url) as (bot, asked, brain), Redis.from_url(server.url) as redis:
        for kind in THREAD_KINDS:
            for key in await keys_of(redis, kind):
                await damage(redis, key)
            brain.go.set()
            await bot.answered(SALES, asked, seconds=10)
            await bot.ask(ADA, SALES, f"and without {kind}?", asked)
            await bot.answered(SALES, asked, 2, seconds=10)
            brain.go.clear()
            before = len(bot.api.requests)
            asked = await bot.ask(ADA, SALES, f"after {kind}")
            await bot.ws.until(lambda: len(bot.api.requests) > before + 1)  # noqa: B023
        brain.go.set()
        await bot.answered(SALES, asked)


async def test_what_cannot_be_read_is_kept_for_somebody_to_look_at(server) -> None:
    """It is moved out of the way, not deleted, and not for ever."""
    async with (
        deployed(lambda _: finish(answer("Two.")), server.url, engine=SOON) as bot,
        Redis.from_url(server.url) as redis,
    ):
        root = await bot.ask(ADA, SALES, "How many?")
        await bot.answered(SALES, root)
        await bot.ws.until(lambda: not bot.ws.status(SALES, root).text)
        [state] = await keys_of(redis, "caller-state")
        await garble(redis, state)
        await bot.ask(ADA, SALES, "And how few?", root)
        await bot.answered(SALES, root, 2)
        [aside] = [key async for key in redis.scan_iter("bot:quarantine:*")]
        assert aside.endswith(state.removeprefix(b"bot:v1:"))
        assert 0 < await redis.ttl(aside) <= 30 * 86_400


async def test_every_key_expires(server) -> None:
    """Nothing stays for ever but the engine's stream and schedule, which do not grow: one entry
    for each worker and each kind of task, and the tickets under way."""
    async with in_mid_run(server.url) as (bot, asked, brain), Redis.from_url(server.url) as redis:
        await bot.ask(ADA, SALES, "How few?", asked)
        await bot.ask(ADA, SALES, "")  # is helped
        await bot.ws.say(ADA, GENERAL, "not for the bot")
        assert not [key for key in await lasting(redis) if not key.startswith(b"bot:engine:")]
        brain.go.set()
        await bot.answered(SALES, asked, 2)
        assert {kind_of(key) for key in await keys_of(redis)} >= set(THREAD_KINDS) - {"mailbox"}
        async with asyncio.timeout(10):  # the last tickets end a moment after their runs
            while not await lasting(redis) <= await schedule(redis):  # noqa: ASYNC110
                await asyncio.sleep(0.05)


async def lasting(redis: Any) -> set[bytes]:
    """Keys that would stay for ever."""
    return {key async for key in redis.scan_iter("*") if await redis.ttl(key) == -1}


async def schedule(redis: Any) -> set[bytes]:
    """What the engine has once for each deployment, worker and kind of task."""
    names = (b"queue", b"stream", b"workers")
    of_tasks = {key async for key in redis.scan_iter("bot:engine:task-workers:*")}
    return {b"bot:engine:" + name for name in names} | of_tasks


async def test_it_is_slow(server) -> None:
    """A tenth of the lease for each command (2 s of 20 in the field): slower, and no lease is lost:
    the model is asked as often as ever."""
    lease = EngineOptions(lease=1.5, sweep=1.0)
    brain = Held()
    brain.go.set()
    async with (
        Proxy.open(f"redis://127.0.0.1:{server.port}/0") as slow,
        deployed(brain, slow.url, engine=lease) as bot,
    ):
        slow.delay = 0.075  # on the way there, and on the way back
        bot.ws.delivery.retry_delays = (1.0, 2.0, 4.0, 8.0)
        asked = await bot.ask(ADA, SALES, "How many?")
        await ends_once(bot, asked)
        assert len(bot.api.requests) == 2
