"""Mailboxes, stop signals and participants of threads."""

from __future__ import annotations

import asyncio

import pytest
from redis.asyncio import Redis

from bot.core.errors import CorruptValue
from bot.core.request import Request
from bot.store import Stores, open_stores
from tests.support.proxy import Proxy
from tests.support.redis import asked


async def test_an_event_that_is_delivered_twice_is_one_request(stores: Stores) -> None:
    """Slack redelivers events that it believes lost (reliability 1)."""
    request = asked()
    assert await stores.mailbox.submit(request, event_id="Ev1")
    assert not await stores.mailbox.submit(asked(), event_id="Ev1")
    assert await stores.mailbox.waiting(request.thread_key) == 1


async def test_a_mention_that_comes_as_two_events_is_one_request(stores: Stores) -> None:
    """Slack sends `app_mention` and `message` for one mention, with different event ids."""
    request = asked(ts="7.7")
    assert await stores.mailbox.submit(request, event_id="Ev1")
    assert not await stores.mailbox.submit(asked(ts="7.7"), event_id="Ev2")
    assert await stores.mailbox.head(request.thread_key) == request
    assert await stores.mailbox.find("T1", "C1", "7.7") == request.id


async def test_of_many_deliveries_at_once_one_wins(stores: Stores) -> None:
    """Two web processes may get the same event at the same time."""
    copies = [asked(ts="8.8") for _ in range(20)]
    taken = await asyncio.gather(*(stores.mailbox.submit(copy, event_id="Ev1") for copy in copies))
    assert taken.count(True) == 1
    assert await stores.mailbox.waiting(copies[0].thread_key) == 1


async def test_requests_of_a_thread_come_out_in_the_order_they_went_in(stores: Stores) -> None:
    """Follow-ups are answered in order (reliability 2)."""
    requests = [asked(f"question {number}") for number in range(5)]
    for number, request in enumerate(requests):
        await stores.mailbox.submit(request, event_id=f"Ev{number}")
    for request in requests:
        assert await stores.mailbox.head(request.thread_key) == request
        await stores.mailbox.pop(request.thread_key, request.id)
    assert await stores.mailbox.head(requests[0].thread_key) is None
    assert await stores.mailbox.threads() == []


async def test_popping_twice_takes_only_one(stores: Stores) -> None:
    """A worker that was thought dead may pop what another has popped."""
    first, second = asked(), asked()
    await stores.mailbox.submit(first, event_id="Ev1")
    await stores.mailbox.submit(second, event_id="Ev2")
    await stores.mailbox.pop(first.thread_key, first.id)
    await stores.mailbox.pop(first.thread_key, first.id)
    assert await stores.mailbox.head(first.thread_key) == second


async def test_a_waiting_request_can_be_taken_back(stores: Stores) -> None:
    """Its message was deleted before it ran."""
    first, second = asked(), asked()
    await stores.mailbox.submit(first, event_id="Ev1")
    await stores.mailbox.submit(second, event_id="Ev2")
    assert await stores.signals.withdraw(second, second.user)
    assert not await stores.signals.withdraw(second, second.user)
    assert await stores.mailbox.waiting(first.thread_key) == 1
    assert await stores.mailbox.get(second.id) is None


async def test_attempts_that_never_ended_are_deaths_of_workers(stores: Stores) -> None:
    """Reliability 17: one that ended counts no more, however often that is noted; nor do those before
    a save point."""
    mailbox, question = stores.mailbox, asked()
    assert [await mailbox.begin_attempt(question.id, each) for each in "aabc"] == [0, 0, 1, 2]
    for _ in range(2):
        await mailbox.end_attempt(question.id, "b")
    assert await mailbox.begin_attempt(question.id, "d") == 2
    lease = await stores.leases.take(question.thread_key)
    await stores.runs.save_point("run_1", "{}", lease, progress_of=question.id)
    await mailbox.end_attempt(question.id, "d")
    assert await mailbox.begin_attempt(question.id, "e") == 0


@pytest.mark.parametrize("damage", ["not json", '{"version": 99}', "newer"])
async def test_a_request_that_cannot_be_read_blocks_nobody(
    stores: Stores, redis: Redis, damage: str
) -> None:
    """It is set aside, and the request behind it is next (reliability 8)."""
    bad, good = asked(), asked()
    await stores.mailbox.submit(bad, event_id="Ev1")
    await stores.mailbox.submit(good, event_id="Ev2")
    key = f"bot:v1:request:{bad.id}"
    if damage == "newer":
        damage = bad.model_copy(update={"version": 2}).model_dump_json()
    await redis.set(key, damage, keepttl=True)

    with pytest.raises(CorruptValue):
        await stores.mailbox.head(bad.thread_key)
    assert await stores.mailbox.head(bad.thread_key) == good
    assert await redis.get(f"bot:quarantine:v1:request:{bad.id}") == damage


async def test_a_request_that_expired_is_passed_over(stores: Stores, redis: Redis) -> None:
    """A list of ids can outlive what the ids stand for."""
    gone, there = asked(), asked()
    await stores.mailbox.submit(gone, event_id="Ev1")
    await stores.mailbox.submit(there, event_id="Ev2")
    await redis.delete(f"bot:v1:request:{gone.id}")
    assert await stores.mailbox.head(gone.thread_key) == there


async def test_a_submit_whose_reply_was_lost_is_still_new(redis_url: str) -> None:
    """Redis acted, the line broke, we asked again: taken in once, and known to be ours."""
    request = asked()
    async with Proxy.open(redis_url) as line, open_stores(line.url) as stores:
        await stores.mailbox.waiting(request.thread_key)
        line.lose_reply()
        assert await stores.mailbox.submit(request, event_id="Ev1")
        assert line.lost == 1
        assert await stores.mailbox.waiting(request.thread_key) == 1


async def waiting(stores: Stores) -> Request:
    request = asked()
    await stores.mailbox.submit(request, event_id=f"Ev{request.ts}")
    return request


async def test_a_running_request_hears_who_stopped_it(stores: Stores, redis_url: str) -> None:
    """The button is pressed in one process, the run is in another (H1)."""
    request = await waiting(stores)
    heard: asyncio.Queue[str] = asyncio.Queue()
    async with (
        open_stores(redis_url) as web,
        stores.signals.listening(),
        asyncio.timeout(5),
    ):
        with stores.signals.watched(request.id, heard.put_nowait):
            stopped = await web.signals.request_cancel(request.thread_key, request.id, "U7")
            assert stopped
            assert await heard.get() == "U7"


async def test_a_stop_that_came_before_the_run_is_seen_at_its_start(stores: Stores) -> None:
    """A request may be stopped while it waits, or while its worker restarts."""
    request = await waiting(stores)
    await stores.signals.request_cancel(request.thread_key, request.id, "U7")
    _, record = await stores.runs.start(request, "run_1")
    assert record.stopped_by == "U7"


async def test_a_stop_is_for_one_request_only(stores: Stores) -> None:
    """The next question in the thread is not stopped by an old signal."""
    first, second = await waiting(stores), await waiting(stores)
    await stores.signals.request_cancel(first.thread_key, first.id, "U7")
    await stores.mailbox.pop(first.thread_key, first.id)
    _, record = await stores.runs.start(second, "run_1")
    assert record.stopped_by == ""


async def test_a_thread_with_nothing_to_stop_says_so(stores: Stores) -> None:
    """A button on an old message finds nothing."""
    request = asked()
    assert not await stores.signals.request_cancel(request.thread_key, request.id, "U7")


async def test_a_broken_line_is_rebuilt_and_nothing_missed(stores: Stores, redis: Redis) -> None:
    """Redis may restart under a running worker."""
    request = await waiting(stores)
    heard: asyncio.Queue[str] = asyncio.Queue()
    async with stores.signals.listening():
        await subscribed(redis)
        with stores.signals.watched(request.id, heard.put_nowait):
            await redis.client_kill_filter(_type="pubsub")
            await stores.signals.request_cancel(request.thread_key, request.id, "U7")
            async with asyncio.timeout(5):
                assert await heard.get() == "U7"


async def subscribed(redis: Redis) -> None:
    async with asyncio.timeout(5):
        while (await redis.pubsub_numsub("bot:v1:cancel"))[0][1] == 0:  # noqa: ASYNC110
            await asyncio.sleep(0.005)  # Redis tells nobody when somebody subscribes


async def test_replies_count_only_where_the_bot_takes_part(stores: Stores) -> None:
    """A reply without a mention is for the bot only in its own threads."""
    assert await stores.threads.participants("T1:C1:1.0") == frozenset()
    await stores.threads.join("T1:C1:1.0", "U1")
    await stores.threads.join("T1:C1:1.0", "U2")
    assert await stores.threads.participants("T1:C1:1.0")
    assert await stores.threads.participants("T1:C1:2.0") == frozenset()
    assert await stores.threads.participants("T1:C1:1.0") == {"U1", "U2"}
