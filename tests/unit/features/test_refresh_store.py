"""Refreshes: one at a time for an answer, results for whoever asked, and nothing left after an erase."""

from __future__ import annotations

from datetime import UTC, datetime

from redis.asyncio import Redis

from bot.features.refresh.refreshed import FigureChange, Refreshed
from bot.features.refresh.store import RefreshStore
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
    results = RefreshStore.of(stores)
    assert await results.begin(KEY, "run_1")
    assert not await results.begin(KEY, "run_1")
    assert await results.begin(KEY, "run_2")
    good = await results.keep(KEY, result("U1"))
    bad = await results.keep(KEY, result("U2", why="gone"))
    assert (good.last_good, bad.last_good) == (None, good.at)
    assert (await results.keep(KEY, result("U2"))).last_good == good.at
    assert await results.get(KEY, "run_1", "U1") == good
    assert not await results.was_posted(KEY, good)
    await results.note_posted(KEY, good)
    assert await results.was_posted(KEY, good)
    changed = result("U1", now="3")
    assert await results.was_posted(KEY, changed)  # of the refresh that was posted
    later = changed.model_copy(update={"request_id": "req_2"})
    assert not await results.was_posted(KEY, later)
    assert await results.was_posted(KEY, good.model_copy(update={"request_id": "req_2"}))
    assert await results.get(KEY, "run_1", "U1") is None


async def test_nothing_is_left_of_an_erased_person_or_thread(stores: Stores, redis: Redis) -> None:
    """S9: neither the person's result nor, with the thread, what was known of the answer."""
    results = RefreshStore.of(stores)
    await results.keep(KEY, result("U1"))
    await stores.erasure.person("U1")
    assert [key async for key in redis.scan_iter("*U1*")] == []
    await results.begin(KEY, "run_1")
    await results.note_posted(KEY, result("U2"))
    await stores.erasure.thread(KEY)
    assert [key async for key in redis.scan_iter("*C1*")] == []
