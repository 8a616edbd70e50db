"""Budgets, raises, the pause switch, and the room for calls at once."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis.asyncio import Redis

from bot.core.budgets import Account, Budget, Cap, Pause, Raise, Spent, accounts_of
from bot.core.ids import new_id
from bot.store import Forecast, Place, Reservation, Room, Stores, open_stores
from tests.support.proxy import Proxy
from tests.support.redis import asked

NOW = datetime(2026, 11, 30, 23, 59, 59, tzinfo=UTC)
SPENT = Spent(tokens=1_200, nanodollars=7_500_000)


async def charged(stores: Stores, *, spent: Spent = SPENT, now: datetime = NOW) -> None:
    await stores.budgets.settle(accounts_of(asked(), now), spent, new_id("call"))


async def spent(stores: Stores, *, now: datetime = NOW) -> dict[Budget, Spent]:
    positions = await stores.budgets.positions(accounts_of(asked(), now))
    return {each.account.budget: each.spent for each in positions}


async def test_what_a_run_spends_is_put_down_to_every_account(stores: Stores) -> None:
    """G6: thread, and day and month of user, channel and workspace."""
    await charged(stores)
    await charged(stores)
    twice = Spent(tokens=2_400, nanodollars=15_000_000)
    assert await spent(stores) == dict.fromkeys(Budget, twice)


async def test_days_and_months_begin_at_midnight_utc(stores: Stores) -> None:
    """G6: the next second begins a new day and a new month; a thread's account goes on."""
    await charged(stores)
    later = await spent(stores, now=datetime(2026, 12, 1, tzinfo=UTC))
    assert later.pop(Budget.THREAD) == SPENT
    assert set(later.values()) == {Spent()}


@pytest.mark.parametrize("zone", ["+02:00", "-07:00"])
def test_periods_are_those_of_utc_wherever_the_clock_is(zone: str) -> None:
    """G6: all processes agree on them."""
    now = datetime.fromisoformat(f"2026-12-01T01:30:00{zone}")
    day, month = Budget.USER_DAY.period(now), Budget.USER_MONTH.period(now)
    expected = {"+02:00": ("2026-11-30", "2026-11"), "-07:00": ("2026-12-01", "2026-12")}
    assert (day, month) == expected[zone]


def test_budgets_renew_at_the_next_midnight_or_the_first_of_the_month() -> None:
    """G6: across the end of a year too; a thread's never does."""
    now = datetime(2026, 12, 31, 12, tzinfo=UTC)
    assert Budget.USER_DAY.renews(now) == datetime(2027, 1, 1, tzinfo=UTC)
    assert Budget.CHANNEL_MONTH.renews(now) == datetime(2027, 1, 1, tzinfo=UTC)
    assert Budget.THREAD.renews(now) is None


async def test_a_charge_whose_reply_was_lost_is_counted_once(redis_url: str) -> None:
    """G6, reliability 3: the write is sent again, and does nothing the second time."""
    async with Proxy.open(redis_url) as line, open_stores(line.url) as stores:
        line.lose_reply()
        await charged(stores)
        assert line.lost == 1
        assert await spent(stores) == dict.fromkeys(Budget, SPENT)


async def test_everybody_who_spent_something_is_listed(stores: Stores) -> None:
    """For the table of `bot usage`."""
    await charged(stores)
    assert await stores.budgets.spenders(Budget.USER_DAY, "2026-11-30") == {"T1:U1": SPENT}
    assert await stores.budgets.spenders(Budget.WORKSPACE_MONTH, "2026-11") == {"T1": SPENT}
    assert await stores.budgets.spenders(Budget.USER_DAY, "2026-11-29") == {}


ACCOUNT = Account(budget=Budget.USER_DAY, holder="T1:U1", period="2026-11-30")


async def factor(stores: Stores) -> float:
    [position] = await stores.budgets.positions([ACCOUNT])
    return position.factor


async def test_a_budget_is_raised_by_one_of_two_who_press(stores: Stores) -> None:
    """G6: two admins who saw the same refusal raise it once."""
    ada, ben = (Raise(factor=2, by=user, at=NOW) for user in ("ADA", "BEN"))
    assert await stores.budgets.raise_budget(ACCOUNT, ada, seen=None)
    assert await stores.budgets.raise_budget(ACCOUNT, ada, seen=None), "its reply was lost"
    assert not await stores.budgets.raise_budget(ACCOUNT, ben, seen=None)
    assert await factor(stores) == 2
    again = Raise(factor=3, by="BEN", at=NOW)
    assert await stores.budgets.raise_budget(ACCOUNT, again, seen=ada)
    assert await factor(stores) == 3


async def test_a_raise_that_cannot_be_read_is_none(stores: Stores, redis: Redis) -> None:
    """Reliability 8: what is configured holds."""
    await stores.budgets.raise_budget(ACCOUNT, Raise(factor=2, by="ADA", at=NOW), seen=None)
    [key] = [key async for key in redis.scan_iter("bot:v1:raise:*")]
    await redis.set(key, "{half", keepttl=True)
    assert await factor(stores) == 1


async def test_a_pause_holds_until_it_is_taken_back(stores: Stores, redis: Redis) -> None:
    """Each look puts off its expiry; one that cannot be read still pauses."""
    pause = Pause(by="U1", name="Ada", at=NOW)
    assert await stores.pause.get() is None
    await stores.pause.set(pause)
    await redis.expire("bot:v1:paused", 5)
    assert await stores.pause.get() == pause
    assert await redis.ttl("bot:v1:paused") > 86_400
    await redis.set("bot:v1:paused", "{half", keepttl=True)
    assert await stores.pause.get() is not None
    await stores.pause.clear()
    assert await stores.pause.get() is None


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


async def tokens_spent(stores: Stores, account: Account) -> int:
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
        assert await tokens_spent(stores, account) <= CAP + largest
    for run in runs:
        while run.calls:
            largest = max(largest, await run.settle())
    for run in runs:  # what a dead worker held is dropped with the first call of the next
        await run.reserve(1)
        await run.end()
    assert await tokens_spent(stores, account) <= CAP + largest
    left = CAP - await tokens_spent(stores, account)
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
                left = CAP - await tokens_spent(stores, account)
                others = [each for each in runs if not each.has_ended]
                rooms = [await each.reserve(MOST, is_last=True) for each in others]
                assert left <= 0 or Room.GO in rooms or any(each.calls for each in runs)
    assert CAP <= await tokens_spent(stores, account) <= CAP + MOST
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
