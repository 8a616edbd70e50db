"""Budgets beyond the run, from the question to the model service and back (G6)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.core.budgets import Account, Budget, Cap, OverBudget, Pause, Spent, accounts_of
from bot.core.errors import ConfigurationError, NotPermitted
from bot.core.ids import new_id
from bot.core.outcome import Outcome, RunStatus, StopReason
from bot.core.request import Entry
from bot.dev.model import ModelRequest, Reply, ResponsesServer, Script, call, finish, held, text
from bot.model import Price
from bot.runs.policy.budget_words import paused
from bot.runs.policy.budgets import BudgetPolicy, Budgets
from bot.runs.policy.channels import Channels
from bot.runs.queue.requeue import Held
from bot.settings import ChannelTable, ModelSettings
from bot.store import Stores
from bot.text.translation import reader
from tests.support.redis import asked
from tests.support.runs import answer, bot_on, bot_with

ADD = call("calculate", {"expression": "1+1"})
TINY = Cap(tokens=1)
NAMES = {
    "thread": "The budget for this thread",
    "user_day": "Your budget for today",
    "user_month": "Your budget for this month",
    "channel_day": "Today's budget for this channel",
    "channel_month": "This month's budget for this channel",
    "workspace_day": "Today's budget for this workspace",
    "workspace_month": "This month's budget for this workspace",
}


async def spent_by(stores: Stores, budget: Budget = Budget.USER_DAY) -> Spent:
    accounts = accounts_of(asked(), datetime.now(UTC))
    [account] = [each for each in accounts if each.budget is budget]
    [position] = await stores.budgets.positions([account])
    return position.spent


def took(*outcomes: Outcome) -> int:
    """Tokens of runs as budgets count them."""
    totals = [each.totals for each in outcomes]
    return sum(t.input_tokens - t.cached_tokens + t.output_tokens for t in totals)


async def test_what_runs_take_is_counted(stores: Stores) -> None:
    """G6: tokens and money, on every account, as the answers say; on a thread's where it is bounded."""
    script = Script([ADD, finish(answer()), finish(answer())])
    budgets = Budgets(thread=Cap(tokens=10**9))
    async with bot_with(stores, script, budgets=budgets) as bot:
        outcomes = [await bot.ask("1+1?"), await bot.ask("And?")]
    for budget in Budget:
        spent = await spent_by(stores, budget)
        assert spent.tokens == took(*outcomes)
        assert spent.cost == pytest.approx(sum(each.totals.cost or 0 for each in outcomes))
        assert spent.unpriced == 0


async def test_a_judge_is_paid_from_the_same_budget(stores: Stores) -> None:
    """G6: what hooks spend counts; the answer's own price names it too."""
    judged = {"completed": True, "confidence": "high", "issues": [], "suggestion": ""}
    script = Script([finish(answer()), call("judge", judged)])
    async with bot_with(stores, script, model=ModelSettings(evaluation="basic")) as bot:
        outcome = await bot.ask("1+1?")
    assert len(bot.api.requests) == 2
    assert (await spent_by(stores)).tokens == took(outcome)


async def test_a_run_that_goes_on_elsewhere_counts_nothing_twice(stores: Stores) -> None:
    """G6 I3: the process dies after a response was kept; the next one goes on from there."""
    question = asked("1+1?")
    script = Script([ADD, held(text("never heard"), asyncio.Event()), finish(answer())])
    async with ResponsesServer.open(brain=script) as api:
        async with bot_on(stores, api) as first:
            working = asyncio.create_task(first.ask(question))
            await api.until(lambda: len(api.requests) == 2 and api.requests[1].response_id)
            before = await spent_by(stores)
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
        async with bot_on(stores, api) as second:
            outcome = await second.ask(question, deaths=1)
    assert 0 < before.tokens < took(outcome)
    left = (await spent_by(stores)).tokens - took(outcome)
    assert 0 < left < took(outcome) / 2, "the call that was left counts with what it had sent"


@pytest.mark.parametrize("name", NAMES)
async def test_who_has_nothing_left_is_told_so_and_no_model_is_asked(
    stores: Stores, name: str
) -> None:
    """G6, R11: which budget, when it renews, who can lift it; the thread's chain stays as it was, and
    the next question on it sees this one."""
    budgets = Budgets(**{name: TINY})
    async with bot_with(stores, Script([finish(answer())]), budgets=budgets) as bot:
        await bot.ask("First?")
        kept = await stores.caller_states.load("T1:C1:1.0")
        outcome = await bot.ask("Second?")
    assert len(bot.api.requests) == 1
    assert (outcome.status, outcome.stop_reason) == (RunStatus.FAILED, StopReason.TOKEN_BUDGET)
    assert outcome.note.startswith(f"{NAMES[name]} is used up (")
    assert "of 1 billed tokens" in outcome.note
    renewal = {"thread": "Start a new thread", "day": "at midnight UTC", "month": " 1, "}
    assert renewal[name.rpartition("_")[2]] in outcome.note
    assert "An admin can raise it" in outcome.note
    assert outcome.totals.cost == 0
    after = await stores.caller_states.load("T1:C1:1.0")
    assert after.previous_response_id == kept.previous_response_id
    assert [item["content"] for item in after.pending[-2:]] == ["Second?", outcome.note]
    assert bot.board.finished[-1] == outcome


@pytest.mark.parametrize(
    ("name", "elsewhere"),
    [
        ("thread", {"thread": "2.0"}),
        ("user_day", {"user": "U2"}),
        ("channel_day", {"channel": "C2"}),
    ],
)
async def test_a_budget_is_one_holders_own(
    stores: Stores, name: str, elsewhere: dict[str, Any]
) -> None:
    """G6: another thread, person or channel is not refused for what this one spent."""
    budgets = Budgets(**{name: TINY})
    async with bot_with(stores, Script([finish(answer())] * 2), budgets=budgets) as bot:
        await bot.ask("First?")
        outcome = await bot.ask("Second?", **elsewhere)
    assert outcome.status is RunStatus.SUCCESS


@pytest.mark.parametrize("period", ["day", "month"])
async def test_a_channel_may_have_a_budget_of_its_own(stores: Stores, period: str) -> None:
    """G6: in the place of that of all channels, whether smaller or larger; elsewhere that one
    holds."""
    large = Cap(tokens=1_000_000)
    for everywhere, own in ((large, TINY), (TINY, large)):
        budgets = Budgets(**{f"channel_{period}": everywhere})
        name = f"C{own.tokens}"
        rules = {name: ChannelTable(budgets={period: own})}
        script = Script([finish(answer())] * 4)
        async with bot_with(stores, script, budgets=budgets, channels=rules) as bot:
            here = [await bot.ask("1?", channel=name), await bot.ask("2?", channel=name)]
            other = f"D{own.tokens}"
            there = [await bot.ask("1?", channel=other), await bot.ask("2?", channel=other)]
        small, big = (here, there) if own is TINY else (there, here)
        assert [each.status for each in big] == [RunStatus.SUCCESS] * 2
        assert [each.status for each in small] == [RunStatus.SUCCESS, RunStatus.FAILED]


async def test_a_budget_of_money_ends_a_run_with_one_last_call(stores: Stores) -> None:
    """G6 C6: in the middle of the work, while there is room for it; what was found is shown, and why it
    is not everything."""

    def brain(request: ModelRequest) -> Reply:
        return finish(answer()) if request.forced else ADD

    async with bot_with(stores, Script([finish(answer())])) as free:
        await free.ask("1+1?", channel="C2")
    # The first call finds nothing cached and takes the most; those after it fit besides.
    cap = (free.board.finished[0].totals.cost or 0) * 1.5
    budgets = Budgets(channel_day=Cap(cost=cap))
    async with bot_with(stores, brain, budgets=budgets) as bot:
        outcome = await bot.ask("1+1?")
    forced = [isinstance(each.body.get("tool_choice"), dict) for each in bot.api.requests]
    assert len(forced) > 2
    assert forced == [False] * (len(forced) - 1) + [True]
    assert (outcome.status, outcome.stop_reason) == (RunStatus.PARTIAL, StopReason.COST_BUDGET)
    assert outcome.result == answer()
    assert "Today's budget for this channel has too little left for this ($" in outcome.note
    assert "so this answer is not complete" in outcome.note
    assert (await spent_by(stores, Budget.CHANNEL_DAY)).cost <= 1.1 * cap
    assert outcome.over is not None
    assert outcome.over.account.budget is Budget.CHANNEL_DAY


async def test_a_run_whose_first_call_uses_up_a_budget_makes_no_other(stores: Stores) -> None:
    """G6: a budget is passed by one call at most; what was done is named."""
    budgets = Budgets(channel_day=Cap(cost=0.000_001))
    async with bot_with(stores, Script([ADD]), budgets=budgets) as bot:
        outcome = await bot.ask("1+1?")
    assert len(bot.api.requests) == 1
    assert outcome.stop_reason is StopReason.COST_BUDGET
    assert outcome.result is None
    assert "Today's budget for this channel is used up ($" in outcome.note
    assert "What I did" in outcome.note


async def test_the_budget_that_renews_last_is_named(stores: Stores) -> None:
    """G6: nobody is told to come back at midnight when the month is used up as well."""
    budgets = Budgets(user_day=TINY, workspace_month=TINY, thread=TINY)
    async with bot_with(stores, Script([finish(answer())]), budgets=budgets) as bot:
        await bot.ask("First?")
        outcome = await bot.ask("Second?")
    assert outcome.note.startswith("This month's budget for this workspace")


async def test_a_judge_does_not_get_round_a_budget(stores: Stores) -> None:
    """G6 H4: no judge is asked with a budget that is used up, and the result stands as it is."""
    judged = ModelSettings(evaluation="full")
    script = Script([finish(answer("One."))])
    async with bot_with(stores, script, model=judged, budgets=Budgets(user_day=TINY)) as bot:
        outcome = await bot.ask("1+1?")
    assert len(bot.api.requests) == 1
    assert outcome.status is RunStatus.SUCCESS
    assert outcome.result == answer("One.")


@pytest.mark.parametrize(
    ("before", "warnings"),
    [
        (500_000, []),
        (850_000, ["85% of your budget for today is used ("]),
        (999_999, ["Your budget for today is used up ("]),
    ],
)
async def test_the_foot_of_an_answer_warns(
    stores: Stores, before: int, warnings: list[str]
) -> None:
    """G6: from warn_at on, in plain words, and not before."""
    accounts = accounts_of(asked(), datetime.now(UTC))
    await stores.budgets.settle(accounts, Spent(tokens=before), new_id("call"))
    budgets = Budgets(user_day=Cap(tokens=1_000_000))
    async with bot_with(stores, Script([finish(answer())]), budgets=budgets) as bot:
        outcome = await bot.ask("How many?")
    assert outcome.status is RunStatus.SUCCESS
    assert [each.partition("(")[0] + "(" for each in outcome.warnings] == warnings


async def test_who_spent_the_most_stands_first_where_nothing_costs_as_well(stores: Stores) -> None:
    for user, tokens in {"U1": 5, "U2": 90, "U3": 40}.items():
        of_user = asked(user=user)
        accounts = accounts_of(of_user, datetime.now(UTC))
        await stores.budgets.settle(accounts, Spent(tokens=tokens), new_id("call"))
    policy = BudgetPolicy(Budgets(), Channels({}, stores.channels), stores.budgets, stores.pause)
    people = [each for each in await policy.of_all() if each.budget is Budget.USER_DAY]
    assert [each.position.spent.tokens for each in people] == [90, 40, 5]


async def test_a_pause_keeps_who_can_wait_and_tells_who_cannot(stores: Stores) -> None:
    """The kill switch, C7: no model is asked. A question waits for the end of the pause; a program gets
    its one clear message."""
    await stores.pause.set(Pause(by="U1", name="Ada", at=datetime(2026, 11, 21, 10, 5, tzinfo=UTC)))
    async with bot_with(stores, Script([finish(answer())])) as bot:
        refused = await bot.ask("1+1?", entry=Entry.HEADLESS)
        with pytest.raises(Held):
            await bot.ask("1+1?", ts="3.0", thread="3.0")
        assert bot.api.requests == []
        await stores.pause.clear()
        answered = await bot.ask("1+1?", ts="4.0", thread="4.0")
    assert (refused.status, refused.stop_reason) == (RunStatus.FAILED, StopReason.PAUSED)
    assert refused.note.startswith("I was paused by Ada (Nov 21, 2026, 10:05 UTC)")
    assert answered.status is RunStatus.SUCCESS
    assert bot.board.finished == [refused, answered]


async def test_a_pause_stops_what_runs_before_its_next_call(stores: Stores) -> None:
    """The kill switch makes no last call; what was done is named, and the thread can go on."""

    async def pausing(_request: ModelRequest) -> Reply:
        await stores.pause.set(Pause(by="U1", name="Ada", at=datetime.now(UTC)))
        return ADD

    async with bot_with(stores, pausing) as bot:
        outcome = await bot.ask("1+1?")
        await stores.pause.clear()
        bot.api.brain = Script([finish(answer())])
        again = await bot.ask("Again?")
    assert (outcome.status, outcome.stop_reason) == (RunStatus.FAILED, StopReason.PAUSED)
    assert "paused by Ada" in outcome.note
    assert "What I did: " in outcome.note
    assert again.status is RunStatus.SUCCESS
    assert len(bot.api.requests) == 2


class Clock:
    """Says what it is told to."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 30, 23, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def test_days_are_written_as_the_person_writes_them() -> None:
    """Of renewals and of pauses."""
    now = datetime(2026, 11, 30, 23, 0, tzinfo=UTC)
    with reader("en-GB"):
        assert "(30 Nov 2026, 23:00 UTC)" in paused(Pause(by="U1", name="Ada", at=now))[0]


async def test_midnight_renews_the_day_and_the_first_the_month(stores: Stores) -> None:
    """G6: refused at 23:00 on the last of the month, answered at midnight."""
    clock = Clock()
    budgets = Budgets(user_day=TINY, channel_month=TINY)
    async with bot_with(stores, Script([finish(answer())] * 2), budgets=budgets) as bot:
        policy = replace(bot.runner.deps.budgets, clock=clock)
        bot.runner = bot.runner.with_deps(budgets=policy)
        outcomes = [await bot.ask("One?"), await bot.ask("Two?")]
        clock.now = datetime(2026, 12, 1, tzinfo=UTC)
        outcomes.append(await bot.ask("Three?"))
    assert [each.status for each in outcomes] == [
        RunStatus.SUCCESS,
        RunStatus.FAILED,
        RunStatus.SUCCESS,
    ]


async def raised(stores: Stores, over: OverBudget, times: float, budgets: Budgets) -> float:
    policy = BudgetPolicy(budgets, Channels({}, stores.channels), stores.budgets, stores.pause)
    standing = await policy.raise_budget(over, "ADA", times)
    return standing.token_limit or 0


async def test_a_raised_budget_lets_people_go_on(stores: Stores) -> None:
    """G6: for the rest of the period; and it can be used up again, and raised again."""
    budgets = Budgets(user_day=Cap(tokens=10))
    async with bot_with(stores, Script([finish(answer())] * 2), budgets=budgets) as bot:
        await bot.ask("One?")
        refused = await bot.ask("Two?")
        assert refused.over is not None
        assert await raised(stores, refused.over, 10_000, budgets) == 100_000
        answered = await bot.ask("Two?")
        with pytest.raises(NotPermitted, match="already"):
            await raised(stores, refused.over, 2, budgets)
    assert answered.status is RunStatus.SUCCESS
    again = OverBudget(account=refused.over.account, factor=10_000)
    assert await raised(stores, again, 2, budgets) == 200_000


@pytest.mark.parametrize(
    ("period", "budgets", "says"),
    [("2020-01-01", Budgets(user_day=TINY), "renewed"), (None, Budgets(), "no longer set")],
)
async def test_what_needs_no_raise_is_not_raised(
    stores: Stores, period: str | None, budgets: Budgets, says: str
) -> None:
    """G6: a button of yesterday, or of a budget that was taken out of the settings."""
    today = Budget.USER_DAY.period(datetime.now(UTC))
    account = Account(budget=Budget.USER_DAY, holder="T1:U1", period=period or today)
    with pytest.raises(NotPermitted, match=says):
        await raised(stores, OverBudget(account=account), 2, budgets)


@pytest.mark.parametrize("budgets", [Budgets(user_day=Cap(cost=1)), Budgets(thread=Cap(cost=1))])
async def test_money_is_not_bounded_where_no_price_is_known(
    stores: Stores, budgets: Budgets
) -> None:
    """G6: said before anything starts, with what to set; with a price it works."""
    script = Script([finish(answer())])
    unknown = {"openai_fallback_models": ("my-model",), "budgets": budgets}
    with pytest.raises(
        ConfigurationError, match=r"price of my-model is not known.*\[model\] price"
    ):
        async with bot_with(stores, script, **unknown):
            raise AssertionError("it must not start")
    priced = ModelSettings(price=Price(input=1, output=2))
    async with bot_with(stores, script, model=priced, **unknown) as bot:
        assert (await bot.ask("1+1?")).status is RunStatus.SUCCESS


def test_each_budget_has_its_setting() -> None:
    """A budget that nobody could set would bound nothing."""
    assert set(Budget) == Budgets.model_fields.keys() - {"warn_at"}
