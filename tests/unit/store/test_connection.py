"""Trouble with Redis has one name, and mistakes of ours keep theirs."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from bot.core.errors import StoreUnavailable
from bot.store import Stores, open_stores
from bot.store.connection import connect
from tests.support.redis import asked


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
