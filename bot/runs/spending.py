"""What one run spends: counted at each save point, bounded before each call (G6)."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel
from typing_extensions import override

from bot.agent.hooks import Hooks, Permission
from bot.agent.interrupt import Interrupt
from bot.agent.state import LoopState
from bot.core.budgets import Charge, OverBudget, Pause, Spent, accounts_of
from bot.core.chain import Item
from bot.core.outcome import Outcome, StopReason
from bot.core.request import Request
from bot.runs import budget_words
from bot.runs.budgets import BudgetPolicy, Standing
from bot.runs.endings import CutShort, explain
from bot.runs.outcomes import refused
from bot.toolkit.tool import Tool


class Spending(Hooks):
    """Of one run: stops it when a budget is used up (one last call, C6) or somebody has paused the
    bot (no call more), and tells what it spent since the last save point.

    Raises StoreUnavailable: what cannot be checked is not spent.
    """

    def __init__(self, request: Request, policy: BudgetPolicy, interrupt: Interrupt) -> None:
        self._request = request
        self._policy = policy
        self._interrupt = interrupt
        self._counted = Spent()
        self._paused: Pause | None = None
        self._over: Standing | None = None

    def begin(self, state: LoopState) -> None:
        """What an interrupted run had spent was counted with its last save point."""
        self._counted = Spent.of(state.usage, state.cost)

    def charge(self, state: LoopState) -> Charge:
        """What was spent since the last save point, hooks, compaction and sub-agents included, to
        be kept with the next one."""
        now = Spent.of(state.usage, state.cost)
        added, self._counted = now - self._counted, now
        return Charge(accounts=accounts_of(self._request, self._policy.clock()), spent=added)

    async def forbids(self) -> bool:
        """Whether the run must end before its first call."""
        self._paused = await self._policy.paused()
        self._over = None if self._paused else await self._policy.used_up(self._request)
        return bool(self._paused or self._over)

    @override
    async def on_turn_start(self, state: LoopState) -> Sequence[Item]:
        self._paused = await self._policy.paused()
        if self._paused:
            self._interrupt.request(StopReason.PAUSED)
        return ()

    @override
    async def before_tool(self, tool: Tool, arguments: BaseModel) -> Permission:
        """Ask the switch again before every change: minutes may have passed since the call."""
        if not tool.mutates:
            return None
        self._paused = await self._policy.paused()
        if self._paused is None:
            return None
        self._interrupt.request(StopReason.PAUSED)
        return "Not done: the bot was paused. Nothing was changed."

    async def rests(self) -> bool:
        """Whether a run that is taken up again must wait with its calls: the bot is paused."""
        return await self._policy.paused() is not None

    @override
    async def should_stop_after_turn(self, state: LoopState) -> StopReason | None:
        self._over = await self._policy.used_up(self._request)
        return self._over.reason if self._over else None

    def refusal(self, run_id: str) -> Outcome:
        """The end of a run that `forbids`; no model was asked."""
        reason = self._over.reason if self._over else StopReason.PAUSED
        return self._explained(refused(self._request, run_id, reason), ())

    async def ending(self, outcome: Outcome, done: tuple[str, ...]) -> Outcome:
        """`outcome` with what the budgets had to do with it; `done` are the steps that went well."""
        if outcome.stop_reason is StopReason.PAUSED:
            self._paused = self._paused or await self._policy.paused()
            return self._explained(outcome, done)
        if outcome.stop_reason in (StopReason.COST_BUDGET, StopReason.TOKEN_BUDGET):
            # Else it was the limit of one run. A resumed run may have been closing before it began.
            self._over = self._over or await self._policy.used_up(self._request)
            return self._explained(outcome, done) if self._over else outcome
        near = await self._policy.nearly_used_up(self._request)
        notes = (budget_words.nearly_used_up(near, self._request.locale),) if near else ()
        return outcome.model_copy(update={"warnings": notes})

    def _explained(self, outcome: Outcome, done: tuple[str, ...]) -> Outcome:
        changes: dict[str, object] = {}
        cut_short: CutShort | None = None
        if self._paused:
            cut_short = budget_words.paused(self._paused, self._request.locale)
        elif self._over:
            cut_short = budget_words.used_up(self._over, self._policy.clock(), self._request.locale)
            position = self._over.position
            changes = {"over": OverBudget(account=position.account, factor=position.factor)}
        has_result = outcome.result is not None
        note = explain(outcome.stop_reason, None, done, result=has_result, cut_short=cut_short)
        return outcome.model_copy(update=changes | {"note": note})
