"""Budgets hold under many questions at once: they are passed by one call at most (G6, O4)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal

import pytest
from redis.asyncio import Redis

from bot.agent.events import RoomAwaited
from bot.core.budgets import Account, Budget, Cap, Spent, accounts_of
from bot.core.chain import Usage
from bot.core.outcome import RunStatus, StopReason
from bot.core.request import Request
from bot.dev.model import ModelRequest, Reply, call, calls, finish, held
from bot.dev.model.errors import model_not_found
from bot.runs.policy.budgets import Budgets
from bot.settings import ModelSettings
from bot.store import Stores
from tests.support.redis import asked
from tests.support.runs import MODEL, Bot, answer, bot_with

QUESTIONS = 40
ADD = call("calculate", {"expression": "1+1"})
REPORT = {"summary": "Found.", "findings": [], "gaps": []}

Unit = Literal["tokens", "nanodollars"]
Brain = Callable[[ModelRequest], Any]


def is_second(request: ModelRequest) -> bool:
    return bool(request.forced) or "function_call_output" in str(request.body["input"])


async def in_two_calls(request: ModelRequest) -> Reply:
    await asyncio.sleep(0.02)
    return finish(answer()) if is_second(request) else ADD


async def ever_longer(request: ModelRequest) -> Reply:
    """The later a question, the longer is what the model says of it: twenty times the first."""
    await asyncio.sleep(0.02)
    number = int(str(request.body["prompt_cache_key"]).rpartition(":")[2].partition(".")[0])
    words = "More words. " * (20 + 10 * number)
    return finish(answer(words)) if is_second(request) else call("calculate", {"expression": "1+1"})


async def with_subagents(request: ModelRequest) -> Reply:
    await asyncio.sleep(0.02)
    if "findings" in str(request.body["tools"]):
        return finish(REPORT)
    if is_second(request):
        return finish(answer())
    parts = ({"goal": f"Look at part {n}.", "tools": []} for n in range(2))
    return calls(*(("dispatch_subagent", each) for each in parts))


async def by_another_model(request: ModelRequest) -> Reply:
    """The service does not have the first of the configured models."""
    if request.body["model"] == MODEL:
        raise model_not_found(MODEL)
    return await in_two_calls(request)


async def judged(request: ModelRequest) -> Reply:
    if "judge" in str(request.body["tools"]):
        verdict = {"completed": True, "confidence": "high", "issues": [], "suggestion": ""}
        return call("judge", verdict)
    return await in_two_calls(request)


def served(bot: Bot) -> list[Spent]:
    """What each call took that the model service answered, as it counts."""
    prices = bot.runner.deps.prices
    found = []
    for node in bot.api.responses.values():
        if not (given := node.response["usage"]):
            continue  # it was cut
        usage = Usage(
            input_tokens=given["input_tokens"],
            cached_tokens=given["input_tokens_details"]["cached_tokens"],
            output_tokens=given["output_tokens"],
        )
        found.append(Spent.of(usage, prices.cost(node.response["model"], usage)))
    return found


def account(request: Request, budget: Budget) -> Account:
    accounts = accounts_of(request, datetime.now(UTC))
    return next(each for each in accounts if each.budget is budget)


async def spent(stores: Stores, request: Request, budget: Budget) -> Spent:
    [position] = await stores.budgets.positions([account(request, budget)])
    return position.spent


async def holds(redis: Redis) -> list[str]:
    keys = [key async for key in redis.scan_iter("bot:v1:held:*")]
    return [str(field) for key in keys for field in await redis.hkeys(key)]


@dataclass(frozen=True)
class Case:
    """There is room for `room` times what the largest call of one question takes; `answered` is how
    many questions get an answer at least."""

    budget: Budget
    brain: Brain
    unit: Unit
    room: float
    answered: int
    settings: dict[str, Any] = field(default_factory=dict)


CASES = {
    "money": Case(Budget.USER_DAY, in_two_calls, "nanodollars", 6, 10),
    "tokens": Case(Budget.WORKSPACE_MONTH, in_two_calls, "tokens", 1.2, 3),
    "longer": Case(Budget.CHANNEL_MONTH, ever_longer, "tokens", 6, 3),
    "sub-agents": Case(Budget.CHANNEL_DAY, with_subagents, "nanodollars", 6, 5),
    "fallback": Case(
        Budget.USER_MONTH,
        by_another_model,
        "nanodollars",
        6,
        5,
        {"openai_fallback_models": ("gpt-5.4",)},
    ),
    "judge": Case(
        Budget.WORKSPACE_DAY,
        judged,
        "nanodollars",
        6,
        5,
        {"model": ModelSettings(evaluation="basic")},
    ),
}


@pytest.mark.parametrize("name", CASES)
async def test_questions_at_once_pass_a_budget_by_one_call(
    stores: Stores, redis: Redis, name: str
) -> None:
    """O4: about as many are answered as the budget does for, the others are told why not, and nobody
    spends what another holds. In the end nobody holds anything."""
    case = CASES[name]
    async with bot_with(stores, case.brain, **case.settings) as bot:
        elsewhere = asked("1+1?").model_copy(update={"team": "T2"})
        assert (await bot.ask(elsewhere)).status is RunStatus.SUCCESS
        room = case.room * max(getattr(each, case.unit) for each in served(bot))
    cap = Cap(tokens=int(room)) if case.unit == "tokens" else Cap(cost=room / 1e9)
    asking = [asked("1+1?", thread=f"{n}.0") for n in range(QUESTIONS)]
    budgets = Budgets(**{case.budget: cap})
    async with bot_with(stores, case.brain, budgets=budgets, **case.settings) as bot:
        outcomes = await asyncio.gather(*(bot.ask(each) for each in asking))
        took = [getattr(each, case.unit) for each in served(bot)]
    assert getattr(await spent(stores, asking[0], case.budget), case.unit) == sum(took)
    assert sum(took) <= room + max(took)
    answered = [each for each in outcomes if each.result]
    refused = [each for each in outcomes if not each.result]
    assert len(answered) >= case.answered
    is_tokens = case.unit == "tokens"
    reason = StopReason.TOKEN_BUDGET if is_tokens else StopReason.COST_BUDGET
    assert {each.stop_reason for each in refused} == {reason}
    assert all("An admin can raise it" in each.note for each in refused)
    assert await holds(redis) == []


def patient(bot: Bot, **changes: Any) -> None:
    """Change how long calls wait for room, or the clock."""
    policy = replace(bot.runner.deps.budgets, **changes)
    bot.runner = bot.runner.with_deps(budgets=policy)


async def test_a_question_that_waits_for_room_says_so(stores: Stores) -> None:
    """O4: until the call under way is done; then it goes on, or it is refused in words that say what to
    do. Stop ends the waiting."""
    done = asyncio.Event()

    def brain(request: ModelRequest) -> Reply:
        return held(finish(answer()), done) if "Slow?" in str(request.body) else finish(answer())

    async with bot_with(stores, brain, budgets=Budgets(user_day=Cap(tokens=10_000))) as bot:
        slow = asyncio.create_task(bot.ask(asked("Slow?", thread="1.0")))
        await bot.api.until(lambda: bot.api.requests)
        stopped = asked("Stopped?", thread="2.0")
        asking = [
            asyncio.create_task(bot.ask(each))
            for each in (stopped, asked("Patient?", thread="3.0"))
        ]
        await bot.api.until(lambda: len(bot.board.of(RoomAwaited)) == 2)
        await stores.signals.request_cancel(stopped.thread_key, stopped.id, "U1")
        patient(bot, patience=0.2)
        refused = await bot.ask(asked("Hasty?", thread="4.0"))
        assert len(bot.api.requests) == 1
        done.set()
        outcomes = await asyncio.gather(slow, *asking)
    assert refused.stop_reason is StopReason.TOKEN_BUDGET
    assert "has too little left for this (" in refused.note
    assert "An admin can raise it" in refused.note
    kinds = [each.status for each in outcomes]
    assert kinds == [RunStatus.SUCCESS, RunStatus.CANCELLED, RunStatus.SUCCESS]
    assert [each.ended for each in bot.board.of(RoomAwaited)].count(True) == 3


async def test_a_call_counts_for_the_day_on_which_it_began(stores: Stores, redis: Redis) -> None:
    """O4: room that was held before midnight is charged and released where it was held."""
    now = [datetime(2026, 11, 30, 23, 59, tzinfo=UTC)]
    done = asyncio.Event()
    budgets = Budgets(user_day=Cap(tokens=10_000), workspace_month=Cap(tokens=10_000))
    async with bot_with(stores, lambda _: held(finish(answer()), done), budgets=budgets) as bot:
        patient(bot, clock=lambda: now[0])
        working = asyncio.create_task(bot.ask("1+1?"))
        await bot.api.until(lambda: bot.api.requests)
        now[0] = datetime(2026, 12, 1, 0, 1, tzinfo=UTC)
        done.set()
        assert (await working).status is RunStatus.SUCCESS
        [took] = served(bot)
    spenders = stores.budgets.spenders
    assert await spenders(Budget.USER_DAY, "2026-11-30") == {"T1:U1": took}
    assert await spenders(Budget.WORKSPACE_MONTH, "2026-11") == {"T1": took}
    assert await spenders(Budget.USER_DAY, "2026-12-01") == {}
    assert await spenders(Budget.WORKSPACE_MONTH, "2026-12") == {}
    assert await holds(redis) == []


@pytest.mark.parametrize(
    ("kind", "counts"), [("cut", True), ("server_error", False), ("model_not_found", False)]
)
async def test_a_call_that_breaks_off_counts_with_what_had_come(
    stores: Stores, redis: Redis, kind: str, *, counts: bool
) -> None:
    """O4: the service says of no stream that broke what it took, but it has its price; one that it
    refused has none."""
    budgets, spare = Budgets(user_day=Cap(tokens=100_000)), ("gpt-5.4",)
    async with bot_with(
        stores, lambda _: finish(answer()), budgets=budgets, openai_fallback_models=spare
    ) as bot:
        bot.api.faults.fail(kind)
        outcome = await bot.ask("1+1?")
        counted = sum(each.tokens for each in served(bot))
    assert outcome.status is RunStatus.SUCCESS
    total = (await spent(stores, asked(), Budget.USER_DAY)).tokens
    assert (total > 1.5 * counted) if counts else (total == counted)
    assert await holds(redis) == []
