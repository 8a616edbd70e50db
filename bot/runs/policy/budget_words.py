"""Texts about budgets for people: which budget is used up, when it renews, who can raise it."""

from __future__ import annotations

from datetime import datetime

from bot.core.budgets import Budget, Cap, Pause
from bot.core.outcome import StopReason
from bot.runs.outcomes import CauseAndAdvice
from bot.runs.policy.budgets import BudgetUse
from bot.text.locales import day, money, number
from bot.text.translation import Text, reader_locale

_USED_UP = {
    Budget.THREAD: Text("The budget for this thread is used up ({amounts})"),
    Budget.USER_DAY: Text("Your budget for today is used up ({amounts})"),
    Budget.USER_MONTH: Text("Your budget for this month is used up ({amounts})"),
    Budget.CHANNEL_DAY: Text("Today's budget for this channel is used up ({amounts})"),
    Budget.CHANNEL_MONTH: Text("This month's budget for this channel is used up ({amounts})"),
    Budget.WORKSPACE_DAY: Text("Today's budget for this workspace is used up ({amounts})"),
    Budget.WORKSPACE_MONTH: Text("This month's budget for this workspace is used up ({amounts})"),
}
_TOO_LITTLE = {
    Budget.THREAD: Text("The budget for this thread has too little left for this ({amounts})"),
    Budget.USER_DAY: Text("Your budget for today has too little left for this ({amounts})"),
    Budget.USER_MONTH: Text("Your budget for this month has too little left for this ({amounts})"),
    Budget.CHANNEL_DAY: Text(
        "Today's budget for this channel has too little left for this ({amounts})"
    ),
    Budget.CHANNEL_MONTH: Text(
        "This month's budget for this channel has too little left for this ({amounts})"
    ),
    Budget.WORKSPACE_DAY: Text(
        "Today's budget for this workspace has too little left for this ({amounts})"
    ),
    Budget.WORKSPACE_MONTH: Text(
        "This month's budget for this workspace has too little left for this ({amounts})"
    ),
}
_NEARLY = {
    Budget.THREAD: Text("{percent}% of the budget for this thread is used ({amounts})."),
    Budget.USER_DAY: Text("{percent}% of your budget for today is used ({amounts})."),
    Budget.USER_MONTH: Text("{percent}% of your budget for this month is used ({amounts})."),
    Budget.CHANNEL_DAY: Text("{percent}% of today's budget for this channel is used ({amounts})."),
    Budget.CHANNEL_MONTH: Text(
        "{percent}% of this month's budget for this channel is used ({amounts})."
    ),
    Budget.WORKSPACE_DAY: Text(
        "{percent}% of today's budget for this workspace is used ({amounts})."
    ),
    Budget.WORKSPACE_MONTH: Text(
        "{percent}% of this month's budget for this workspace is used ({amounts})."
    ),
}
_RENEWS_AT = Text("It renews on {date} (UTC). An admin can raise it.")
_RENEWS_TONIGHT = Text("It renews at midnight UTC. An admin can raise it.")
_NEW_THREAD = Text("Start a new thread. An admin can raise it.")
_RAISED = {
    "thread": Text("{name} raised the budget of {whose} to {limit}."),
    "day": Text("{name} raised the budget of {whose} for today to {limit}."),
    "month": Text("{name} raised the budget of {whose} for this month to {limit}."),
}
HERE = {
    "thread": Text("this thread"),
    "channel": Text("this channel"),
    "workspace": Text("this workspace"),
}
_SENTENCE = Text("{sentence}.")
_PAUSED = Text("I was paused by {name} ({when})")
_WHEN_BACK = Text("Retry when I am back.")
_NOTHING_DONE = Text(
    "Nothing is done yet: I was paused by {name} ({when}). Press again when I am back."
)
_OF = Text("{used} of {limit}")
_AND = Text("{dollars} and {tokens}")
_TOKENS = Text("{count} tokens")
_BILLED_TOKENS = Text("{count} billed tokens")
_UNPRICED = Text("{dollars}, {tokens} tokens ({unpriced} of them at an unknown price)")
_PRICED = Text("{dollars}, {tokens} tokens")


def used_up(use: BudgetUse, now: datetime) -> CauseAndAdvice:
    """Return which budget is used up, when it renews and who can raise it, as cause and advice.

    What is left of the budget may be reserved by other running questions.
    """
    causes = _USED_UP if use.share >= 1 else _TOO_LITTLE
    return causes[use.budget](amounts=_amounts(use)), _renewal(use.budget, now)


def nearly_used_up(use: BudgetUse) -> str:
    """Return a warning for the footer of an answer."""
    if use.share >= 1:
        return _SENTENCE(sentence=_USED_UP[use.budget](amounts=_amounts(use)))
    return _NEARLY[use.budget](percent=int(use.share * 100), amounts=_amounts(use))


def raised(use: BudgetUse, name: str, whose: str) -> str:
    """Return the notice that `name` has raised a budget; `whose` names its holder for the reader."""
    period = use.budget.rpartition("_")[2]
    return _RAISED[period](name=name, whose=whose, limit=_limit(use))


def paused(pause: Pause) -> CauseAndAdvice:
    """Return cause and advice for people who ask while the bot is paused."""
    return _PAUSED(name=pause.name, when=since(pause)), _WHEN_BACK()


def paused_card(pause: Pause) -> str:
    """Return the notice for people who approve or share something while the bot is paused."""
    return _NOTHING_DONE(name=pause.name, when=since(pause))


def since(pause: Pause) -> str:
    """Return the date and time at which the bot was paused."""
    return f"{_date(pause.at)}, {pause.at:%H:%M} UTC"


def used_of(use: BudgetUse) -> str:
    """Return everything used and its limits: "$0.12 of $2.00, 23,400 tokens"."""
    spent = use.position.spent
    dollars, tokens = _money(spent.cost), _number(spent.tokens)
    if use.cost_limit:
        dollars = _OF(used=dollars, limit=_money(use.cost_limit))
    if use.token_limit:
        tokens = _OF(used=tokens, limit=_whole(use.token_limit))
    text = _UNPRICED if spent.unpriced else _PRICED
    return text(dollars=dollars, tokens=tokens, unpriced=_number(spent.unpriced))


def capped(cap: Cap) -> str:
    """Return what a cap allows: "$2.00 and 100,000 tokens"."""
    dollars = _money(cap.cost) if cap.cost else ""
    tokens = _TOKENS(count=_number(cap.tokens)) if cap.tokens else ""
    return _AND(dollars=dollars, tokens=tokens) if dollars and tokens else dollars or tokens


def _amounts(use: BudgetUse) -> str:
    """Return the use of the fuller limit: "$5.02 of $5.00" or "120,300 of 100,000 billed tokens"."""
    spent = use.position.spent
    is_cost = use.reason is StopReason.COST_BUDGET
    used = _money(spent.cost) if is_cost else _number(spent.tokens)
    return _OF(used=used, limit=_limit(use))


def _limit(use: BudgetUse) -> str:
    """Return the fuller limit, including raises."""
    if use.reason is StopReason.COST_BUDGET:
        return _money(use.cost_limit or 0)
    return _BILLED_TOKENS(count=_whole(use.token_limit or 0))


def _renewal(budget: Budget, now: datetime) -> str:
    at = budget.renews(now)
    if at is None:
        return _NEW_THREAD()
    return _RENEWS_AT(date=_date(at)) if budget.endswith("_month") else _RENEWS_TONIGHT()


def _money(dollars: float) -> str:
    return money(dollars, reader_locale())


def _number(value: float) -> str:
    return number(value, reader_locale())


def _whole(value: float) -> str:
    return number(value, reader_locale(), digits=0)


def _date(at: datetime) -> str:
    return day(at.date().isoformat(), reader_locale())
