"""Trouble with Redis has one name, and mistakes of ours keep theirs."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from bot.core.errors import StoreUnavailable
from bot.store import Stores, open_stores
from bot.store import connection as connections
from bot.store.connection import connect
from tests.support.proxy import Proxy
from tests.support.redis import asked
from tests.support.redis_process import redis_process


async def test_no_server_is_said_so(tmp_path: Path) -> None:
    """Intake then does not acknowledge, and Slack sends the event again."""
    async with open_stores(f"unix://{tmp_path}/nobody") as stores:
        with pytest.raises(StoreUnavailable):
            await stores.mailbox.submit(asked(), event_id="Ev1")


async def test_a_full_server_is_said_so(stores: Stores, redis: Redis) -> None:
    """With noeviction Redis refuses writes instead of forgetting; reading goes on."""
    await redis.config_set("maxmemory", 1)
    try:
        with pytest.raises(StoreUnavailable):
            await stores.mailbox.submit(asked(), event_id="Ev1")
        assert await stores.mailbox.waiting("T1:C1:1.0") == 0
    finally:
        await redis.config_set("maxmemory", 0)


async def test_our_own_nonsense_is_not_blamed_on_redis(redis_url: str) -> None:
    """A bug must be found, not retried."""
    async with connect(redis_url) as connection:
        with pytest.raises(ResponseError):
            await connection.call("NO-SUCH-COMMAND")


async def test_a_transaction_is_whole_or_nothing(redis_url: str) -> None:
    """A refused command leaves none of its neighbours behind."""
    async with connect(redis_url) as connection:
        key = connection.key("test")
        with pytest.raises(ResponseError):
            await connection.together(("SET", key, "1", "EX", 60), ("NO-SUCH-COMMAND",))
        assert await connection.call("GET", key) is None


@pytest.mark.parametrize("steps", [*range(24), 73, 95])
async def test_a_cancellation_is_never_lost(redis_url: str, steps: int) -> None:
    """Stop and shutdown end a task at whatever point it is, also as a reply comes in."""

    async def work() -> None:
        while True:
            await connection.call("PING")

    async with connect(redis_url) as connection:
        task = asyncio.create_task(work())
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task}, timeout=2)
        assert task.cancelled()


async def pings(url: str, count: int, *, concurrency: int) -> list[BaseException]:
    """What goes wrong when so many commands are sent at once."""
    async with connect(url, concurrency=concurrency) as connection:
        await connection.call("PING")
        work = (connection.call("PING") for _ in range(count))
        replies = await asyncio.gather(*work, return_exceptions=True)
    return [each for each in replies if isinstance(each, BaseException)]


async def test_there_are_connections_for_every_concurrency(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R12: a thousand runs, each with a command, over a line on which each takes a while."""
    monkeypatch.setattr(connections, "WAIT_SECONDS", 2.0)
    async with Proxy.open(redis_url) as line:
        line.delay = 0.2
        assert await pings(line.url, 1000, concurrency=1000) == []


async def test_connections_that_are_all_busy_are_not_blamed_on_redis(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R12: the wait is bounded, and the error says what to change."""
    monkeypatch.setattr(connections, "WAIT_SECONDS", 0.5)
    monkeypatch.setattr(connections, "FEWEST", 2)
    async with Proxy.open(redis_url) as line:
        line.delay = 0.1
        failed = await pings(line.url, 20, concurrency=1)
    assert failed
    assert all(isinstance(each, StoreUnavailable) for each in failed)
    said = {str(each) for each in failed}
    assert len(said) == 1
    assert "All 2 Redis connections of this process are busy" in said.pop()


async def test_a_redis_that_answers_nobody_is_not_blamed_on_us(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R12: its connections are all busy, too, as nothing comes back on them."""
    monkeypatch.setattr(connections, "WAIT_SECONDS", 0.3)
    monkeypatch.setattr(connections, "COMMAND_SECONDS", 1.0)
    monkeypatch.setattr(connections, "FEWEST", 2)
    async with redis_process(tmp_path) as server, connect(server.url) as connection:
        await connection.call("PING")
        server.freeze()
        stuck = [asyncio.create_task(connection.call("PING")) for _ in range(2)]
        await asyncio.sleep(0.1)
        try:
            with pytest.raises(StoreUnavailable, match="cannot be reached"):
                await connection.call("PING")
        finally:
            server.thaw()
            await asyncio.gather(*stuck, return_exceptions=True)
