"""Room that calls hold of a budget before they are made (G6, O4)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis.asyncio import Redis

from bot.core.budgets import Account, Budget, Cap, Spent
from bot.core.ids import new_id
from bot.store import Forecast, Place, Reservation, Room, Stores

CAP = 300
LIKELY, MOST = 20, 150


@dataclass
class Run:
    """A run of one worker after the other: what it asks for, and the calls that it has under way."""

    stores: Stores
    account: Account
    run_id: str = field(default_factory=lambda: new_id("run"))
    calls: dict[str, int] = field(default_factory=dict)
    has_called: bool = False
    has_ended: bool = False
    is_new: bool = True

    async def reserve(self, took: int, *, is_last: bool = False, seconds: int = 60) -> Room:
        """Ask for a call that will have taken `took`."""
        place = Place.LAST if is_last else Place.BETWEEN if self.has_called else Place.FIRST
        call_id = f"{self.run_id}/{new_id('call')}"
        amounts = (Spent(tokens=each) for each in (MOST, LIKELY, LIKELY))
        wanted = Reservation(
            call_id, self.run_id, place, Forecast(*amounts), seconds, 2 * seconds, self.is_new
        )
        found = await self.stores.budgets.reserve(wanted, {self.account: Cap(tokens=CAP)})
        if found.room is Room.GO:
            self.calls[call_id], self.is_new = took, False
            self.has_ended = is_last
        return found.room

    async def settle(self) -> int:
        """Have its oldest call answered; return what that took."""
        call_id = next(iter(self.calls))
        took = self.calls.pop(call_id)
        await self.stores.budgets.settle(
            [self.account], Spent(tokens=took), call_id, [self.account]
        )
        self.has_called = True
        return took

    def die(self) -> None:
        """Leave its calls to nobody; another worker takes the run up."""
        self.calls.clear()
        self.is_new = True

    async def end(self) -> None:
        await self.stores.budgets.release([self.account], [self.run_id, *self.calls])
        self.calls.clear()


def someone() -> Account:
    return Account(budget=Budget.USER_DAY, holder=f"T1:{new_id('U')}", period="2026-11-30")


async def spent(stores: Stores, account: Account) -> int:
    [position] = await stores.budgets.positions([account])
    return position.spent.tokens


async def held(redis: Redis, account: Account) -> set[str]:
    key = f"bot:v1:held:{account.budget}:{account.period}:{account.holder}"
    return {str(each) for each in await redis.hkeys(key)}


@given(
    st.lists(
        st.tuples(
            st.integers(0, 9),
            st.sampled_from(["begin", "begin", "settle", "settle", "go on", "close", "die"]),
            st.sampled_from([1, 1, LIKELY, MOST]),
        ),
        min_size=40,
        max_size=80,
    )
)
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
async def test_a_budget_is_passed_by_one_call_at_most(
    stores: Stores, redis: Redis, steps: list[tuple[int, str, int]]
) -> None:
    """O4: in whatever order runs ask, are answered, make their last call or die; and as soon as nobody
    has a call under way, a run that has called before gets its last one, as long as something is
    left. In the end nobody holds anything."""
    account = someone()
    runs = [Run(stores, account) for _ in range(10)]
    largest = 0
    for number, step, took in steps:
        can = {
            "begin": [each for each in runs if not (each.has_called or each.calls)],
            "settle": [each for each in runs if each.calls],
            "go on": [each for each in runs if each.has_called and not each.has_ended],
            "close": [each for each in runs if each.has_called and not each.has_ended],
            "die": runs,
        }[step]
        if not can:
            continue
        run = can[number % len(can)]
        match step:
            case "settle":
                largest = max(largest, await run.settle())
            case "die":
                run.die()
            case _:
                await run.reserve(took, is_last=step == "close")
        assert await spent(stores, account) <= CAP + largest
    for run in runs:
        while run.calls:
            largest = max(largest, await run.settle())
    for run in runs:  # what a dead worker held is dropped with the first call of the next
        await run.reserve(1)
        await run.end()
    assert await spent(stores, account) <= CAP + largest
    left = CAP - await spent(stores, account)
    newcomer = Run(stores, account)
    assert await newcomer.reserve(1) is (Room.GO if left > 0 else Room.FULL)
    await newcomer.end()
    assert await held(redis, account) == set()


async def test_runs_make_their_last_calls_one_after_the_other(stores: Stores, redis: Redis) -> None:
    """O4: when they take far more than was kept for them; while something is left, the next one goes as
    soon as no call is under way."""
    account = someone()
    runs = [Run(stores, account) for _ in range(6)]
    for run in runs:
        assert await run.reserve(1) is Room.GO
        await run.settle()
    rooms = [await run.reserve(MOST, is_last=True) for run in runs]
    assert rooms.count(Room.GO) < len(runs)
    for _ in runs:
        for run in runs:
            if run.calls:
                await run.settle()
                left = CAP - await spent(stores, account)
                others = [each for each in runs if not each.has_ended]
                rooms = [await each.reserve(MOST, is_last=True) for each in others]
                assert left <= 0 or Room.GO in rooms or any(each.calls for each in runs)
    assert CAP <= await spent(stores, account) <= CAP + MOST
    for run in runs:
        await run.end()
    assert await held(redis, account) == set()


async def test_what_a_dead_worker_held_is_no_bar_for_ever(stores: Stores, redis: Redis) -> None:
    """O4: its run goes on elsewhere and drops it at once; without that it expires."""
    account = someone()
    dead, other = Run(stores, account), Run(stores, account)
    await stores.budgets.settle([account], Spent(tokens=CAP - 10), new_id("call"))
    assert await dead.reserve(5, seconds=1) is Room.GO
    assert await other.reserve(5) is Room.HELD
    again = replace(dead, calls={}, is_new=True)
    assert await again.reserve(5, seconds=1) is Room.GO
    assert len(await held(redis, account)) == 2, "the call and the run's last one"

    async with asyncio.timeout(10):
        while await other.reserve(5) is Room.HELD:  # noqa: ASYNC110 - until Redis says otherwise
            await asyncio.sleep(0.1)
    assert await held(redis, account) == {other.run_id, *other.calls}
    await other.settle()
    await other.end()
    assert await held(redis, account) == set()


@pytest.mark.parametrize("value", ["", "half", "-1 2 3", "1 2"])
async def test_a_hold_that_cannot_be_read_is_none(stores: Stores, redis: Redis, value: str) -> None:
    """Reliability 8: it must not end every run of the account."""
    account = someone()
    key = f"bot:v1:held:{account.budget}:{account.period}:{account.holder}"
    await redis.hset(key, "run_x", value)
    await redis.expire(key, 60)
    run = Run(stores, account)
    assert await run.reserve(1) is Room.GO
    assert await held(redis, account) == {run.run_id, *run.calls}
