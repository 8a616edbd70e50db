"""A run: all that one attempt to answer a request works with, made once and handed to its parts."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel

from bot.agent import prompts
from bot.agent.builtin.complete_task import ResponseType
from bot.agent.builtin.shared_budget import ParentRun
from bot.agent.builtin.subagents import Subagents, with_subagents
from bot.agent.calls.call import Toolbox
from bot.agent.events import Event, FromSubagent, Recorded, SavePoint
from bot.agent.hooks.chain import Asker
from bot.agent.interrupt import Interrupt
from bot.agent.limits import Limits
from bot.agent.loop_deps import LoopDeps, Reported
from bot.agent.state import LoopState
from bot.core.chain import NO_USAGE, LedgerEntry
from bot.core.context import RequestContext
from bot.core.failpoints import failpoint
from bot.core.request import RepeatReason, Request
from bot.model import Model, RunModels
from bot.runs.audit_trail import RunAudit
from bot.runs.context.run_loader import bound_to
from bot.runs.narration import Narrator
from bot.runs.policy.approval_hook import ApprovalHook
from bot.runs.policy.channels import ChannelSettings
from bot.runs.policy.egress_guard import EgressGuard
from bot.runs.policy.own_data import accounts_used
from bot.runs.policy.preferences import PreferenceBook, Preferences
from bot.runs.policy.run_approvals import RunApprovals, Waits
from bot.runs.policy.spending import Spending
from bot.runs.queue.requeue import Requeue, can_requeue
from bot.runs.queue.steering import Change, Steering
from bot.runs.run_deps import RunDeps
from bot.runs.run_parts import RunPart
from bot.runs.surface import UNWATCHED, Surface
from bot.runs.watching import Listener, ModelCalled, bounded, doing, name_of, optional
from bot.store import Lease, Phase, RunRecord
from bot.store.values import Command
from bot.toolkit import FileReaders, Tool
from bot.toolkit.skill import Skill

log = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True, eq=False)
class Run:
    """One attempt to answer a request, or the work of a job, which calls tools or the model as runs do.

    - `channel`: the settings of the channel in which the request was made.
    - `saved`: the state at the last save point, None before the first. `has_advanced`: this attempt
      has made progress.
    - `joined`: further requests that the run answers.
    - `lease`: that of the thread; a job has none, and no `surface`.
    - `toolbox`: the tools that the run may call, once `loop_deps` has found them.
    - `context`: what tools see of the run. `waits`: what it waits for its asker to decide.
    - `broken`: why the parts of features could not be made; the run then fails, and says so.
    - `spending`, `steering`, `egress`, `approval`: the hooks that every run has. `parts`: what
      features add to it.
    """

    deps: RunDeps
    request: Request
    record: RunRecord
    channel: ChannelSettings
    models: RunModels
    saved: LoopState | None = None
    joined: Sequence[Request] = ()
    lease: Lease | None = None
    surface: Surface = UNWATCHED
    listeners: tuple[Listener, ...] = ()
    interrupt: Interrupt = field(default_factory=Interrupt)
    has_advanced: bool = False
    broken: Exception | None = None
    context: RequestContext = field(init=False)
    limits: Limits = field(init=False)
    waits: Waits = field(init=False)
    narrator: Narrator = field(init=False)
    audit: RunAudit = field(init=False)
    spending: Spending = field(init=False)
    steering: Steering = field(init=False)
    egress: EgressGuard = field(init=False)
    approval: ApprovalHook = field(init=False)
    approvals: RunApprovals = field(init=False)
    parts: tuple[RunPart, ...] = field(init=False)
    model: Model = field(init=False)
    toolbox: Toolbox = field(init=False)
    _hearing: dict[str, list[Listener]] = field(init=False)

    def __post_init__(self) -> None:
        deps, stores = self.deps, self.deps.stores
        self.toolbox = deps.toolbox
        hours = deps.policy.approval_hours
        self.limits = self.channel.limited(deps.limits)
        has_asked = not self.record.is_new
        self.waits = Waits(self.request, self.run_id, stores.approvals, hours, has_asked)
        self.audit = RunAudit(stores.audit, self.request, self.record)
        self.spending = Spending(self)
        self.steering = Steering(self)
        self.context = RequestContext(
            request=self.request,
            run_id=self.run_id,
            joined=self.steering.joined,
            model=self.models.names[0],
            temperature=deps.temperature,
            dry_run=deps.dry_run,
            extra=self.channel.extra,
        )
        self.egress = EgressGuard(
            self.steering.requests,
            deps.policy,
            self.history,
            self._tool_of,
        )
        self.approval = ApprovalHook(self)
        self.approvals = RunApprovals(self)
        self.model = self.spending.model(self.models.applied_to(deps.model))
        try:
            self.parts = tuple(part_for(self) for part_for in deps.parts)
        except Exception as error:  # noqa: BLE001 - a feature may be anybody's
            self.parts, self.broken = (), error
        self.narrator = Narrator(self.request, self.run_id, self.saved)
        self.listeners = (self.narrator, *self.listeners, *self.parts)
        self._hearing = {
            method: doing(method, self.listeners, Listener)
            for method in ("on_event", "on_model_call")
        }

    @classmethod
    async def load(
        cls,
        deps: RunDeps,
        request: Request,
        record: RunRecord,
        lease: Lease,
        surface: Surface,
        listeners: Sequence[Listener],
        interrupt: Interrupt,
    ) -> Run:
        """Return the run of a request. An unreadable save point counts as none."""
        channel, saved = (
            await deps.channels.of(request.team, request.channel),
            decoded(record.state),
        )
        joined = await deps.stores.mailbox.get_many(record.joined)
        return cls(
            deps=deps,
            request=request,
            record=record,
            channel=channel,
            models=await _models(deps, request, channel, saved),
            saved=saved,
            joined=[joining for joining in joined if joining.is_current],
            lease=lease,
            surface=surface,
            listeners=tuple(listeners),
            interrupt=interrupt,
        )

    @classmethod
    def of_job(cls, deps: RunDeps, request: Request, channel: ChannelSettings, run_id: str) -> Run:
        """Return what works like a run for a job that `request` asks for."""
        return cls(
            deps=deps,
            request=request,
            record=RunRecord(run_id, request.id, request.thread_key, Phase.RUNNING),
            channel=channel,
            models=deps.models.models(""),
            listeners=(*deps.observed(request), *deps.listeners_to(request)),
        )

    @property
    def run_id(self) -> str:
        return self.record.run_id

    @property
    def held_lease(self) -> Lease:
        """The lease of the thread. Raises RuntimeError in a job."""
        if self.lease is None:
            raise RuntimeError("a job holds no thread")
        return self.lease

    async def tell(self, event: Event) -> None:
        """Let the listeners hear an event, and show it."""
        self.audit.on_event(event)  # what cannot be audited ends the run
        self.hear("on_event", event)
        await self.surface.show(event)

    def hear(self, method: str, news: Event | ModelCalled) -> None:
        """Tell `method` of each listener the news, but of none that has raised before."""
        for listener in self._hearing[method]:
            try:
                getattr(listener, method)(news)
            except Exception:
                for each, hearing in self._hearing.items():
                    self._hearing[each] = [other for other in hearing if other is not listener]
                log.exception("%s failed, and hears no more of its run", name_of(listener))

    async def note(self, event: Event) -> None:
        """Save an event, then let listeners hear it, and show it.

        Raises LeaseLost, StoreUnavailable, and Requeue at the first event after which the run can
        stop once the process drains.
        """
        if isinstance(event, Recorded | SavePoint):
            await self._save_step(event)
        if isinstance(event, FromSubagent) and isinstance(event.event, Recorded):
            await self.deps.stores.runs.note_response(event.event.entry, self.held_lease)
        if self.deps.draining.is_set() and can_requeue(event):
            self.narrator.requeued()
            raise Requeue
        for news in (event, *self.steering.news()):
            await self.tell(news)

    async def _save_step(self, event: Recorded | SavePoint) -> None:
        """Save the loop's state and its additions to the conversation before the loop goes on."""
        state, entries = event.state, list[LedgerEntry]()
        if isinstance(event, Recorded):
            reader = self.reader_of(state)
            entry = event.entry
            entries = [entry.model_copy(update={"bound_to": reader}) if reader else entry]
        change = self.steering.change(state)
        begins_changes = self.audit.note_begun(state)
        # Once per attempt: progress resets the count of deaths, and only a new attempt adds to it.
        advances = not self.has_advanced and _has_moved(self.saved or LoopState(), state)
        progress_of = self.request.id if advances else ""
        failpoint("step-keeping")
        await self.save(state, entries, change, progress_of=progress_of, goes_on=True)
        if begins_changes:
            await self.audit.settle()
        self.has_advanced |= advances
        failpoint("step-kept")

    async def save(
        self,
        state: LoopState,
        entries: Sequence[LedgerEntry],
        change: Change | None = None,
        **more: Any,
    ) -> None:
        """Save the state of the loop with what belongs to it: calls that were charged since the last
        save point, audit entries, and the `change` of the requests that the run answers.

        `more` are further arguments of `Runs.save_point`. Raises LeaseLost and StoreUnavailable.
        """
        stores, charges = self.deps.stores, self.spending.charges()
        # Only before the model is asked it matters whether the bot is paused, or others wait.
        reads = list[Command]()
        if state.open is None and state.ending is None:
            reads = [stores.pause.reading(), stores.mailbox.counting(self.request.thread_key)]
        replies = await stores.runs.save_point(
            self.run_id,
            state.model_dump_json(),
            self.held_lease,
            entries,
            joining=[request.id for request in change.joining] if change else (),
            joined=[request.id for request in change.joined] if change else None,
            on_record=self.audit.take_noted(),
            charges=[*charges.values()],
            reads=reads,
            **more,
        )
        self.spending.on_saved(charges)
        self.steering.on_saved(change)
        if replies:
            pause, waiting = replies
            self.spending.on_switch_read(stores.pause.decoded(pause))
            self.steering.on_counted(waiting)
        self.saved = state

    def reader_of(self, state: LoopState) -> str | None:
        """Return the only person who may read what the run adds to the conversation; None for all.

        Others may read the answer of a run that used a personal account, and not what it is made of.
        """
        if accounts_used(state) and not self.request.is_for_one:
            return self.request.user
        return bound_to(self.request)

    async def history(self) -> Sequence[LedgerEntry]:
        """Return the ledger entries of the thread that the run may see."""
        return await self.deps.loader.history(self.request, self.run_id)

    async def loop_deps(self) -> LoopDeps:
        """Return the dependencies of the loop, with the channel's settings applied.

        Raises what a feature raised whose part could not be made: no call may miss its hook.
        """
        if self.broken:
            raise self.broken
        deps, allowed, known = self.deps, self.channel.tools, self.deps.toolbox.catalogue
        await deps.clients.settle()
        readers = FileReaders(tuple(part.file_reader for part in self.parts if part.file_reader))
        services = {**deps.clients.open, **deps.toolbox.services, FileReaders: readers}
        withheld = {name for part in self.parts for name in part.withheld}
        own = known.served_by({*services, ParentRun, Subagents}).without(withheld)
        account = self.request.user if self.request.is_personal else ""
        of_servers = await deps.server_tools.tools(allowed, account)
        more = [tool for tool in of_servers if tool.name not in withheld]
        skills = [skill for skill in await self._skills() if skill.name not in withheld]
        listed = self.limits.listed_tools
        catalogue = deps.toolset_cache.catalogue(own, more, allowed, listed, skills)
        missing = deps.clients.missing(known.only(allowed).tools)
        request = self.request
        person = f"{request.team}:{request.user}"
        wishes = await _wishes(deps, request)
        self.toolbox = replace(deps.toolbox, catalogue=catalogue, services=services)
        loop_deps = LoopDeps(
            model=self.model,
            models=self.models.names,
            prices=deps.prices,
            toolbox=self.toolbox,
            response_type=await ResponseType.of(self.request),
            limits=self.limits,
            interrupt=self.interrupt,
            context=self.context,
            history=self.history,
            instructions=prompts.instructions(
                self.channel.instructions,
                (*deps.server_tools.missing(allowed), *missing),
                [part.instructions for part in self.parts if part.instructions],
                prompts.answer_style(request.author, wishes.style),
                self.channel.style,
            ),
            hooks=deps.hooks_for(self),
            traits=deps.traits,
            user_hash=hashlib.sha256(person.encode()).hexdigest(),
            asker=next((part.asker for part in self.parts if part.asker), Asker()),
            trace_report=self._trace_report,
        )
        return with_subagents(loop_deps)

    async def _skills(self) -> list[Skill]:
        skills = list[Skill]()
        for part in doing("skills", self.parts, RunPart):
            async with bounded(part, "skills"):
                skills += await part.skills()
        return skills

    def _tool_of(self, name: str) -> Tool | None:
        return self.toolbox.catalogue.get(name)

    def _trace_report(self, report: BaseModel, conversation: Sequence[LedgerEntry]) -> Reported:
        for part in doing("trace_report", self.parts, RunPart):
            with optional(part, "trace_report"):
                if traced := part.trace_report(report, conversation):
                    return traced
        return Reported(report)


async def _models(
    deps: RunDeps, request: Request, channel: ChannelSettings, saved: LoopState | None
) -> RunModels:
    """Return the models of a run: a resumed one keeps those with which it began.

    What the asker chose counts before what an admin chose for the channel. *Look deeper* has a choice
    of its own.
    """
    models = deps.models
    if saved is not None:
        return models.models(saved.choice)
    if not models.choices:
        return models.models("")
    own = (await _wishes(deps, request)).model
    deeper = models.deeper if request.again is RepeatReason.DEEPER else ""
    return models.models(models.first_of(deeper, own, channel.model))


async def _wishes(deps: RunDeps, request: Request) -> Preferences:
    """Return what the asker has set for themselves, if the run may use it."""
    if not request.is_personal:
        return Preferences()
    return await PreferenceBook(deps.stores.preferences).of(request.team, request.user)


def _has_moved(before: LoopState, now: LoopState) -> bool:
    """Return whether more than the spending has changed between two states.

    A sub-agent that starts over after each death spends each time without advancing the run.
    """
    spent = {"usage": NO_USAGE, "cost": None, "tool_calls": 0, "elapsed": 0.0}
    return before.model_copy(update=spent) != now.model_copy(update=spent)


def decoded(state: str | None) -> LoopState | None:
    """Return the state of a save point; None when it is missing or unreadable."""
    try:
        return LoopState.model_validate_json(state) if state is not None else None
    except ValueError:
        return None
