"""Run records, and the leases that fence their writes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from redis.asyncio import Redis

from bot.core.chain import CallerState, LedgerEntry
from bot.core.errors import CorruptValue, LeaseLost
from bot.core.outcome import Outcome, RunStatus, StopReason
from bot.core.request import Request
from bot.store import Lease, Phase, Stores, open_stores
from tests.support.proxy import Proxy
from tests.support.redis import asked


def entry(number: int) -> LedgerEntry:
    return LedgerEntry(run_id="run_1", items=({"number": number, "text": "naïve 🙂"},))


def outcome(run_id: str = "run_1") -> Outcome:
    return Outcome(run_id=run_id, status=RunStatus.SUCCESS, stop_reason=StopReason.COMPLETED)


async def started(stores: Stores, run_id: str = "run_1") -> tuple[Request, Lease]:
    request = asked()
    await stores.mailbox.submit(request, event_id=f"Ev{request.ts}")
    lease, _ = await stores.runs.start(request, run_id)
    return request, lease


async def test_an_interrupted_run_goes_on_under_its_own_name(stores: Stores) -> None:
    """A crash after a save point costs at most what came after it (reliability 3)."""
    request, lease = await started(stores)
    await stores.runs.save_point("run_1", '{"turn": 1}', lease, [entry(1)])

    again, record = await stores.runs.start(request, "run_2")
    assert (record.run_id, record.phase, record.state) == ("run_1", Phase.RUNNING, '{"turn": 1}')
    await again.check()
    with pytest.raises(LeaseLost):
        await lease.check()
    assert await stores.ledger.entries(request.thread_key) == [entry(1)]


async def test_the_end_of_a_run_is_one_step(stores: Stores) -> None:
    """Outcome and the thread's state are there together, the save point is gone (B7)."""
    request, lease = await started(stores)
    await stores.runs.save_point("run_1", '{"turn": 1}', lease, [entry(1)])
    state = CallerState(previous_response_id="resp_1", pending=({"type": "message"},))
    await stores.runs.finish("run_1", outcome(), state, lease)

    _, record = await stores.runs.start(request, "run_2")
    assert record.outcome == outcome()
    assert await stores.caller_states.load(request.thread_key) == state
    assert await stores.runs.undelivered() == ["run_1"]
    assert (record.phase, record.state) == (Phase.FINISHED, None)


async def test_a_run_that_ended_but_was_not_posted_is_found_by_its_request(stores: Stores) -> None:
    """Crash window 14: whoever takes the request over only has to post."""
    request, lease = await started(stores)
    await stores.runs.finish("run_1", outcome(), CallerState(), lease)
    _, record = await stores.runs.start(request, "run_2")
    assert (record.run_id, record.phase, record.outcome) == ("run_1", Phase.FINISHED, outcome())
    assert await stores.mailbox.head(request.thread_key) == request


async def test_delivering_takes_the_request_out_of_the_mailbox(stores: Stores) -> None:
    """Crash window 17: done and next are one step; doing it twice takes nothing from others."""
    request, lease = await started(stores)
    behind = asked()
    await stores.mailbox.submit(behind, event_id="behind")
    await stores.runs.finish("run_1", outcome(), CallerState(), lease)
    _, finished = await stores.runs.start(request, "run_2")
    await stores.runs.mark_delivered(finished)
    await stores.runs.mark_delivered(finished)

    assert await stores.mailbox.head(request.thread_key) == behind
    assert await stores.runs.undelivered() == []
    assert (await stores.runs.start(request, "run_2"))[1].phase is Phase.DELIVERED


async def test_what_was_posted_is_kept_with_the_run(stores: Stores) -> None:
    """Any worker goes on with the message and at the part where another stopped (window 15)."""
    request, lease = await started(stores)
    post = stores.runs.messages("run_1", lease)
    assert (await post.message(), await post.posted_parts()) == (None, 0)
    await post.save_message("99.1")
    await post.save_part(2)

    elsewhere = stores.runs.messages("run_1", await stores.leases.take(request.thread_key))
    assert (await elsewhere.message(), await elsewhere.posted_parts()) == ("99.1", 2)
    await elsewhere.may_write()


async def test_what_was_posted_is_looked_up_again_once_that_is_uncertain(stores: Stores) -> None:
    """A worker remembers what it wrote; what it could not write is not taken for written (window 15)."""
    request, lease = await started(stores)
    post = stores.runs.messages("run_1", lease)
    await post.save_part(1)
    await post.save_message("99.1")
    assert (await post.message(), await post.posted_parts()) == ("99.1", 1)
    elsewhere = stores.runs.messages("run_1", await stores.leases.take(request.thread_key))
    await elsewhere.save_message("99.2")
    with pytest.raises(LeaseLost):
        await post.save_message("99.3")
    assert await post.message() == "99.2"


async def test_a_save_point_whose_reply_was_lost_is_kept_once(redis_url: str) -> None:
    """A ledger with an item twice would be refused by the model service."""
    async with Proxy.open(redis_url) as line, open_stores(line.url) as stores:
        request, lease = await started(stores)
        await stores.runs.save_point("run_1", "{}", lease, [entry(1)])
        line.lose_reply()
        await stores.runs.save_point("run_1", "{}", lease, [entry(2)])
        assert line.lost == 1
        assert await stores.ledger.entries(request.thread_key) == [entry(1), entry(2)]


async def test_equal_entries_are_all_kept(stores: Stores) -> None:
    """Two nudges in a row are two items of the conversation."""
    request, lease = await started(stores)
    await stores.runs.save_point("run_1", "{}", lease, [entry(1), entry(1)])
    assert await stores.ledger.entries(request.thread_key) == [entry(1), entry(1)]


async def test_damaged_state_is_set_aside_and_the_thread_starts_afresh(
    stores: Stores, redis: Redis
) -> None:
    """One bad key harms one thread, once (reliability 8)."""
    request, lease = await started(stores)
    await stores.runs.finish("run_1", outcome(), CallerState(model="m"), lease)
    key = f"caller-state:{request.thread_key}"
    newer = CallerState(version=CallerState().version + 1).model_dump_json()
    await redis.set(f"bot:v1:{key}", newer, keepttl=True)

    with pytest.raises(CorruptValue):
        await stores.caller_states.load(request.thread_key)
    assert await redis.get(f"bot:quarantine:v1:{key}") == newer
    assert await stores.caller_states.load(request.thread_key) == CallerState()


async def test_a_ledger_with_a_hole_is_set_aside_whole(stores: Stores, redis: Redis) -> None:
    """Calls without their outputs are worse than no record."""
    request, lease = await started(stores)
    await stores.runs.save_point("run_1", "{}", lease, [entry(1)])
    await redis.rpush(f"bot:v1:ledger:{request.thread_key}", "{")
    with pytest.raises(CorruptValue):
        await stores.ledger.entries(request.thread_key)
    assert await stores.ledger.entries(request.thread_key) == []
    assert await redis.llen(f"bot:quarantine:v1:ledger:{request.thread_key}") == 2


async def test_a_run_that_cannot_be_read_is_replaced(stores: Stores, redis: Redis) -> None:
    """Its request gets a new run after it was set aside."""
    request, _ = await started(stores)
    await redis.hset("bot:v1:run:run_1", "outcome", "{")
    with pytest.raises(CorruptValue):
        await stores.runs.start(request, "run_2")
    _, record = await stores.runs.start(request, "run_2")
    assert (record.run_id, record.outcome) == ("run_2", None)


THREAD = "T1:C1:1.0"
ENTRY = LedgerEntry(run_id="run_1", items=({"type": "message"},))
OUTCOME = Outcome(run_id="run_1", status=RunStatus.SUCCESS, stop_reason=StopReason.COMPLETED)

WRITES: dict[str, Callable[[Stores, Lease], Awaitable[object]]] = {
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
