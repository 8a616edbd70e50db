"""A run from request to terminal message: load, bind, loop, save, deliver."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from bot.agent import prompts
from bot.agent.calls import Toolbox
from bot.agent.complete import ResponseType
from bot.agent.events import Event, FromSubagent, Recorded, SavePoint
from bot.agent.handover import caller_after
from bot.agent.hooks import HookChain
from bot.agent.interrupt import Interrupt
from bot.agent.limits import Limits
from bot.agent.parts import Parts
from bot.agent.state import LoopState
from bot.agent.subagents import with_subagents
from bot.core.chain import CallerState
from bot.core.context import RequestContext, bound_request
from bot.core.errors import CorruptValue, LeaseLost, StoreUnavailable
from bot.core.failpoints import failpoint
from bot.core.ids import new_id
from bot.core.outcome import Outcome, RunStatus, Silence
from bot.core.request import Request
from bot.model import Model, PriceList
from bot.runs.auditing import RunAudit
from bot.runs.beginnings import Beginnings, MemoriesOf, bound_to
from bot.runs.budgets import BudgetPolicy
from bot.runs.channels import Channels, ChannelSettings
from bot.runs.confirming import Confirming, MayDecide
from bot.runs.findings import Findings
from bot.runs.handing_back import HandBack, can_rest
from bot.runs.narration import Narrator
from bot.runs.outcomes import broken, outcome_of, without_secrets
from bot.runs.outgoing import Outgoing
from bot.runs.policy import Policy
from bot.runs.questions import Parked, Questions, through
from bot.runs.spending import Spending
from bot.runs.steering import Steering
from bot.runs.surface import OpenSurface, Surface
from bot.store import Lease, Phase, Post, RunRecord, Stores
from bot.toolkit import Conversation
from bot.toolkit.tool import Tool

log = logging.getLogger(__name__)

MoreTools = Callable[[], Awaitable[Sequence[Tool]]]
"""Tools that come and go while the bot runs."""

HooksFor = Callable[[Request, Callable[[], str]], HookChain]
"""The hooks of one run: some keep a count of their own, or look at all that was asked so far."""

_MOST_ATTEMPTS = 4
"""Runs that a worker did not survive are given up after this many: one that kills its worker
would do so for ever."""

_DELIVERY_PAUSES = (1.0, 2.0, 5.0, 10.0, 30.0)
"""Seconds between attempts to put up the terminal message."""


@dataclass(frozen=True, slots=True)
class Runner:
    """Works on one request at a time for each thread; the engine sees to the order.

    With a `conversation` the images in it are shown to the model. Once `draining` is set, runs stop
    at their next save point.
    """

    stores: Stores
    toolbox: Toolbox
    model: Model
    models: tuple[str, ...]
    prices: PriceList
    limits: Limits
    open_surface: OpenSurface
    hooks_for: HooksFor
    budgets: BudgetPolicy
    channels: Channels
    more_tools: MoreTools
    policy: Policy
    may_decide: MayDecide
    memories_of: MemoriesOf
    draining: asyncio.Event
    conversation: Conversation | None = None
    temperature: float | None = None
    stateless: bool = False
    dry_run: bool = False

    async def answer(self, request: Request, attempt: int) -> Outcome:
        """Bring `request` to its one terminal message; `attempt` counts from 1.

        Safe to repeat: goes on from the last save point, and delivers what was decided before.
        Raises LeaseLost when another worker has taken the thread, StoreUnavailable when nothing
        can be kept, and HandBack while draining: then it is to be called again, there or elsewhere.
        Raises Parked while people have to decide.
        """
        runs = self.stores.runs
        lease = await self.stores.leases.take(request.thread_key)
        failpoint("lease-taken")
        try:
            record = await runs.start(request, new_id("run"), lease)
        except CorruptValue:  # nobody knows what it had changed, so it is not done again
            log.exception("the record of a run is lost", extra={"request_id": request.id})
            record, attempt = await runs.start(request, new_id("run"), lease), _MOST_ATTEMPTS + 1
        failpoint("run-started")
        if record.outcome and record.phase is Phase.DELIVERED:
            return record.outcome
        post = runs.post(record.run_id, lease)
        if request.replaces and not await post.message():
            await self._take_over(request.replaces, post, lease)
        async with self.open_surface(request, post) as surface:
            asking = Questions(
                *(request, record.run_id, self.stores.approvals, surface, lease),
                self.stores.audit.append,
            )
            outcome = record.outcome or await self._decide(request, record, lease, asking, attempt)
            await _deliver(surface, outcome)
            await asking.close()
        failpoint("run-delivered")
        await runs.mark_delivered(record)
        failpoint("run-closed")
        return outcome

    async def _take_over(self, run_id: str, post: Post, lease: Lease) -> None:
        """The message of a run whose question was edited becomes this one's."""
        if ts := await self.stores.runs.post(run_id, lease).message():
            await post.save_message(ts)

    @property
    def _beginnings(self) -> Beginnings:
        return Beginnings(self.stores, self.conversation, self.memories_of)

    async def _decide(
        self, request: Request, record: RunRecord, lease: Lease, asking: Questions, attempt: int
    ) -> Outcome:
        """Work out how the run ends, and keep that together with where the thread now stands."""
        caller = await self._beginnings.caller_state(request)
        audit = RunAudit(self.stores.audit, request, record.run_id)
        if record.state is None:
            await audit.begin()
        try:
            if attempt > _MOST_ATTEMPTS:
                outcome, after = broken(request, record.run_id), caller
            else:
                outcome, after = await self._work(request, record, lease, asking, caller, audit)
        except (LeaseLost, StoreUnavailable, HandBack, Parked):
            raise
        except Exception:
            # A bug of ours. It is logged with its trace; the person still gets an end.
            log.exception("run failed", extra={"run_id": record.run_id, "request_id": request.id})
            outcome, after = broken(request, record.run_id), caller
        # Stopped without a word, it owes an answer to what was asked besides.
        back = await self.stores.runs.joined(request.id) if outcome.silent else ()
        await audit.end(outcome)
        failpoint("run-finishing")
        await self.stores.runs.finish(record.run_id, outcome, after, lease, back=back)
        failpoint("run-finished")
        return outcome

    async def _work(
        self,
        request: Request,
        record: RunRecord,
        lease: Lease,
        asking: Questions,
        caller: CallerState,
        audit: RunAudit,
    ) -> tuple[Outcome, CallerState]:
        """The loop, with everything kept as it happens."""
        context = RequestContext(
            request=request,
            run_id=record.run_id,
            model=self.models[0],
            temperature=self.temperature,
            dry_run=self.dry_run,
        )
        interrupt = Interrupt()
        spending = Spending(request, self.budgets, interrupt)
        if _is_unheard(record) and await spending.forbids():
            return spending.refusal(record.run_id), caller
        here = await self.channels.of(request.team, request.channel)
        steering = await self._steering(request, record, here, interrupt)
        parts = await self._parts(context, interrupt, here, spending, steering)
        catalogue = parts.toolbox.catalogue
        state = await self._beginnings.first_state(request, record, lease, caller, catalogue)
        spending.begin(state)
        narrator, findings = Narrator(request, record.run_id), Findings()
        await asking.settle()

        async def note(event: Event) -> None:
            if isinstance(event, Recorded | SavePoint):
                await self._keep(event, request, record, lease, spending, steering)
                await audit.intend(event.state)
            if isinstance(event, FromSubagent) and isinstance(event.event, Recorded):
                await self.stores.runs.note_response(event.event.entry, lease)
            if self.draining.is_set() and can_rest(event):
                narrator.handed_back()
                raise HandBack
            for each in (event, *steering.news()):
                narrator.tell(each)
                audit.note(each)
                findings.note(each)
                await asking.surface.show(each)

        with bound_request(context):
            async with self.stores.signals.watch(request.id, lambda _by: interrupt.request()):
                ended = await through(state, parts, asking, note)
            if ended.error:
                ids = {"run_id": record.run_id, "model_request": ended.error.request_id}
                log.error("the model service ended a run: %s", ended.error, extra=ids)
            outcome = await outcome_of(ended, context, self.toolbox.artifacts, steering.joined)
            outcome = await spending.ending(outcome, ended.done)
        after = caller_after(ended, caller, model=context.model, bound_to=bound_to(request))
        outcome = without_secrets(findings.added_to(outcome))
        return await self._hushed(outcome, request), after

    async def _hushed(self, outcome: Outcome, request: Request) -> Outcome:
        """A run is stopped without a word when its question was deleted or edited."""
        if outcome.status is not RunStatus.CANCELLED:
            return outcome
        kept = await self.stores.mailbox.get(request.id)
        if kept is not None and not (kept.superseded or kept.withdrawn):
            return outcome
        gone = kept is None or kept.withdrawn
        silent = Silence.WITHDRAWN if gone else Silence.SUPERSEDED
        return outcome.model_copy(update={"silent": silent})

    async def _keep(
        self,
        event: Recorded | SavePoint,
        request: Request,
        record: RunRecord,
        lease: Lease,
        spending: Spending,
        steering: Steering,
    ) -> None:
        """What the loop may not go on without: its state, what it added to the conversation, and
        what that took."""
        entries = [event.entry] if isinstance(event, Recorded) else []
        bound = [entry.model_copy(update={"bound_to": bound_to(request)}) for entry in entries]
        state = event.state.model_dump_json()
        charge = spending.charge(event.state)
        joining = steering.joining(event.state)
        failpoint("step-keeping")
        await self.stores.runs.save_point(
            *(record.run_id, state, lease, bound, charge),
            joining=[each.id for each in joining],
            joined=[each.id for each in steering.joined],
        )
        failpoint("step-kept")
        steering.taken(joining)

    async def _steering(
        self, request: Request, record: RunRecord, here: ChannelSettings, interrupt: Interrupt
    ) -> Steering:
        mailbox = self.stores.mailbox
        return Steering(
            request,
            await mailbox.kept(record.joined),
            mailbox,
            interrupt,
            steers=here.during_run == "steer",
            images=self.conversation is not None,
        )

    async def _parts(
        self,
        context: RequestContext,
        interrupt: Interrupt,
        here: ChannelSettings,
        spending: Spending,
        steering: Steering,
    ) -> Parts:
        request = context.request
        hooks = self.hooks_for(request, steering.asked)
        outgoing = Outgoing(request, steering.requests, self.policy.open_hosts)
        confirming = Confirming(
            *(request, self.policy, here, self.stores.approvals, self.may_decide, outgoing)
        )
        limits = here.limited(self.limits)
        every = self.toolbox.catalogue.joined_by(await self.more_tools())
        catalogue = every.only(here.tools).listing(limits.listed_tools)
        parts = Parts(
            model=self.model,
            models=self.models,
            prices=self.prices,
            toolbox=replace(self.toolbox, catalogue=catalogue),
            response_type=ResponseType.of(request),
            limits=limits,
            interrupt=interrupt,
            context=context,
            history=lambda: self._beginnings.history(request),
            instructions=prompts.instructions(here.instructions),
            hooks=replace(hooks, hooks=(spending, steering, *hooks.hooks, outgoing, confirming)),
            stateless=self.stateless,
            user_hash=hashlib.sha256(f"{request.team}:{request.user}".encode()).hexdigest(),
        )
        return with_subagents(parts)


def _is_unheard(record: RunRecord) -> bool:
    """Whether no model has answered this run yet: it can still end as if it had not begun."""
    state = LoopState.model_validate_json(record.state) if record.state is not None else None
    return state is None or (not state.turn and state.open is None)


async def _deliver(surface: Surface, outcome: Outcome) -> None:
    """Put the terminal up, patiently. Raises what the last attempt raised."""
    for pause in _DELIVERY_PAUSES:
        try:
            return await surface.finish(outcome)
        except LeaseLost:
            raise
        except Exception:
            log.exception("delivery failed", extra={"run_id": outcome.run_id})
            await asyncio.sleep(pause)
    return await surface.finish(outcome)
