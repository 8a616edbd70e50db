"""Refreshes: one at a time for an answer, results for whoever asked, and nothing left after an erase."""

from __future__ import annotations

from datetime import UTC, datetime

from redis.asyncio import Redis

from bot.features.refresh.refreshed import FigureChange, Refreshed
from bot.store import Stores

KEY = "T1:C1:1.5"


def result(user: str, now: str = "2", why: str = "") -> Refreshed:
    figure = FigureChange(name="North", before="1", now="" if why else now, why=why)
    return Refreshed(
        run_id="run_1",
        request_id="req_1",
        user=user,
        figures=(figure,),
        answered_at=datetime.now(UTC),
    )


async def test_results_are_their_own_and_tell_when_all_was_last_good(stores: Stores) -> None:
    assert await stores.refreshes.begin(KEY, "run_1")
    assert not await stores.refreshes.begin(KEY, "run_1")
    assert await stores.refreshes.begin(KEY, "run_2")
    good = await stores.refreshes.keep(KEY, result("U1"))
    bad = await stores.refreshes.keep(KEY, result("U2", why="gone"))
    assert (good.last_good, bad.last_good) == (None, good.at)
    assert (await stores.refreshes.keep(KEY, result("U2"))).last_good == good.at
    assert await stores.refreshes.get(KEY, "run_1", "U1") == good
    assert not await stores.refreshes.was_posted(KEY, good)
    await stores.refreshes.note_posted(KEY, good)
    assert await stores.refreshes.was_posted(KEY, good)
    changed = result("U1", now="3")
    assert await stores.refreshes.was_posted(KEY, changed)  # of the refresh that was posted
    later = changed.model_copy(update={"request_id": "req_2"})
    assert not await stores.refreshes.was_posted(KEY, later)
    assert await stores.refreshes.was_posted(KEY, good.model_copy(update={"request_id": "req_2"}))
    assert await stores.refreshes.get(KEY, "run_1", "U1") is None


async def test_nothing_is_left_of_an_erased_person_or_thread(stores: Stores, redis: Redis) -> None:
    """S9: neither the person's result nor, with the thread, what was known of the answer."""
    await stores.refreshes.keep(KEY, result("U1"))
    await stores.erasure.person("U1")
    assert [key async for key in redis.scan_iter("*U1*")] == []
    await stores.refreshes.begin(KEY, "run_1")
    await stores.refreshes.note_posted(KEY, result("U2"))
    await stores.erasure.thread(KEY)
    assert [key async for key in redis.scan_iter("*C1*")] == []
