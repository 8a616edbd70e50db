"""What was spent is counted once; a budget is raised once; a pause holds until it is taken back."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from redis.asyncio import Redis

from bot.core.budgets import Account, Budget, Pause, Raise, Spent, accounts_of
from bot.core.ids import new_id
from bot.store import Stores, open_stores
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
