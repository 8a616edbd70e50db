"""What was spent on each account, and who raised a budget (G6).

One hash per budget and period, with the fields of all holders; one per thread.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot.core.budgets import Account, Budget, Charge, Raise, Spent
from bot.core.errors import CorruptValue
from bot.store.connection import Connection, Retention
from bot.store.values import decode, set_aside

log = logging.getLogger(__name__)

_FIELDS = tuple(Spent.model_fields)
_DAY = 86_400


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


def charging(
    redis: Connection, charge: Charge | None, retention: Retention
) -> list[tuple[Any, ...]]:
    """The commands that add `charge` to its accounts, for `Lease.write`, which runs them once."""
    if charge is None:
        return []
    added = [(name, count) for name, count in charge.spent.model_dump().items() if count]
    commands: list[tuple[Any, ...]] = []
    for account in charge.accounts if added else ():
        key = _spent_key(redis, account)
        commands += [("HINCRBY", key, _field(account, name), count) for name, count in added]
        commands.append(("EXPIRE", key, _seconds(account.budget, retention)))
    return commands


class BudgetStore:
    """Reads what runs were charged (`Runs.save_point` writes it), and keeps raises."""

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._redis = redis
        self._retention = retention

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
