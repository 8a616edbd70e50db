"""What was spent on each account, what calls under way hold of it, and who raised a budget (G6).

Spending is one hash per budget and period, with the fields of all holders; one per thread. Holds are
one hash per account: under the id of a call or run, when its hold expires (in seconds of Redis's
clock) and how many tokens and nanodollars it is for.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.core.budgets import Account, Budget, Cap, Pause, Raise, Spent
from bot.core.errors import CorruptValue
from bot.store.connection import Connection, Retention
from bot.store.threads.leases import MARK_SECONDS
from bot.store.values import decode, set_aside
from bot.store.workspaces.pause import read_pause

log = logging.getLogger(__name__)

_FIELDS = tuple(Spent.model_fields)
_DAY = 86_400
_HOLDS_SECONDS = 7 * _DAY  # for the keys; a hold lasts as long as it says


@dataclass(frozen=True, slots=True)
class Position:
    """Where an account stands."""

    account: Account
    spent: Spent
    raised: Raise | None

    @property
    def factor(self) -> float:
        """How many times the configured budget may be spent."""
        return self.raised.factor if self.raised else 1.0


class Room(StrEnum):
    """Whether a call may begin."""

    GO = "go"
    TIGHT = "tight"  # what is left is for the run's last call
    HELD = "held"  # calls under way, or last calls of other runs, hold the rest
    FULL = "full"  # everything is spent
    PAUSED = "paused"  # an admin has paused the bot


class Place(StrEnum):
    """Where a call is in its run; a run without a result makes one last call, to end with one."""

    FIRST = "first"
    BETWEEN = ""
    LAST = "last"


@dataclass(frozen=True, slots=True)
class Forecast:
    """The most that a call may take, what it is likely to take, and what the last call of its run is
    likely to take."""

    most: Spent
    likely: Spent
    last: Spent


@dataclass(frozen=True, slots=True)
class Reservation:
    """A call that is to be made. `call_id` begins with the run's id and a slash. If nobody settles it,
    its hold lasts for `seconds`, and that for the run's last call for `run_seconds`. One that
    `takes_over` is the first of a worker: what another one held for calls of this run is dropped."""

    call_id: str
    run_id: str
    place: Place
    forecast: Forecast
    seconds: int
    run_seconds: int
    takes_over: bool = False


@dataclass(frozen=True, slots=True)
class Reserved:
    """Whether a call may begin, and the account or the pause that is in its way."""

    room: Room
    account: Account | None = None
    pause: Pause | None = None


class BudgetStore:
    """What calls hold and take of each account, and raises."""

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._redis = redis
        self._retention = retention

    async def reserve(self, wanted: Reservation, caps: Mapping[Account, Cap]) -> Reserved:
        """Hold room for a call on all capped accounts, and for the run's last call besides; or on
        none, unless the answer is GO. Reserving the same call again replaces its hold, or drops it."""
        keys, limits = [self._redis.key("paused")], list[str | int]()
        for account, cap in caps.items():
            keys += [
                _spent_key(self._redis, account),
                self._raise_key(account),
                self._holds_key(account),
            ]
            cost = "" if cap.cost is None else Spent.nanodollars_of(cap.cost)
            limits += [account.holder, "" if cap.tokens is None else cap.tokens, cost]
        forecast = wanted.forecast
        amounts = [forecast.most, forecast.likely, forecast.last]
        found, number, pause = await self._redis.script(
            "budget_reserve",
            keys,
            self._retention.thread,
            _HOLDS_SECONDS,
            wanted.call_id,
            wanted.run_id,
            wanted.place,
            "1" if wanted.takes_over else "",
            wanted.seconds,
            wanted.run_seconds,
            *(count for each in amounts for count in (each.tokens, each.nanodollars)),
            *limits,
        )
        account_of = dict(enumerate(caps, start=1))
        room = Room(found.decode())
        return Reserved(room, account_of.get(number), read_pause(pause) if pause else None)

    async def settle(
        self,
        accounts: Sequence[Account],
        spent: Spent,
        call_id: str,
        capped: Collection[Account] = (),
    ) -> None:
        """Charge what a call took to the accounts, once, and release its holds on those `capped`."""
        keys, kept = [self._redis.key("written", call_id)], list[str | int]()
        for account in accounts:
            keys.append(_spent_key(self._redis, account))
            goes_on = account.budget is Budget.THREAD
            seconds = _seconds(account.budget, self._retention)
            kept += [account.holder, seconds, "1" if goes_on else ""]
        keys += [self._holds_key(account) for account in capped]
        added = [part for each in spent.model_dump().items() if each[1] for part in each]
        await self._redis.script(
            "budget_settle", keys, MARK_SECONDS, len(accounts), call_id, *kept, *added
        )

    async def release(self, capped: Collection[Account], ids: Collection[str]) -> None:
        """Release the holds of these calls and runs on these accounts."""
        commands = [("HDEL", self._holds_key(account), *ids) for account in capped]
        if commands and ids:
            await self._redis.together(*commands)

    async def positions(self, accounts: Sequence[Account]) -> list[Position]:
        """Where these accounts stand now, in their order."""
        if not accounts:
            return []
        reads = [
            ("HMGET", _spent_key(self._redis, each), *(_field(each, name) for name in _FIELDS))
            for each in accounts
        ]
        raises = ("MGET", *(self._raise_key(each) for each in accounts))
        *counts, raised = await self._redis.together(*reads, raises)
        return [
            Position(account, _spent(values), await self._decoded(account, raw))
            for account, values, raw in zip(accounts, counts, raised, strict=True)
        ]

    async def spenders(self, budget: Budget, period: str) -> dict[str, Spent]:
        """Everybody who spent something in the period, by holder; not for threads."""
        account = Account(budget=budget, holder="", period=period)
        fields = await self._redis.call("HGETALL", _spent_key(self._redis, account))
        found: dict[str, dict[str, int]] = defaultdict(dict)
        for field, count in fields.items():
            name, _, holder = field.decode().partition(" ")
            found[holder][name] = _count(count)
        return {holder: Spent.model_validate(counts) for holder, counts in found.items()}

    async def raise_budget(self, account: Account, new: Raise, *, seen: Raise | None) -> bool:
        """Keep `new` for the rest of the period; False when it is not `seen` that holds now."""
        kept = await self._redis.script(
            "compare_and_set",
            [self._raise_key(account)],
            seen.model_dump_json() if seen else "",
            new.model_dump_json(),
            _seconds(account.budget, self._retention),
        )
        return bool(kept)

    async def _decoded(self, account: Account, raw: bytes | None) -> Raise | None:
        """A raise that cannot be read is none: what is configured holds."""
        try:
            return decode(Raise, raw) if raw else None
        except CorruptValue:
            await set_aside(self._redis, self._raise_key(account))
            return None

    def _holds_key(self, account: Account) -> str:
        return self._redis.key("held", account.budget, account.period, account.holder)

    def _raise_key(self, account: Account) -> str:
        return self._redis.key("raise", account.budget, account.period, account.holder)


def _spent_key(redis: Connection, account: Account) -> str:
    return redis.key("spent", account.budget, account.period or account.holder)


def _field(account: Account, name: str) -> str:
    return f"{name} {account.holder}"


def _spent(values: Sequence[bytes | None]) -> Spent:
    return Spent(**{name: _count(value) for name, value in zip(_FIELDS, values, strict=True)})


def _count(value: bytes | None) -> int:
    """What is no number counts for nothing, and is replaced by the next charge."""
    if value is None or value.removeprefix(b"-").isdigit():
        return int(value or 0)
    log.error("A counter of what was spent cannot be read; it begins anew")
    return 0


def _seconds(budget: Budget, retention: Retention) -> int:
    """Longer than the period, so that the last one can still be looked at."""
    if budget is Budget.THREAD:
        return retention.thread
    return 3 * _DAY if budget.endswith("_day") else 62 * _DAY
