"""Budgets for threads, people, channels and workspaces, checked before every call to a model.

The cost of a call is known only afterwards. Room for it is therefore reserved beforehand on every
budget that it counts towards: somewhat more than such calls cost recently. So concurrent runs do not
spend the same money twice. When there is too little room for that, calls run one after the other
while something is left, so that a budget is exceeded by one call at most. Each run reserves room for
one last call, to end with a result. `spending` applies this to one run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

from pydantic import BaseModel, ConfigDict, Field

from bot.core.budgets import Account, Budget, Cap, OverBudget, Pause, Raise, accounts_of
from bot.core.errors import NotPermitted
from bot.core.outcome import StopReason
from bot.core.request import Request
from bot.runs.policy.channels import Channels, ChannelSettings
from bot.store import BudgetStore, PauseSwitch, Position
from bot.text.translation import Text


class Budgets(BaseModel):
    """The budgets `[budgets]` in bot.toml; a budget that is not set has no limit.

    Days and months are in UTC; a thread's budget covers its lifetime. Answers warn once the share
    `warn_at` (0 to 1) of a budget is used.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    warn_at: float = Field(default=0.8, gt=0, le=1)
    thread: Cap | None = None
    user_day: Cap | None = None
    user_month: Cap | None = None
    channel_day: Cap | None = None
    channel_month: Cap | None = None
    workspace_day: Cap | None = None
    workspace_month: Cap | None = None

    def cap(self, budget: Budget) -> Cap | None:
        """Return the cap of `budget`; None when it has none."""
        return cast("Cap | None", getattr(self, budget))

    @property
    def bound_money(self) -> list[str]:
        """The names of the budgets in dollars, which need the prices of models."""
        return [budget for budget in Budget if (cap := self.cap(budget)) and cap.cost]


_RENEWED = Text("That budget has renewed: just ask again.")
_NOT_SET = Text("That budget is no longer set: just ask again.")
_RAISED_BEFORE = Text("Somebody has already raised that budget: just ask again.")


@dataclass(frozen=True, slots=True)
class BudgetUse:
    """The use of a budget by one account; `cap` is None when the budget has none."""

    position: Position
    cap: Cap | None

    @property
    def budget(self) -> Budget:
        return self.position.account.budget

    @property
    def cost_limit(self) -> float | None:
        """The limit in dollars, including raises; None without one."""
        cost = self.cap.cost if self.cap else None
        return cost and cost * self.position.factor

    @property
    def token_limit(self) -> float | None:
        tokens = self.cap.tokens if self.cap else None
        return tokens and tokens * self.position.factor

    @property
    def shares(self) -> dict[StopReason, float]:
        """The used share of each limit (1 is all of it), by the stop reason when it is used up."""
        spent = self.position.spent
        limits = (
            (StopReason.COST_BUDGET, spent.cost, self.cost_limit),
            (StopReason.TOKEN_BUDGET, spent.tokens, self.token_limit),
        )
        return {reason: used / limit for reason, used, limit in limits if limit}

    @property
    def share(self) -> float:
        """The used share of the fuller limit; 0 without one."""
        return max(self.shares.values(), default=0.0)

    @property
    def reason(self) -> StopReason:
        """The stop reason of a run when this budget is used up."""
        return max(self.shares, key=lambda reason: self.shares[reason])


@dataclass(frozen=True, slots=True)
class BudgetPolicy:
    """The budgets that are configured, compared with what was spent.

    Budgets that `channels` sets for one channel override the general ones.
    """

    budgets: Budgets
    channels: Channels
    store: BudgetStore
    switch: PauseSwitch
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    patience: float = 60.0
    """Seconds that a call waits for room that other calls have reserved."""

    def caps_in(self, channel: ChannelSettings) -> dict[Budget, Cap]:
        """Return the caps that apply in a channel with these settings."""
        caps = {budget: channel.cap(budget) or self.budgets.cap(budget) for budget in Budget}
        return {budget: cap for budget, cap in caps.items() if cap}

    async def use_of(self, account: Account) -> BudgetUse:
        """Return the use of one account's budget."""
        [use] = await self._uses([account])
        return use

    async def paused(self) -> Pause | None:
        """Return the pause, if somebody has paused the bot; else None."""
        return await self.switch.get()

    async def used_up(self, request: Request) -> BudgetUse | None:
        """Return the used-up budget that blocks the request, of several the one that renews last.

        None when every budget has something left.
        """
        uses = await self._capped_uses(request)
        return next((use for use in uses if use.share >= 1), None)

    async def nearly_used_up(self, request: Request) -> BudgetUse | None:
        """Return the fullest of the request's budgets, if its share has reached `warn_at`."""
        fullest = max(await self._capped_uses(request), key=lambda use: use.share, default=None)
        return fullest if fullest and fullest.share >= self.budgets.warn_at else None

    async def of_person(self, team: str, user: str) -> list[BudgetUse]:
        """Return what a person has spent today and this month, with their budgets, if any."""
        holder, now = f"{team}:{user}", self.clock()
        accounts = [
            Account(budget=budget, holder=holder, period=budget.period(now))
            for budget in (Budget.USER_DAY, Budget.USER_MONTH)
        ]
        return await self._uses(accounts)

    async def of_all(self, team: str | None = None) -> list[BudgetUse]:
        """Return all spending of today and this month, in all workspaces or one, by budget.

        Within each budget, the highest spending is first.
        """
        now = self.clock()
        accounts = [
            Account(budget=budget, holder=holder, period=budget.period(now))
            for budget in Budget
            if budget is not Budget.THREAD
            for holder in await self.store.spenders(budget, budget.period(now))
            if team in (None, holder.partition(":")[0])
        ]
        uses = await self._uses(accounts)
        order = list(Budget)

        def rank(use: BudgetUse) -> tuple[int, int, int]:
            spent = use.position.spent  # tokens rank the spending on free models
            return order.index(use.budget), -spent.nanodollars, -spent.tokens

        return sorted(uses, key=rank)

    async def raise_budget(self, over: OverBudget, by: str, times: float) -> BudgetUse:
        """Raise a used-up budget to `times` what it was, for the rest of its period.

        Raises NotPermitted with a sentence when it has renewed, was raised since, or is not set.
        """
        account, now = over.account, self.clock()
        if account.period != account.budget.period(now):
            raise NotPermitted(_RENEWED())
        [use] = await self._uses([account])
        seen = use.position.raised
        if use.cap is None:
            raise NotPermitted(_NOT_SET())
        new = Raise(factor=over.factor * times, by=by, at=now)
        if use.position.factor != over.factor or not await self.store.raise_budget(
            account, new, seen=seen
        ):
            raise NotPermitted(_RAISED_BEFORE())
        return BudgetUse(Position(account, use.position.spent, new), use.cap)

    async def _capped_uses(self, request: Request) -> list[BudgetUse]:
        accounts = accounts_of(request, self.clock())
        caps = await self._caps(accounts)
        return await self._compare(caps, [account for account in accounts if caps[account]])

    async def _uses(self, accounts: Sequence[Account]) -> list[BudgetUse]:
        return await self._compare(await self._caps(accounts), accounts)

    async def _compare(
        self, caps: Mapping[Account, Cap | None], accounts: Sequence[Account]
    ) -> list[BudgetUse]:
        positions = await self.store.positions(accounts)
        return [BudgetUse(position, caps[position.account]) for position in positions]

    async def _caps(self, accounts: Sequence[Account]) -> dict[Account, Cap | None]:
        holders = {account.holder for account in accounts if account.budget.scope == "channel"}
        settings = {holder: await self.channels.of(*holder.split(":", 1)) for holder in holders}
        own = {
            account: settings[account.holder].cap(account.budget)
            for account in accounts
            if account.holder in settings
        }
        return {
            account: own.get(account) or self.budgets.cap(account.budget) for account in accounts
        }
