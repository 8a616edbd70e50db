"""What an operator does from the command line beside a running bot: look at spending, pause it.

On the Redis of REDIS_URL; without one on the bot's own, which only one process at a time can use.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from bot.app import budget_policy, redis_and_stores
from bot.core.budgets import Pause
from bot.runs.budget_words import since, used_of
from bot.runs.budgets import BudgetPolicy
from bot.settings import Settings

OPERATOR = "the operator"


async def usage_lines(settings: Settings) -> list[str]:
    """A table: who spent what in this day and month (UTC), against which budget."""
    async with _policy(settings) as policy:
        standings = await policy.of_all()
        pause = await policy.paused()
    rows = [("budget", "of", "spent")]
    for each in standings:
        share = f" ({each.share:.0%})" if each.shares else ""
        holder = each.position.account.holder
        name = f"{each.budget.replace('_', ', ')} {each.position.account.period}"
        rows.append((name, holder, f"{used_of(each)}{share}"))
    lines = [f"{name:<28} {holder:<24} {spent}" for name, holder, spent in rows]
    if len(rows) == 1:
        lines = ["Nothing was spent this month."]
    return [f"Paused by {pause.name}, {since(pause)}.", *lines] if pause else lines


async def pause(settings: Settings) -> None:
    """Let no run ask a model any more."""
    async with _policy(settings) as policy:
        await policy.switch.set(Pause(by="", name=OPERATOR, at=datetime.now(UTC)))


async def resume(settings: Settings) -> None:
    """Take that back."""
    async with _policy(settings) as policy:
        await policy.switch.clear()


@asynccontextmanager
async def _policy(settings: Settings) -> AsyncGenerator[BudgetPolicy]:
    data_dir = settings.bot_data_dir / "redis"
    async with redis_and_stores(settings, data_dir=data_dir) as (_, stores):
        yield budget_policy(settings, stores)
