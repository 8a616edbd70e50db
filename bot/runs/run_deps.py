"""Dependencies of runs: the services that all runs share, and the objects built from them per run."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from bot.agent import prompts
from bot.agent.builtin.complete_task import ResponseType
from bot.agent.builtin.shared_budget import ParentRun
from bot.agent.builtin.subagents import Subagents, with_subagents
from bot.agent.calls.call import Toolbox
from bot.agent.events import Event
from bot.agent.hooks.chain import HookChain, Hooks
from bot.agent.interrupt import Interrupt
from bot.agent.limits import Limits
from bot.agent.loop_deps import LoopDeps
from bot.agent.state import LoopState
from bot.core.context import RequestContext
from bot.core.request import RepeatReason, Request
from bot.model import Model, ModelChoices, PriceList, RunModels, ServerTraits
from bot.runs.context.earlier_exchanges import DirectSettings
from bot.runs.context.run_loader import RunLoader
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
from bot.runs.policy.preferences import PreferenceBook
from bot.runs.policy.spending import Spending
from bot.runs.policy.waits import Waits
from bot.runs.queue.steering import Steering
from bot.runs.run_parts import RunPart, RunPartDeps, RunPartFor
from bot.runs.toolset_cache import ToolsetCache
from bot.runs.watching import Listener, ListenerFor
from bot.store import RunRecord, Stores
from bot.toolkit import Conversation
from bot.toolkit.tool import Tool


class ServerTools(Protocol):
    """Tools of servers, which may change while the bot runs; `allowed` limits them by name or group."""

    async def tools(
        self, allowed: Sequence[str] | None = None, user: str | None = None
    ) -> Sequence[Tool]:
        """Return the tools that exist now for a user. Raises StoreUnavailable."""

    def missing(self, allowed: Sequence[str] | None = None) -> Sequence[str]:
        """Return the names of servers whose tools had to be left out."""


class ToolClients(Protocol):
    """The clients that tools' own providers open; they may open and end while the bot runs."""

    @property
    def open(self) -> Mapping[type, object]:
        """The clients that are open now, by type."""

    async def settle(self) -> None:
        """Wait until each provider has opened its client or failed once."""

    def missing(self, tools: Iterable[Tool]) -> Sequence[str]:
        """Return the groups of `tools` that are off because a client is not open."""


@dataclass(frozen=True, slots=True)
class PolicyHooks:
    """The hooks that every run has, each made for the one run; `parts` are those of features, and
    `asking` those of them that ask people."""

    spending: Spending
    steering: Steering
    egress: EgressGuard
    asking: tuple[Hooks, ...]
    approval: ApprovalHook
    parts: tuple[Hooks, ...]


HooksFor = Callable[[Request, Model, str, PolicyHooks], HookChain]
"""Returns all hooks of one run, in order; those that call a model call the one given, by this name."""


@dataclass(frozen=True, slots=True)
class RunDeps:
    """The dependencies that all runs of a process share.

    With `images`, the model sees the images that people attach. `parts` make what features add to a
    run, and `listeners` what else listens to it. Once `draining` is set, runs stop at their next save point.
    """

    stores: Stores
    toolbox: Toolbox
    model: Model
    models: ModelChoices
    prices: PriceList
    estimates: CallEstimates
    limits: Limits
    hooks_for: HooksFor
    budgets: BudgetPolicy
    channels: Channels
    server_tools: ServerTools
    clients: ToolClients
    toolset_cache: ToolsetCache
    policy: Policy
    may_decide: MayDecide
    may_administer: MayAdminister
    may_ask: MayAsk
    mentioned_in: MentionedIn
    draining: asyncio.Event
    conversation: Conversation
    images: bool
    direct: DirectSettings
    parts: tuple[RunPartFor, ...] = ()
    listeners: tuple[ListenerFor, ...] = ()
    temperature: float | None = None
    traits: ServerTraits = field(default_factory=ServerTraits)
    dry_run: bool = False

    @property
    def loader(self) -> RunLoader:
        """The loader of the state that a run starts from."""
        return RunLoader(self.stores, self.conversation, self.images, self.direct)

    async def models_for(
        self, request: Request, channel_settings: ChannelSettings, record: RunRecord
    ) -> RunModels:
        """Return the models of a run: a resumed one keeps those with which it began.

        What the asker chose counts before what an admin chose for the channel. *Go deeper* has a
        choice of its own.
        """
        if record.state is not None:
            return self.models.models(LoopState.model_validate_json(record.state).choice)
        if not self.models.choices:
            return self.models.models("")
        book = PreferenceBook(self.stores.preferences)
        own = (await book.of(request.team, request.user)).model
        deeper = self.models.deeper if request.again is RepeatReason.DEEPER else ""
        return self.models.models(self.models.first_of(deeper, own, channel_settings.model))

    def listeners_to(self, request: Request) -> tuple[Listener, ...]:
        """Return new listeners to a run, without the parts of features."""
        return tuple(listener_for(request) for listener_for in self.listeners)

    def context(self, request: Request, run_id: str, models: RunModels) -> RequestContext:
        """Return the context of a run that its tools may see."""
        return RequestContext(
            request=request,
            run_id=run_id,
            model=models.names[0],
            temperature=self.temperature,
            dry_run=self.dry_run,
        )

    def spending(
        self,
        request: Request,
        run_id: str,
        channel_settings: ChannelSettings,
        interrupt: Interrupt,
        show: Callable[[Event], Awaitable[None]],
        listeners: Sequence[Listener],
    ) -> Spending:
        """Return the budget control of a run; `show` gets an event when the run waits for room, and
        `listeners` hear of each call of the model."""
        return Spending(
            request,
            run_id,
            self.budgets,
            self.budgets.caps_in(channel_settings),
            self.estimates,
            channel_settings.limited(self.limits),
            interrupt,
            show,
            listeners,
        )

    async def steering(
        self,
        request: Request,
        record: RunRecord,
        channel_settings: ChannelSettings,
        interrupt: Interrupt,
    ) -> Steering:
        """Return the steering of a run: the messages that join it, if the channel allows that."""
        mailbox = self.stores.mailbox
        joined = [each for each in await mailbox.get_many(record.joined) if each.is_current]
        return Steering(
            request,
            joined,
            mailbox,
            interrupt,
            is_short=len(joined) < len(record.joined),
            steers=channel_settings.during_run == "steer",
            images=self.images,
        )

    def parts_for(
        self, context: RequestContext, channel_settings: ChannelSettings
    ) -> tuple[RunPart, ...]:
        """Return what features add to a run, in their order."""
        stores, request = self.stores, context.request
        waits = Waits(request, context.run_id, stores.approvals, self.policy.approval_hours)
        catalogue = self.toolbox.catalogue
        deps = RunPartDeps(context, channel_settings, catalogue, stores, waits)
        return tuple(part_for(deps) for part_for in self.parts)

    async def loop_deps(
        self,
        context: RequestContext,
        interrupt: Interrupt,
        channel_settings: ChannelSettings,
        spending: Spending,
        steering: Steering,
        parts: Sequence[RunPart],
        models: RunModels,
    ) -> LoopDeps:
        """Return the dependencies of the loop for one run, with the channel's settings applied."""
        request = context.request
        model = spending.model(models.applied_to(self.model))
        history = partial(self.loader.history, request, context.run_id)
        egress = EgressGuard(steering.requests, self.policy, history)
        approval = ApprovalHook(
            request,
            self.policy,
            channel_settings,
            self.stores.approvals,
            self.may_decide,
            self.may_administer,
            self.may_ask,
            self.mentioned_in,
            egress,
        )
        limits = channel_settings.limited(self.limits)
        allowed, known = channel_settings.tools, self.toolbox.catalogue
        await self.clients.settle()
        services = {**self.clients.open, **self.toolbox.services}
        own = known.served_by({*services, ParentRun, Subagents})
        more = await self.server_tools.tools(allowed, request.user)
        catalogue = self.toolset_cache.catalogue(own, more, allowed, limits.listed_tools)
        loop_deps = LoopDeps(
            model=model,
            models=models.names,
            prices=self.prices,
            toolbox=replace(self.toolbox, catalogue=catalogue, services=services),
            response_type=await ResponseType.of(request),
            limits=limits,
            interrupt=interrupt,
            context=replace(context, joined=steering.joined, extra=channel_settings.extra),
            history=history,
            instructions=prompts.instructions(
                channel_settings.instructions,
                (
                    *self.server_tools.missing(allowed),
                    *self.clients.missing(known.only(allowed).tools),
                ),
            ),
            hooks=self.hooks_for(
                request,
                model,
                models.names[0],
                PolicyHooks(
                    spending,
                    steering,
                    egress,
                    tuple(part.asking for part in parts if part.asking),
                    approval,
                    tuple(part.hook for part in parts if part.hook),
                ),
            ),
            traits=self.traits,
            user_hash=hashlib.sha256(f"{request.team}:{request.user}".encode()).hexdigest(),
        )
        return with_subagents(loop_deps)
