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


async def test_one_line_carries_every_concurrency(redis_url: str) -> None:
    """R12: a thousand runs, each with a command, over a line on which each takes a while."""
    async with Proxy.open(redis_url) as line, connect(line.url) as connection:
        await connection.call("PING")
        line.delay = 0.2
        work = (connection.call("ECHO", str(number)) for number in range(1000))
        replies = await asyncio.wait_for(asyncio.gather(*work), 5)
        assert replies == [str(number).encode() for number in range(1000)]


async def test_replies_come_in_pieces(redis_url: str) -> None:
    """Whatever the network makes of them, and to whoever has not given up meanwhile."""
    async with Proxy.open(redis_url) as line, connect(line.url) as connection:
        key = connection.key("test")
        await connection.together(("RPUSH", key, *"abc", "\r\n", ""), ("EXPIRE", key, 60))
        line.trickle = 1
        gone = asyncio.create_task(connection.call("LRANGE", key, 0, -1))
        await asyncio.sleep(0)
        read = asyncio.create_task(connection.together(("LRANGE", key, 0, -1), ("TTL", key)))
        await asyncio.sleep(0)
        gone.cancel()
        items, seconds = await read
        assert items == [b"a", b"b", b"c", b"\r\n", b""]
        assert 0 < seconds <= 60


async def test_who_gives_up_on_a_dead_line_lets_others_take_a_new_one(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write that Slack waits for has no time for a whole timeout, and the next is sent anew."""
    monkeypatch.setattr(connections, "PATIENCE_SECONDS", 0.1)
    async with Proxy.open(redis_url) as line, connect(line.url) as connection:
        await connection.call("PING")
        line.delay = 60.0
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await connection.call("PING")
        line.forgive()
        async with asyncio.timeout(5):
            assert await connection.call("ECHO", "again") == b"again"


async def test_who_gives_up_behind_a_large_value_does_not_break_it_off(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R12: each attempt would end like the first, and the value would never be stored."""
    monkeypatch.setattr(connections, "PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr(connections, "BACKOFF", ())
    async with Proxy.open(redis_url) as line, connect(line.url) as connection:
        await connection.call("PING")
        line.delay = 0.002
        large = asyncio.create_task(connection.call("STRLEN", bytes(20_000_000)))
        await asyncio.sleep(0)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await connection.call("PING")
        assert await large == 0


async def test_a_redis_that_answers_nobody_is_not_blamed_on_us(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R12: nothing comes back on its line, however often that is opened again."""
    monkeypatch.setattr(connections, "COMMAND_SECONDS", 0.3)
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
