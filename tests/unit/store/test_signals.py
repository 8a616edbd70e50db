"""Stop: heard at once by the worker that runs, and not lost when nobody listens."""

from __future__ import annotations

import asyncio

from redis.asyncio import Redis

from bot.core.request import Request
from bot.store import Stores, open_stores
from tests.support.redis import asked


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
        stores.signals.watch(request.id, heard.put_nowait),
        asyncio.timeout(5),
    ):
        stopped = await web.signals.request_cancel(request.thread_key, request.id, "U7")
        assert stopped
        assert await heard.get() == "U7"


async def test_a_stop_that_came_before_the_run_is_seen_at_its_start(stores: Stores) -> None:
    """A request may be stopped while it waits, or while its worker restarts."""
    request = await waiting(stores)
    await stores.signals.request_cancel(request.thread_key, request.id, "U7")
    heard: list[str] = []
    async with stores.signals.watch(request.id, heard.append):
        assert heard == ["U7"]


async def test_a_stop_is_for_one_request_only(stores: Stores) -> None:
    """The next question in the thread is not stopped by an old signal."""
    first, second = await waiting(stores), await waiting(stores)
    await stores.signals.request_cancel(first.thread_key, first.id, "U7")
    await stores.mailbox.pop(first.thread_key, first.id)
    heard: list[str] = []
    async with stores.signals.watch(second.id, heard.append):
        assert heard == []


async def test_a_thread_with_nothing_to_stop_says_so(stores: Stores) -> None:
    """A button on an old message finds nothing."""
    request = asked()
    assert not await stores.signals.request_cancel(request.thread_key, request.id, "U7")


async def test_a_broken_line_is_rebuilt_and_nothing_missed(stores: Stores, redis: Redis) -> None:
    """Redis may restart under a running worker."""
    request = await waiting(stores)
    heard: asyncio.Queue[str] = asyncio.Queue()
    async with stores.signals.listening(), stores.signals.watch(request.id, heard.put_nowait):
        await subscribed(redis)
        await redis.client_kill_filter(_type="pubsub")
        await stores.signals.request_cancel(request.thread_key, request.id, "U7")
        async with asyncio.timeout(5):
            assert await heard.get() == "U7"


async def subscribed(redis: Redis) -> None:
    async with asyncio.timeout(5):
        while (await redis.pubsub_numsub("bot:v1:cancel"))[0][1] == 0:  # noqa: ASYNC110
            await asyncio.sleep(0.005)  # Redis tells nobody when somebody subscribes
