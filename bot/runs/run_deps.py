"""What runs are worked on with, and what of that one run gets."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from bot.agent import prompts
from bot.agent.builtin.complete_task import ResponseType
from bot.agent.builtin.subagents import with_subagents
from bot.agent.calls.call import Toolbox
from bot.agent.events import Event
from bot.agent.hooks.chain import HookChain
from bot.agent.interrupt import Interrupt
from bot.agent.limits import Limits
from bot.agent.parts import LoopDeps
from bot.core.context import RequestContext
from bot.core.request import Request
from bot.model import Model, PriceList
from bot.runs.context.run_loader import MemoriesOf, RunLoader
from bot.runs.policy.access import Policy
from bot.runs.policy.approval_hook import (
    ApprovalHook,
    MayAdminister,
    MayAsk,
    MayDecide,
    MentionedIn,
)
from bot.runs.policy.budgets import BudgetPolicy
from bot.runs.policy.channels import Channels, ChannelSettings
from bot.runs.policy.egress_guard import EgressGuard
from bot.runs.policy.estimates import CallEstimates
from bot.runs.policy.spending import Spending
from bot.runs.queue.steering import Steering
from bot.runs.toolset_cache import ToolsetCache
from bot.store import RunRecord, Stores
from bot.toolkit import Conversation
from bot.toolkit.tool import Tool


class MoreTools(Protocol):
    """Tools that come and go while the bot runs, of servers that may have the `allowed` ones."""

    async def tools(self, allowed: Sequence[str] | None = None) -> Sequence[Tool]:
        """Return what there is now. Raises StoreUnavailable."""

    def missing(self, allowed: Sequence[str] | None = None) -> Sequence[str]:
        """Return the servers whose tools had to be left out."""


HooksFor = Callable[[Request, Callable[[], str], Model], HookChain]
"""The hooks of one run: some keep a count of their own, look at all that was asked so far, or call
the model as the run does."""


@dataclass(frozen=True, slots=True)
class RunDeps:
    """The same for all runs of a place. With `images` the model is shown those that people attach.
    Once `draining` is set, runs stop at their next save point."""

    stores: Stores
    toolbox: Toolbox
    model: Model
    models: tuple[str, ...]
    prices: PriceList
    estimates: CallEstimates
    limits: Limits
    hooks_for: HooksFor
    budgets: BudgetPolicy
    channels: Channels
    more_tools: MoreTools
    offers: ToolsetCache
    policy: Policy
    may_decide: MayDecide
    may_administer: MayAdminister
    may_ask: MayAsk
    mentioned_in: MentionedIn
    memories_of: MemoriesOf
    draining: asyncio.Event
    conversation: Conversation
    images: bool
    temperature: float | None = None
    stateless: bool = False
    dry_run: bool = False

    @property
    def beginnings(self) -> RunLoader:
        """Where runs go on from."""
        return RunLoader(self.stores, self.conversation, self.memories_of, self.images)

    def context(self, request: Request, run_id: str) -> RequestContext:
        """What tools may know of the run."""
        return RequestContext(
            request=request,
            run_id=run_id,
            model=self.models[0],
            temperature=self.temperature,
            dry_run=self.dry_run,
        )

    def spending(
        self,
        request: Request,
        run_id: str,
        here: ChannelSettings,
        interrupt: Interrupt,
        show: Callable[[Event], Awaitable[None]],
    ) -> Spending:
        """Return what the run spends and may spend; `here` may have budgets of its own. `show` is told
        when the run waits."""
        return Spending(
            request,
            run_id,
            self.budgets,
            self.budgets.caps_in(here),
            self.estimates,
            here.limited(self.limits),
            interrupt,
            show,
        )

    async def steering(
        self, request: Request, record: RunRecord, here: ChannelSettings, interrupt: Interrupt
    ) -> Steering:
        """What joins the run; `here` says whether anything does."""
        mailbox = self.stores.mailbox
        joined = [each for each in await mailbox.kept(record.joined) if each.counts]
        return Steering(
            request,
            joined,
            mailbox,
            interrupt,
            is_short=len(joined) < len(record.joined),
            steers=here.during_run == "steer",
            images=self.images,
        )

    async def parts(
        self,
        context: RequestContext,
        interrupt: Interrupt,
        here: ChannelSettings,
        spending: Spending,
        steering: Steering,
    ) -> LoopDeps:
        """What the loop is run with, `here` having its say."""
        request = context.request
        model = spending.model(self.model)
        hooks = self.hooks_for(request, steering.asked, model)
        egress = EgressGuard(
            steering.requests, self.policy, lambda: self.beginnings.history(request)
        )
        approval = ApprovalHook(
            request,
            self.policy,
            here,
            self.stores.approvals,
            self.may_decide,
            self.may_administer,
            self.may_ask,
            self.mentioned_in,
            egress,
        )
        limits = here.limited(self.limits)
        more, own = await self.more_tools.tools(here.tools), self.toolbox.catalogue
        catalogue = self.offers.of(own, more, here.tools, limits.listed_tools)
        parts = LoopDeps(
            model=model,
            models=self.models,
            prices=self.prices,
            toolbox=replace(self.toolbox, catalogue=catalogue),
            response_type=await ResponseType.of(request),
            limits=limits,
            interrupt=interrupt,
            context=replace(context, joined=steering.joined, extra=here.extra),
            history=lambda: self.beginnings.history(request),
            instructions=prompts.instructions(
                here.instructions, self.more_tools.missing(here.tools)
            ),
            hooks=replace(hooks, hooks=(spending, steering, *hooks.hooks, egress, approval)),
            stateless=self.stateless,
            user_hash=hashlib.sha256(f"{request.team}:{request.user}".encode()).hexdigest(),
        )
        return with_subagents(parts)
