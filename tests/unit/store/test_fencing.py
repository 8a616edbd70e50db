"""Whoever lost the thread to a newer run writes nothing more (reliability 2)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from redis.asyncio import Redis

from bot.core.chain import CallerState, LedgerEntry
from bot.core.errors import LeaseLost
from bot.core.outcome import Outcome, RunStatus, StopReason
from bot.store import Lease, Stores
from tests.support.redis import asked

THREAD = "T1:C1:1.0"
ENTRY = LedgerEntry(run_id="run_1", items=({"type": "message"},))
OUTCOME = Outcome(run_id="run_1", status=RunStatus.SUCCESS, stop_reason=StopReason.COMPLETED)

WRITES: dict[str, Callable[[Stores, Lease], Awaitable[object]]] = {
    "start": lambda stores, lease: stores.runs.start(asked(), "run_2", lease),
    "save point": lambda stores, lease: stores.runs.save_point("run_1", "{}", lease, [ENTRY]),
    "finish": lambda stores, lease: stores.runs.finish("run_1", OUTCOME, CallerState(), lease),
    "message": lambda stores, lease: stores.runs.messages("run_1", lease).save_message("1.1"),
    "part": lambda stores, lease: stores.runs.messages("run_1", lease).save_part(2),
    "post": lambda stores, lease: stores.runs.messages("run_1", lease).may_write(),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
async def test_a_newer_lease_ends_every_write_of_the_older(
    stores: Stores, redis: Redis, write: Callable[[Stores, Lease], Awaitable[object]]
) -> None:
    """A worker that stood still for longer than its lease wakes up to this."""
    old = await stores.leases.take(THREAD)
    await stores.leases.take(THREAD)
    before = {key: await redis.dump(key) async for key in redis.scan_iter("*")}
    with pytest.raises(LeaseLost):
        await write(stores, old)
    assert {key: await redis.dump(key) async for key in redis.scan_iter("*")} == before


async def test_the_newest_lease_holds(stores: Stores) -> None:
    """Taking a lease never locks out who took it; other threads have leases of their own."""
    lease = await stores.leases.take(THREAD)
    await stores.leases.take("T1:C1:2.0")
    await lease.check()
    await stores.runs.save_point("run_1", "{}", lease, [ENTRY])


async def test_tokens_grow_even_when_redis_forgot_the_last_one(
    stores: Stores, redis: Redis
) -> None:
    """The last second before a crash may not have been kept."""
    first = await stores.leases.take(THREAD)
    await redis.delete(first.key)
    second = await stores.leases.take(THREAD)
    assert int(second.token) > int(first.token)
    with pytest.raises(LeaseLost):
        await first.check()
