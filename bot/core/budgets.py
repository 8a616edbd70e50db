"""What is spent, on whose account, and until when (G6). Days and months are those of UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from bot.core.chain import Usage
from bot.core.request import Request

_NANO = 1_000_000_000
"""Money is counted in whole billionths of a dollar: sums are exact however many are added."""


class Budget(StrEnum):
    """What can be bounded: whose spending, and over which time. A thread's is for its lifetime.

    In the order in which they renew, the latest first.
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
        """The period that `now` is in: 2026-11, 2026-11-21, or "" for a lifetime."""
        name = self.partition("_")[2]
        pattern = {"month": "%Y-%m", "day": "%Y-%m-%d"}.get(name, "")
        return now.astimezone(UTC).strftime(pattern)

    def renews(self, now: datetime) -> datetime | None:
        """When the next period begins; None for a lifetime."""
        day = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        match self.partition("_")[2]:
            case "day":
                return day + timedelta(days=1)
            case "month":
                return (day.replace(day=1) + timedelta(days=32)).replace(day=1)
            case _:
                return None


class Cap(BaseModel):
    """At most this much in one period: `cost` in US dollars, `tokens` without cached input. A bare
    number is dollars."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cost: float | None = Field(default=None, gt=0)
    tokens: int | None = Field(default=None, ge=1)

    @model_validator(mode="before")
    @classmethod
    def _dollars(cls, given: Any) -> Any:
        is_number = isinstance(given, int | float) and not isinstance(given, bool)
        return {"cost": given} if is_number else given

    @model_validator(mode="after")
    def _bounds_something(self) -> Cap:
        if self.cost is None and self.tokens is None:
            raise ValueError("set cost (dollars), tokens or both")
        return self


class Account(BaseModel):
    """What one holder spends in one period. `holder` is the team's id, with that of the channel or
    user behind a colon, or the thread's key."""

    model_config = ConfigDict(frozen=True)

    budget: Budget
    holder: str
    period: str


def accounts_of(request: Request, now: datetime) -> tuple[Account, ...]:
    """The accounts that a request is put down to, one for each budget."""
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
    """`tokens` as limits count them, which is without cached input; those of them whose price was
    not known are `unpriced`, and not in the money."""

    model_config = ConfigDict(frozen=True)

    tokens: int = 0
    nanodollars: int = 0
    unpriced: int = 0

    @classmethod
    def of(cls, usage: Usage, cost: float | None) -> Spent:
        """What a run took: `cost` in dollars, None when the price is not known."""
        tokens = billed_tokens(usage)
        if cost is None:
            return cls(tokens=tokens, unpriced=tokens)
        return cls(tokens=tokens, nanodollars=cls.nanodollars_of(cost))

    @staticmethod
    def nanodollars_of(dollars: float) -> int:
        """Return an exact count."""
        return round(dollars * _NANO)

    @property
    def cost(self) -> float:
        """In dollars."""
        return self.nanodollars / _NANO

    def covers(self, other: Spent) -> bool:
        """Whether this is at least `other`, in tokens and in money."""
        return self.tokens >= other.tokens and self.nanodollars >= other.nanodollars

    def times(self, factor: float) -> Spent:
        """Return that many times as much, in tokens and in money."""
        return Spent(
            tokens=round(self.tokens * factor), nanodollars=round(self.nanodollars * factor)
        )

    def or_more(self, other: Spent) -> Spent:
        """Return the larger of both, in tokens and in money each."""
        return Spent(
            tokens=max(self.tokens, other.tokens),
            nanodollars=max(self.nanodollars, other.nanodollars),
        )


def billed_tokens(usage: Usage) -> int:
    """Tokens as limits and budgets count them: cached input is not counted."""
    return usage.input_tokens - usage.cached_tokens + usage.output_tokens


class Raise(BaseModel):
    """Who raised a budget for the rest of its period: it is `factor` times what is configured."""

    model_config = ConfigDict(frozen=True)

    version: int = 1
    factor: float
    by: str
    at: datetime


class OverBudget(BaseModel):
    """A budget that is used up; `factor` as it was raised at that moment, 1 when it was not."""

    model_config = ConfigDict(frozen=True)

    account: Account
    factor: float = 1.0


class Pause(BaseModel):
    """Who paused the bot, by their id and by the name that people read."""

    model_config = ConfigDict(frozen=True)

    version: int = 1
    by: str
    name: str
    at: datetime
