"""Budgets: caps on spending, and the accounts that are charged. Days and months are in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from bot.core.chain import Usage
from bot.core.request import Request

_NANO = 1_000_000_000
"""Money is an integer count of billionths of a dollar, so that sums are exact."""


class Budget(StrEnum):
    """A kind of budget: whose spending it limits, and for which period.

    Members are sorted by when they renew, the latest first. A thread's budget never renews.
    """

    WORKSPACE_MONTH = "workspace_month"
    CHANNEL_MONTH = "channel_month"
    USER_MONTH = "user_month"
    WORKSPACE_DAY = "workspace_day"
    CHANNEL_DAY = "channel_day"
    USER_DAY = "user_day"
    THREAD = "thread"

    @property
    def scope(self) -> str:
        """workspace, channel, user or thread."""
        return self.partition("_")[0]

    def period(self, now: datetime) -> str:
        """Return the period of `now`: "2026-11", "2026-11-21", or "" for a thread's lifetime."""
        name = self.partition("_")[2]
        pattern = {"month": "%Y-%m", "day": "%Y-%m-%d"}.get(name, "")
        return now.astimezone(UTC).strftime(pattern)

    def renews(self, now: datetime) -> datetime | None:
        """Return when the next period begins, None for a thread's lifetime."""
        day = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        match self.partition("_")[2]:
            case "day":
                return day + timedelta(days=1)
            case "month":
                return (day.replace(day=1) + timedelta(days=32)).replace(day=1)
            case _:
                return None


class Cap(BaseModel):
    """The limit of a budget in one period: `cost` in US dollars, `tokens` without cached input.

    A plain number means dollars.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    cost: float | None = Field(default=None, gt=0)
    tokens: int | None = Field(default=None, ge=1)

    @model_validator(mode="before")
    @classmethod
    def _number_as_cost(cls, value: Any) -> Any:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return {"cost": value}
        if isinstance(value, dict | Cap):
            return value
        raise ValueError("must be dollars, such as 2.0, or {cost = 2.0, tokens = 1_000_000}")

    @model_validator(mode="after")
    def _require_a_limit(self) -> Cap:
        if self.cost is None and self.tokens is None:
            raise ValueError("set cost (dollars), tokens or both")
        return self


class Account(BaseModel):
    """The account of one holder in one period.

    `holder` is the team id, "team:channel", "team:user" or the thread key.
    """

    model_config = ConfigDict(frozen=True)

    budget: Budget
    holder: str
    period: str


def accounts_of(request: Request, now: datetime) -> tuple[Account, ...]:
    """Return the accounts that a request is charged to, one for each budget."""
    holders = {
        "workspace": request.team,
        "channel": f"{request.team}:{request.channel}",
        "user": f"{request.team}:{request.user}",
        "thread": request.thread_key,
    }
    return tuple(
        Account(budget=each, holder=holders[each.scope], period=each.period(now)) for each in Budget
    )


class Spent(BaseModel):
    """An amount that was spent.

    `tokens` excludes cached input, as in limits. `unpriced` tokens had no known price; they are part
    of `tokens`, and `nanodollars` does not include them.
    """

    model_config = ConfigDict(frozen=True)

    tokens: int = 0
    nanodollars: int = 0
    unpriced: int = 0

    @classmethod
    def of(cls, usage: Usage, cost: float | None) -> Spent:
        """Return the amount of `usage`; `cost` is in dollars, None when the price is unknown."""
        tokens = billed_tokens(usage)
        if cost is None:
            return cls(tokens=tokens, unpriced=tokens)
        return cls(tokens=tokens, nanodollars=cls.nanodollars_of(cost))

    @staticmethod
    def nanodollars_of(dollars: float) -> int:
        """Return `dollars` as an integer count of billionths of a dollar."""
        return round(dollars * _NANO)

    @property
    def cost(self) -> float:
        """The money in dollars."""
        return self.nanodollars / _NANO

    def covers(self, other: Spent) -> bool:
        """Return whether this amount is at least `other`, in tokens and in money."""
        return self.tokens >= other.tokens and self.nanodollars >= other.nanodollars

    def times(self, factor: float) -> Spent:
        """Return this amount multiplied by `factor`, in tokens and in money."""
        return Spent(
            tokens=round(self.tokens * factor), nanodollars=round(self.nanodollars * factor)
        )

    def or_more(self, other: Spent) -> Spent:
        """Return the larger tokens and the larger money of this amount and `other`."""
        return Spent(
            tokens=max(self.tokens, other.tokens),
            nanodollars=max(self.nanodollars, other.nanodollars),
        )


def billed_tokens(usage: Usage) -> int:
    """Return the tokens that limits and budgets count: all but cached input."""
    return usage.input_tokens - usage.cached_tokens + usage.output_tokens


class Raise(BaseModel):
    """A raise: until the period ends, the budget is `factor` times the configured cap.

    `by` is the user id of the admin who raised it.
    """

    model_config = ConfigDict(frozen=True)

    version: int = 1
    factor: float
    by: str
    at: datetime


class OverBudget(BaseModel):
    """A budget that is used up; `factor` is that of its raise at that moment, 1 without a raise."""

    model_config = ConfigDict(frozen=True)

    account: Account
    factor: float = 1.0


class Pause(BaseModel):
    """A pause of the bot: `by` is the user id of the admin who paused it, `name` their name."""

    model_config = ConfigDict(frozen=True)

    version: int = 1
    by: str
    name: str
    at: datetime
