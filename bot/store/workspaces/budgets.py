"""Budgets in the store: spending, holds of calls in progress and raises; and the pause switch.

Spending is one hash per budget and period with the fields of all holders, and one per thread. Holds
are one hash per account: the field is the id of a call or run; the value is when its hold expires
(in seconds of Redis's clock) and its tokens and nanodollars.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from bot.core.budgets import Account, Budget, Cap, Pause, Raise, Spent
from bot.core.errors import CorruptValue
from bot.store.connection import Connection, Retention
from bot.store.leases import MARK_SECONDS
from bot.store.values import Command, Value, decode, set_aside

log = logging.getLogger(__name__)

_FIELDS = tuple(Spent.model_fields)
_DAY = 86_400
_UNREADABLE = Pause(by="", name="an admin", at=datetime.fromtimestamp(0, UTC))
_HOLDS_SECONDS = 7 * _DAY  # for the keys; a hold lasts as long as it says


@dataclass(frozen=True, slots=True)
class Position:
    """The spending of an account, and the raise of its budget, if any."""

    account: Account
    spent: Spent
    raised: Raise | None

    @property
    def factor(self) -> float:
        """The factor by which the configured cap is multiplied."""
        return self.raised.factor if self.raised else 1.0


class Room(StrEnum):
    """Whether a model call may begin."""

    GO = "go"
    TIGHT = "tight"  # only the amount for the run's last call is left
    HELD = "held"  # calls in progress, or last calls of other runs, hold the rest
    FULL = "full"  # the budget is used up
    PAUSED = "paused"  # an admin has paused the bot


class Place(StrEnum):
    """The place of a call in its run. A run without a result makes a last call to get one."""

    FIRST = "first"
    BETWEEN = ""
    LAST = "last"


@dataclass(frozen=True, slots=True)
class Forecast:
    """A cost forecast: the maximum of a call, its likely cost, and that of its run's last call."""

    most: Spent
    likely: Spent
    last: Spent


@dataclass(frozen=True, slots=True)
class Reservation:
    """A reservation of budget for a model call.

    - `call_id`: begins with the run's id and a slash.
    - `seconds`, `run_seconds`: expiry of the hold for the call, and of the hold for the run's last
      call, if nobody settles them.
    - `takes_over`: first reservation of a worker; drops the holds of earlier workers of this run.
    """

    call_id: str
    run_id: str
    place: Place
    forecast: Forecast
    seconds: int
    run_seconds: int
    takes_over: bool = False


@dataclass(frozen=True, slots=True)
class Reserved:
    """The answer to a reservation: whether the call may begin, else the account or pause why not."""

    room: Room
    account: Account | None = None
    pause: Pause | None = None


class BudgetStore:
    """The store of spending, holds and raises."""

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._redis = redis
        self._retention = retention

    async def reserve(self, wanted: Reservation, caps: Mapping[Account, Cap]) -> Reserved:
        """Hold budget for a call, and for its run's last call, on all accounts in `caps`.

        Unless the answer is GO, nothing is held on any account. Reserving the same call again
        replaces or drops its hold.
        """
        keys, limits = [pause_key(self._redis)], list[str | int]()
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
        return Reserved(room, account_of.get(number), _read_pause(Pause, pause) if pause else None)

    async def settle(
        self,
        accounts: Sequence[Account],
        spent: Spent,
        call_id: str,
        capped: Collection[Account] = (),
    ) -> None:
        """Charge a call to the accounts, once, and release its holds on the `capped` accounts."""
        _, count, *rest = self.charging(accounts, spent, call_id, capped)
        await self._redis.script("budget_settle", rest[:count], *rest[count:])

    def charging(
        self, accounts: Sequence[Account], spent: Spent, call_id: str, capped: Collection[Account]
    ) -> tuple[Any, ...]:
        """Return the command that does what `settle` does, for `Lease.write`."""
        keys, kept = [self._redis.key("written", call_id)], list[str | int]()
        for account in accounts:
            keys.append(_spent_key(self._redis, account))
            goes_on = account.budget is Budget.THREAD
            seconds = _seconds(account.budget, self._retention)
            kept += [account.holder, seconds, "1" if goes_on else ""]
        keys += [self._holds_key(account) for account in capped]
        added = [part for each in spent.model_dump().items() if each[1] for part in each]
        args = (MARK_SECONDS, len(accounts), call_id, *kept, *added)
        return "CHARGE", len(keys), *keys, *args

    async def release(self, capped: Collection[Account], ids: Collection[str]) -> None:
        """Release the holds of the calls and runs `ids` on the `capped` accounts."""
        commands = [("HDEL", self._holds_key(account), *ids) for account in capped]
        if commands and ids:
            await self._redis.together(*commands)

    async def positions(self, accounts: Sequence[Account]) -> list[Position]:
        """Return the spending and raises of `accounts`, in the same order."""
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
        """Return the spending of all holders in a period, by holder. Not for thread budgets."""
        account = Account(budget=budget, holder="", period=period)
        fields = await self._redis.call("HGETALL", _spent_key(self._redis, account))
        found: dict[str, dict[str, int]] = defaultdict(dict)
        for field, count in fields.items():
            name, _, holder = field.decode().partition(" ")
            found[holder][name] = _count(count)
        return {holder: Spent.model_validate(counts) for holder, counts in found.items()}

    async def raise_budget(self, account: Account, new: Raise, *, seen: Raise | None) -> bool:
        """Store a raise for the rest of the period. Return False if `seen` is no longer current."""
        kept = await self._redis.script(
            "compare_and_set",
            [self._raise_key(account)],
            seen.model_dump_json() if seen else "",
            new.model_dump_json(),
            _seconds(account.budget, self._retention),
        )
        return bool(kept)

    async def _decoded(self, account: Account, raw: bytes | None) -> Raise | None:
        """Decode a raise. Without a readable one the configured cap applies: return None."""
        try:
            return decode(Raise, raw) if raw else None
        except CorruptValue:
            await set_aside(self._redis, self._raise_key(account))
            return None

    def _holds_key(self, account: Account) -> str:
        return self._redis.key("held", account.budget, account.period, account.holder)

    def _raise_key(self, account: Account) -> str:
        return self._redis.key("raise", account.budget, account.period, account.holder)


def pause_key(redis: Connection) -> str:
    """Return the key of the pause of the deployment, for scripts that read it."""
    return redis.key("paused")


class PauseSwitch:
    """The pause switch of the deployment. It stays set until cleared: reading renews its expiry."""

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._value = Value(redis, pause_key(redis), Pause, retention.thread, read=_read_pause)

    async def set(self, pause: Pause) -> None:
        """Pause the bot."""
        await self._value.set(pause)

    async def clear(self) -> None:
        """Resume the bot."""
        await self._value.delete()

    async def get(self) -> Pause | None:
        """Return the pause, None if the bot is not paused. A damaged pause still counts."""
        return await self._value.get(renew=True)

    def reading(self) -> Command:
        """Return the command whose reply `decoded` takes."""
        return "GETEX", self._value.key, "EX", self._value.seconds

    def decoded(self, reply: bytes | None) -> Pause | None:
        """Return the pause in a reply to `reading`, None if the bot is not paused."""
        return read_pause(reply)


def _spent_key(redis: Connection, account: Account) -> str:
    return redis.key("spent", account.budget, account.period or account.holder)


def _field(account: Account, name: str) -> str:
    return f"{name} {account.holder}"


def _spent(values: Sequence[bytes | None]) -> Spent:
    return Spent(**{name: _count(value) for name, value in zip(_FIELDS, values, strict=True)})


def _count(value: bytes | None) -> int:
    """Return a counter as a number. A damaged counter is 0, and the next charge replaces it."""
    if value is None or value.removeprefix(b"-").isdigit():
        return int(value or 0)
    log.error("A spending counter cannot be read; it restarts at 0")
    return 0


def _seconds(budget: Budget, retention: Retention) -> int:
    """Return how long spending is kept: longer than the period, so that it can be viewed later."""
    if budget is Budget.THREAD:
        return retention.thread
    return 3 * _DAY if budget.endswith("_day") else 62 * _DAY


def read_pause(reply: bytes | None) -> Pause | None:
    """Return the pause that is stored as `reply`, None if the bot is not paused."""
    return _read_pause(Pause, reply) if reply else None


def _read_pause(kind: type[Pause], raw: bytes) -> Pause:
    """Decode a pause. Return `_UNREADABLE` for a damaged one, because it still counts."""
    try:
        return decode(kind, raw)
    except CorruptValue:
        return _UNREADABLE
