"""Texts about budgets for people: which budget is used up, when it renews, who can raise it."""

from __future__ import annotations

from datetime import datetime

from bot.core.budgets import Budget, Cap, Pause
from bot.core.outcome import StopReason
from bot.core.text.locales import day, money, number
from bot.runs.endings import CauseAndAdvice
from bot.runs.policy.budgets import BudgetUse

_NAMES = {
    Budget.THREAD: "the budget for this thread",
    Budget.USER_DAY: "your budget for today",
    Budget.USER_MONTH: "your budget for this month",
    Budget.CHANNEL_DAY: "today's budget for this channel",
    Budget.CHANNEL_MONTH: "this month's budget for this channel",
    Budget.WORKSPACE_DAY: "today's budget for this workspace",
    Budget.WORKSPACE_MONTH: "this month's budget for this workspace",
}


def used_up(use: BudgetUse, now: datetime, locale: str) -> CauseAndAdvice:
    """Return which budget is used up, when it renews and who can raise it, as cause and advice.

    What is left of the budget may be reserved by other running questions.
    """
    how = "is used up" if use.share >= 1 else "has too little left for this"
    cause = f"{capitalised(_NAMES[use.budget])} {how} ({amounts(use, locale)})"
    renewal = renewal_of(use.budget, now, locale)
    when = f"It renews {renewal}" if renewal else "Start a new thread"
    return cause, f"{when}, or an admin can raise it."


def nearly_used_up(use: BudgetUse, locale: str) -> str:
    """Return a warning for the footer of an answer."""
    name = _NAMES[use.budget]
    if use.share >= 1:
        return f"{capitalised(name)} is used up ({amounts(use, locale)})."
    return f"{int(use.share * 100)}% of {name} is used ({amounts(use, locale)})."


def raised(use: BudgetUse, name: str, whose: str, locale: str) -> str:
    """Return the notice that `name` has raised a budget; `whose` names its holder for the reader."""
    until = "" if use.budget is Budget.THREAD else f" for {_period(use.budget)}"
    return f"{name} raised the budget of {whose}{until} to {limit(use, locale)}."


def paused(pause: Pause, locale: str) -> CauseAndAdvice:
    """Return cause and advice for people who ask while the bot is paused."""
    return f"I was paused by {pause.name} ({since(pause, locale)})", "Retry when I am back."


def paused_card(pause: Pause, locale: str) -> str:
    """Return the notice for people who approve or share something while the bot is paused."""
    return (
        f"Nothing is done yet: I was paused by {pause.name} ({since(pause, locale)}). "
        "Press again when I am back."
    )


def since(pause: Pause, locale: str) -> str:
    """Return the date and time at which the bot was paused."""
    return f"{_date(pause.at, locale)}, {pause.at:%H:%M} UTC"


def used_of(use: BudgetUse, locale: str) -> str:
    """Return everything used and its limits: "$0.12 of $2.00, 23,400 tokens"."""
    spent = use.position.spent
    dollars, tokens = money(spent.cost, locale), number(spent.tokens, locale)
    if use.cost_limit:
        dollars += f" of {money(use.cost_limit, locale)}"
    if use.token_limit:
        tokens += f" of {number(use.token_limit, locale, digits=0)}"
    unpriced = (
        f" ({number(spent.unpriced, locale)} of them at an unknown price)" if spent.unpriced else ""
    )
    return f"{dollars}, {tokens} tokens{unpriced}"


def capped(cap: Cap, locale: str) -> str:
    """Return what a cap allows: "$2.00 and 100,000 tokens"."""
    tokens = f"{number(cap.tokens, locale)} tokens" if cap.tokens else ""
    return " and ".join(filter(None, (money(cap.cost, locale) if cap.cost else "", tokens)))


def amounts(use: BudgetUse, locale: str) -> str:
    """Return the use of the fuller limit: "$5.02 of $5.00" or "120,300 of 100,000 billed tokens"."""
    spent = use.position.spent
    if use.reason is StopReason.COST_BUDGET:
        return f"{money(spent.cost, locale)} of {limit(use, locale)}"
    return f"{number(spent.tokens, locale)} of {limit(use, locale)}"


def limit(use: BudgetUse, locale: str) -> str:
    """Return the fuller limit, including raises."""
    if use.reason is StopReason.COST_BUDGET:
        return money(use.cost_limit or 0, locale)
    return f"{number(use.token_limit or 0, locale, digits=0)} billed tokens"


def renewal_of(budget: Budget, now: datetime, locale: str) -> str:
    """Return when the budget renews; "" for a thread's, which never does."""
    at = budget.renews(now)
    if at is None:
        return ""
    return f"on {_date(at, locale)} (UTC)" if budget.endswith("_month") else "at midnight UTC"


def capitalised(sentence: str) -> str:
    """Return `sentence` with a capital first letter and the others unchanged."""
    return sentence[:1].upper() + sentence[1:]


def _period(budget: Budget) -> str:
    return "today" if budget.endswith("_day") else "this month"


def _date(at: datetime, locale: str) -> str:
    return day(at.date().isoformat(), locale)
