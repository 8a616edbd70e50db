"""How much may be spent beyond one run: asked by code before every call to a model (G6).

What a call costs is known afterwards, so room for it is held before it, on every budget that it
counts towards: rather more than such calls took lately. So runs that go on side by side do not spend
the same money twice. Where there is too little room for that, calls are made one after the other while
something is left: a budget is passed by one call at most. Each run keeps room for one last call, to end
with a result (C6). `spending` does this for one run.
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


class Budgets(BaseModel):
    """`[budgets]` in bot.toml: none unless set. Days and months are those of UTC; a thread's is for
    its lifetime. From the share `warn_at` on, answers say how much is used."""

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
        """What `budget` is bounded to; None when it is not."""
        return cast("Cap | None", getattr(self, budget))

    @property
    def bound_money(self) -> list[str]:
        """Names of the budgets in dollars, which need to know what a model costs."""
        return [each for each in Budget if (cap := self.cap(each)) and cap.cost]


@dataclass(frozen=True, slots=True)
class Standing:
    """Where an account stands against its budget; `cap` None when it has none."""

    position: Position
    cap: Cap | None

    @property
    def budget(self) -> Budget:
        return self.position.account.budget

    @property
    def cost_limit(self) -> float | None:
        """In dollars, as it was raised."""
        cost = self.cap.cost if self.cap else None
        return cost and cost * self.position.factor

    @property
    def token_limit(self) -> float | None:
        tokens = self.cap.tokens if self.cap else None
        return tokens and tokens * self.position.factor

    @property
    def shares(self) -> dict[StopReason, float]:
        """How much of each limit is used (1 is all of it), by what it ends a run with."""
        spent = self.position.spent
        limits = (
            (StopReason.COST_BUDGET, spent.cost, self.cost_limit),
            (StopReason.TOKEN_BUDGET, spent.tokens, self.token_limit),
        )
        return {reason: used / limit for reason, used, limit in limits if limit}

    @property
    def share(self) -> float:
        """How much of the fuller limit is used; 0 without one."""
        return max(self.shares.values(), default=0.0)

    @property
    def reason(self) -> StopReason:
        """What a run ends with when this is used up."""
        return max(self.shares, key=lambda each: self.shares[each])


@dataclass(frozen=True, slots=True)
class BudgetPolicy:
    """Who may spend how much: what is configured, against what was spent. What `channels` set for
    one channel counts before what holds for all."""

    budgets: Budgets
    channels: Channels
    store: BudgetStore
    switch: PauseSwitch
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    patience: float = 60.0
    """Seconds that a call waits for what others hold."""

    def caps_in(self, here: ChannelSettings) -> dict[Budget, Cap]:
        """Return what is bounded where these settings hold."""
        caps = {each: here.cap(each) or self.budgets.cap(each) for each in Budget}
        return {each: cap for each, cap in caps.items() if cap}

    async def standing(self, account: Account) -> Standing:
        """Return where one account stands."""
        [standing] = await self._standings([account])
        return standing

    async def paused(self) -> Pause | None:
        """Who has paused the bot; None when it may work."""
        return await self.switch.get()

    async def used_up(self, request: Request) -> Standing | None:
        """The budget that keeps the request from being worked on; of several the one that renews
        last. None when all have something left."""
        standings = await self._bounded(request)
        return next((each for each in standings if each.share >= 1), None)

    async def nearly_used_up(self, request: Request) -> Standing | None:
        """The fullest of the request's budgets, if it is so full that people should know."""
        fullest = max(await self._bounded(request), key=lambda each: each.share, default=None)
        return fullest if fullest and fullest.share >= self.budgets.warn_at else None

    async def of_person(self, team: str, user: str) -> list[Standing]:
        """What a person has spent this day and this month, with their budgets, if any: for them
        to look at."""
        holder, now = f"{team}:{user}", self.clock()
        accounts = [
            Account(budget=each, holder=holder, period=each.period(now))
            for each in (Budget.USER_DAY, Budget.USER_MONTH)
        ]
        return await self._standings(accounts)

    async def of_all(self, team: str | None = None) -> list[Standing]:
        """Everybody's spending of this day and this month, or that of one workspace, the highest of
        each budget first."""
        now = self.clock()
        accounts = [
            Account(budget=each, holder=holder, period=each.period(now))
            for each in Budget
            if each is not Budget.THREAD
            for holder in await self.store.spenders(each, each.period(now))
            if team in (None, holder.partition(":")[0])
        ]
        found = await self._standings(accounts)
        order = list(Budget)

        def height(each: Standing) -> tuple[int, int, int]:
            spent = each.position.spent  # tokens tell apart what is free
            return order.index(each.budget), -spent.nanodollars, -spent.tokens

        return sorted(found, key=height)

    async def raise_budget(self, over: OverBudget, by: str, times: float) -> Standing:
        """Raise a used-up budget to `times` what it was, for the rest of its period.

        Raises NotPermitted with a sentence when it has renewed, was raised since, or is none.
        """
        account, now = over.account, self.clock()
        if account.period != account.budget.period(now):
            raise NotPermitted("That budget has renewed since: just ask again.")
        [standing] = await self._standings([account])
        seen = standing.position.raised
        if standing.cap is None:
            raise NotPermitted("That budget is not set any more: just ask again.")
        new = Raise(factor=over.factor * times, by=by, at=now)
        if standing.position.factor != over.factor or not await self.store.raise_budget(
            account, new, seen=seen
        ):
            raise NotPermitted("Somebody has raised that budget already: just ask again.")
        return Standing(Position(account, standing.position.spent, new), standing.cap)

    async def _bounded(self, request: Request) -> list[Standing]:
        accounts = accounts_of(request, self.clock())
        caps = await self._caps(accounts)
        return await self._against(caps, [each for each in accounts if caps[each]])

    async def _standings(self, accounts: Sequence[Account]) -> list[Standing]:
        return await self._against(await self._caps(accounts), accounts)

    async def _against(
        self, caps: Mapping[Account, Cap | None], accounts: Sequence[Account]
    ) -> list[Standing]:
        positions = await self.store.positions(accounts)
        return [Standing(each, caps[each.account]) for each in positions]

    async def _caps(self, accounts: Sequence[Account]) -> dict[Account, Cap | None]:
        holders = {each.holder for each in accounts if each.budget.scope == "channel"}
        here = {each: await self.channels.of(*each.split(":", 1)) for each in holders}
        own = {each: here[each.holder].cap(each.budget) for each in accounts if each.holder in here}
        return {each: own.get(each) or self.budgets.cap(each.budget) for each in accounts}
