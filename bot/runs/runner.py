"""The runner: takes a request to its final message. It loads, runs the loop, saves and delivers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from bot.agent.changes import changes_in
from bot.agent.events import Event, Paused, Recorded, RunEnded, SavePoint
from bot.agent.handover import (
    caller_after,
    caller_after_failure,
    caller_after_words,
    caller_without_answer,
    exchange_in_words,
)
from bot.agent.interrupt import Interrupt
from bot.agent.loop import run
from bot.agent.loop_deps import LoopDeps
from bot.agent.state import LoopState
from bot.core.chain import CallerState, Item, LedgerEntry
from bot.core.context import bound_request
from bot.core.errors import (
    CorruptValue,
    LeaseLost,
    ModelError,
    ModelErrorKind,
    StoreUnavailable,
)
from bot.core.failpoints import failpoint
from bot.core.findings import FigureCounts
from bot.core.ids import new_id
from bot.core.outcome import Outcome, RunStatus, SilentReason, StopReason
from bot.core.request import Entry, Request
from bot.library.isolated.pool import warm_processes
from bot.runs.audit_trail import RunAudit
from bot.runs.context.run_loader import bound_to, read_before
from bot.runs.narration import Narrator
from bot.runs.outcomes import (
    begun_tools,
    internal_failure,
    not_admitted,
    outcome_of,
    steps_of,
    without_secrets,
)
from bot.runs.partial_results import with_partial_results
from bot.runs.policy.own_data import accounts_missing, accounts_used
from bot.runs.policy.run_approvals import AwaitingApproval, RunApprovals
from bot.runs.queue.requeue import Held, Requeue, has_work_left
from bot.runs.queue.revisions import refresh_edit
from bot.runs.results.result_markdown import result_text
from bot.runs.run_deps import RunDeps
from bot.runs.run_events import EventSink
from bot.runs.surface import EndedBy, OpenSurface, Surface, never_ended
from bot.runs.watching import Listener
from bot.store import Lease, PendingEntry, Phase, PostedMessageRecord, RunRecord, Stores
from bot.text.translation import Text

log = logging.getLogger(__name__)

_MAX_DEATHS = 3
"""Workers that may die during a run between two save points. Then the run is given up, as it would
keep killing workers."""

_MAX_DEATHS_POSTING = 10
"""The same limit while an outcome is posted: higher, as the work is done and only posting is left."""

_LATE_SECONDS = 3.0  # Slack waits that long for an ack, and then sends an event again

_PERHAPS_ANSWERED = Text(
    "I was restored from a backup and do not know whether I have answered this. Retry if I have not."
)

_DELIVERY_PAUSES = (1.0, 2.0, 5.0, 10.0, 30.0)
"""Seconds between attempts to post the final message."""


@dataclass(frozen=True, slots=True)
class Runner:
    """A runner of requests. The engine calls it for one request at a time per thread, in order.

    `surfaces` are those of some entries instead of `open_surface`.
    """

    deps: RunDeps
    open_surface: OpenSurface
    ended_by: EndedBy = never_ended
    surfaces: Mapping[Entry, OpenSurface] = field(default_factory=dict)

    def with_deps(self, **changes: Any) -> Runner:
        """Return a runner with `changes` to its dependencies."""
        return replace(self, deps=replace(self.deps, **changes))

    @property
    def _stores(self) -> Stores:
        return self.deps.stores

    async def answer(self, request: Request, deaths: int = 0) -> Outcome:
        """Run `request` up to its one final message, and return its outcome.

        `deaths` is how many workers died during it since its last save point. Safe to repeat: a run
        resumes from its last save point, and a decided outcome is only delivered.
        Raises LeaseLost when another worker has taken the thread, StoreUnavailable when nothing can
        be saved, Requeue while draining (call it again, in any process), AwaitingApproval while people have
        to decide, and Held while the bot is paused.
        """
        runs = self._stores.runs
        lease = await self._stores.leases.take(request.thread_key)
        failpoint("lease-taken")
        try:
            record = await runs.start(request, new_id("run"), lease)
        except CorruptValue:  # the run may have changed something, so it is not repeated
            log.exception("the record of a run is unreadable", extra={"request_id": request.id})
            record, deaths = await runs.start(request, new_id("run"), lease), _MAX_DEATHS
        failpoint("run-started")
        if record.outcome and record.phase is Phase.DELIVERED:
            return record.outcome
        request = await self._with_audience(request, record)
        if await self._is_over(request, record):
            return await self._close(request, record, lease)
        if await self._must_wait(request, record):
            raise Held
        post = runs.messages(record.run_id, lease)
        revises = request.replaces or request.revises  # the first alone in earlier versions
        if revises and _is_new(record) and not await post.message():
            request = await refresh_edit(self._stores, request)
            await self._take_over(request, post)
        listeners = self.deps.listeners_to(request)
        with ExitStack() as running:
            for listener in listeners:
                running.enter_context(listener.running())
            open_surface = self.surfaces.get(request.entry, self.open_surface)
            async with open_surface(request, post) as surface:
                outcome = await self._answer_on(surface, request, record, lease, listeners, deaths)
        failpoint("run-closed")
        return outcome

    async def _answer_on(
        self,
        surface: Surface,
        request: Request,
        record: RunRecord,
        lease: Lease,
        listeners: Sequence[Listener],
        deaths: int,
    ) -> Outcome:
        """Decide the outcome of a run, unless it is decided, and deliver it."""
        stores = self._stores
        approvals = RunApprovals(
            request, record.run_id, stores.approvals, surface, lease, stores.audit.append
        )
        given_up = deaths >= _max_deaths(record)
        if record.outcome and not given_up:
            outcome = await self._silenced_if_withdrawn(record.outcome, request, lease)
        else:
            outcome = await self._decide(
                request, record, lease, approvals, listeners, given_up=given_up
            )
        if _failure_cannot_be_posted(record, given_up=given_up):
            log.error(
                "an outcome was not posted: its workers died", extra={"run_id": record.run_id}
            )
        else:
            await _deliver(surface, outcome, listeners)
        await approvals.close(outcome.silent)
        failpoint("run-delivered")
        if not await stores.runs.mark_delivered(record, is_stop_heard=False):
            decided = outcome
            outcome = await self._silenced_if_withdrawn(decided, request, lease)
            if outcome is not decided:
                await _deliver(surface, outcome, listeners)
                await approvals.close(outcome.silent)
            await stores.runs.mark_delivered(record)
        return outcome

    async def _is_over(self, request: Request, record: RunRecord) -> bool:
        """Return whether the question was answered or deleted, though Redis does not know that.

        A decided outcome in a message of this very run is only posted to its end.
        """
        may_be = request.restored or (_is_new(record) and _came_late(request))
        # Slack itself takes the result of a workflow's step only once.
        if not may_be or _leaves_no_trace(request) or request.entry is Entry.WORKFLOW_STEP:
            return False
        by = await self.ended_by(request)
        return by is not None and not (record.outcome and by == record.run_id)

    async def _must_wait(self, request: Request, record: RunRecord) -> bool:
        """Return whether the bot is paused before this run has begun.

        Who stops or deletes the question meanwhile need not wait.
        """
        is_waiting = _is_new(record) and _can_wait(request)
        if not is_waiting or await self.deps.budgets.paused() is None:
            return False
        return not await self._stores.signals.is_cancelled(request.id)

    async def _close(self, request: Request, record: RunRecord, lease: Lease) -> Outcome:
        """End a run whose question is over, without a word. Its thread stays as it is."""
        log.info("the thread shows its end already", extra={"request_id": request.id})
        silent = {"silent": SilentReason.SUPERSEDED}
        refused = not_admitted(request, record.run_id, StopReason.REQUEUED)
        outcome = record.outcome or refused.model_copy(update=silent)
        if record.outcome is None:
            caller = await self.deps.loader.caller_state(request)
            await self._finish(request, outcome, caller, lease)
        await self._stores.runs.mark_delivered(record)
        await self._stores.stale_statuses.add(request.thread_key)
        return outcome

    async def _with_audience(self, request: Request, record: RunRecord) -> Request:
        """Return the request, private if its asker keeps to themselves what the run finds."""
        if record.state is None or request.is_for_one:
            return request
        try:
            asked = await self._stores.approvals.of_run(record.run_id)
        except CorruptValue:
            return request
        if any(each.keeps_private for each in asked):
            return await self._stores.mailbox.keep_private(request)
        return request

    async def _take_over(self, request: Request, post: PostedMessageRecord) -> None:
        """Reuse the newest message of the runs that an edit replaces as the message of this run.

        Only before the run begins: later it may have moved to a message further down. If the
        question was deleted since, an answer stays where it is.
        """
        runs = self._stores.runs
        for run_id in reversed(request.replaces):
            before = await runs.outcome(run_id) if request.withdrawn else None
            is_answer = before is not None and not before.silent
            if not is_answer and (ts := await runs.message(run_id)):
                await post.save_message(ts)
                return

    async def _decide(
        self,
        request: Request,
        record: RunRecord,
        lease: Lease,
        approvals: RunApprovals,
        listeners: Sequence[Listener],
        *,
        given_up: bool,
    ) -> Outcome:
        """Run the loop to an outcome, and save the outcome with the thread's new state."""
        caller = await self.deps.loader.caller_state(request)
        audit = RunAudit(self._stores.audit, request, record.run_id)
        entries: list[LedgerEntry] = []
        if record.state is None:
            await audit.begin()
        try:
            if given_up:
                log.error("given up: its workers died", extra={"run_id": record.run_id})
                outcome, after = await self._failure(request, record, approvals), None
            elif request.restored and _leaves_no_trace(request):
                outcome, after = _perhaps_answered(request, record), None
            else:
                outcome, after, entries = await self._run_loop(
                    request, record, lease, approvals, caller, audit, listeners
                )
        except (LeaseLost, StoreUnavailable, Requeue, AwaitingApproval, Held):
            raise
        except Exception:
            # A bug: it is logged with its trace, and the person still gets a final message.
            log.exception("run failed", extra={"run_id": record.run_id, "request_id": request.id})
            outcome, after = await self._failure(request, record, approvals), None
        if after is None:  # the run may have brought the thread up to date before it failed
            caller = await self.deps.loader.caller_state(request)
        if silent := await self._silence(request, outcome):
            outcome = outcome.model_copy(update={"silent": silent})
            after, added = caller_without_answer(after) if after else (caller, ())
            entries += _entries_of(request, outcome.run_id, added)
        elif record.outcome:  # only posting failed: the thread's state has the answer already
            after = caller
        elif after is None:
            after, entries = await self._thread_after_failure(request, record, caller, outcome)
        audit.end(outcome)
        await self._finish(request, outcome, after, lease, entries, await audit.take_noted())
        await audit.settle()
        return outcome

    async def _finish(
        self,
        request: Request,
        outcome: Outcome,
        after: CallerState,
        lease: Lease,
        entries: Sequence[LedgerEntry] = (),
        on_record: Sequence[PendingEntry] = (),
    ) -> None:
        """Save the outcome. A silent outcome puts the requests that joined the run back in the
        mailbox."""
        joined = await self._stores.runs.joined(request.id) if outcome.silent else ()
        back = [each.id for each in await self._stores.mailbox.get_many(joined) if each.is_current]
        failpoint("run-finishing")
        await self._stores.runs.finish(
            outcome.run_id,
            outcome,
            after,
            lease,
            request=None if outcome.silent else request,
            back=back,
            entries=entries,
            progress_of=request.id,
            on_record=on_record,
            also=[] if outcome.silent else self._also(request, outcome),
        )
        failpoint("run-finished")

    def _also(self, request: Request, outcome: Outcome) -> list[tuple[Any, ...]]:
        """Return the commands that count the figures of an answer, and those after which the next
        direct message knows this exchange."""
        figures = FigureCounts.of(outcome.traced) if outcome.traced else FigureCounts()
        counting = self._stores.figures.counting(outcome.totals.model, figures)
        if not self.deps.direct.remembers(request):
            return counting
        return [*counting, *self._stores.direct.remembering(request, outcome.run_id)]

    async def _silenced_if_withdrawn(
        self, outcome: Outcome, request: Request, lease: Lease
    ) -> Outcome:
        """Return a decided outcome, made silent and saved again if its question was deleted since."""
        if outcome.silent or await self._silence(request, outcome) is not SilentReason.WITHDRAWN:
            return outcome
        outcome = outcome.model_copy(update={"silent": SilentReason.WITHDRAWN})
        caller = await self.deps.loader.caller_state(request)
        after, added = caller_without_answer(caller)
        entries = _entries_of(request, outcome.run_id, added)
        await self._finish(request, outcome, after, lease, entries)
        return outcome

    async def _run_loop(
        self,
        request: Request,
        record: RunRecord,
        lease: Lease,
        approvals: RunApprovals,
        caller: CallerState,
        audit: RunAudit,
        listeners: Sequence[Listener],
    ) -> tuple[Outcome, CallerState | None, list[LedgerEntry]]:
        """Run the loop, saving each step. Return the outcome, the thread's new state, and what the
        ledger needs for it.

        The state is None if no model has received the question.
        """
        deps, run_id = self.deps, record.run_id
        channel_settings = await deps.channels.of(request.team, request.channel)
        models = await deps.models_for(request, channel_settings, record)
        context, interrupt = deps.context(request, run_id, models), Interrupt()
        spending = deps.spending(
            request, run_id, channel_settings, interrupt, approvals.surface.show, listeners
        )
        async with self._stoppable(request, interrupt) as stopped_by, spending:
            if _has_no_response(record) and not await spending.admits(context.model):
                refused = spending.refusal(run_id)
                if refused.stop_reason is StopReason.PAUSED and _can_wait(request):
                    raise Held
                return refused, None, []
            if _has_calls_left(record) and await spending.is_paused() and not interrupt.requested:
                raise Held
            steering = await deps.steering(request, record, channel_settings, interrupt)
            parts = deps.parts_for(context, channel_settings)
            loop_deps = await deps.loop_deps(
                context, interrupt, channel_settings, spending, steering, parts, models
            )
            context, catalogue = loop_deps.context, loop_deps.toolbox.catalogue
            state, caller = await self.deps.loader.first_state(
                request, record, lease, caller, catalogue, audit, models.choice, parts
            )
            spending.begin(state)
            context.accounts.update(accounts_used(state))
            before = await read_before(self._stores, request, run_id)
            for part in parts:
                part.begin(*before, run_id)
            sink = EventSink(
                request,
                record,
                lease,
                self._stores.runs,
                approvals.surface,
                audit,
                steering,
                narrator=Narrator(request, run_id, state if record.state else None),
                listeners=(*listeners, *parts),
                draining=deps.draining,
                state=state,
            )
            if record.state is not None:  # a new run has not asked anybody yet
                await approvals.settle()
            with bound_request(context):
                async with warm_processes():
                    ended = await drive_loop(state, loop_deps, approvals, sink.note)
                # An approval may have expired meanwhile, which only the run notices.
                await approvals.load_decisions()
                if ended.error:
                    _log_failure(ended.error, run_id)
                context = replace(context, model=models.name(ended.state.fallback))
                artifacts, joined = deps.toolbox.artifacts, steering.joined
                with bound_request(context):
                    outcome = await outcome_of(ended, context, artifacts, joined)
                for part in reversed(parts):
                    outcome = part.complete(outcome, ended)
                outcome = await spending.ending(outcome, ended.done)
        facts = await self._facts(outcome, ended, approvals, stopped_by)
        effort = models.effort_of(context.model) or ""
        seconds = max(0.0, outcome.totals.seconds - approvals.waited)
        totals = outcome.totals.model_copy(update={"seconds": seconds, "effort": effort})
        outcome = outcome.model_copy(update={"totals": totals, **facts})
        outcome = without_secrets(
            with_partial_results(outcome, ended.state, loop_deps.toolbox.is_change)
        )
        after, added = caller_after(ended, caller, model=context.model, bound_to=bound_to(request))
        entries = _entries_of(request, outcome.run_id, added)
        if after and outcome.accounts and not request.is_for_one:
            after, entries = _in_words(outcome, caller, request, *joined)
        return outcome, after and _with_answered(after, request, *joined), entries

    async def _facts(
        self, outcome: Outcome, ended: RunEnded, approvals: RunApprovals, stopped_by: list[str]
    ) -> dict[str, Any]:
        """Return what the outcome tells of the run beside its result."""
        is_stopped, state = outcome.status is RunStatus.CANCELLED, ended.state
        undecided = await approvals.undecided() if is_stopped else ()
        made = self.deps.toolbox.made_changes(step.tool for step in (*state.done, *state.unknown))
        return {
            "stopped_by": stopped_by[0] if is_stopped and stopped_by else "",
            "called_off": tuple(each.title for each in undecided),
            "changed": approvals.decided_changes or made,
            "accounts": tuple(accounts_used(state).values()),
            "unconnected": tuple(accounts_missing(state)),
        }

    async def _failure(
        self, request: Request, record: RunRecord, approvals: RunApprovals
    ) -> Outcome:
        """Return the outcome of a failed run, with its steps up to its last save point."""
        kept = await self._stores.runs.state(record.run_id)
        state, toolbox = _decoded_state(kept) or LoopState(), self.deps.toolbox
        model = self.deps.models.models(state.choice).name(state.fallback)
        outcome = internal_failure(request, record.run_id, state, model)
        tools = [step.tool for step in (*steps_of(state), *state.unknown)] + begun_tools(state)
        changed = approvals.decided_changes or toolbox.made_changes(tools)
        return without_secrets(outcome.model_copy(update={"changed": changed}))

    async def _thread_after_failure(
        self, request: Request, record: RunRecord, before: CallerState, outcome: Outcome
    ) -> tuple[CallerState, list[LedgerEntry]]:
        """Return the thread's state and the ledger entries after a run without an answer.

        Both keep the question, so that the next run knows about it.
        """
        runs, bound = self._stores.runs, bound_to(request)
        joined = await self._stores.mailbox.get_many(await runs.joined(request.id))
        # The service would refuse the next question, too.
        is_refused = (
            outcome.error is ModelErrorKind.POLICY
            or outcome.stop_reason is StopReason.CONTENT_FILTER
        )
        texts = [] if is_refused else [each.text for each in (request, *joined)]
        own = [
            entry
            for entry in await self.deps.loader.history(request, record.run_id)
            if entry.run_id == record.run_id
        ]
        changes = changes_in(own, self.deps.toolbox.is_change)
        after, entry = caller_after_failure(
            before, texts, outcome.note, changes, run_id=record.run_id, bound_to=bound
        )
        return _with_answered(after, request, *joined), [entry]

    @asynccontextmanager
    async def _stoppable(self, request: Request, interrupt: Interrupt) -> AsyncGenerator[list[str]]:
        """Let people stop the run during the context. Yield the ids of those who did, in order."""
        stopped_by: list[str] = []

        def stop(by: str) -> None:
            stopped_by.append(by)
            interrupt.request()

        if not request.is_current:
            interrupt.request()
        async with self._stores.signals.watch(request.id, stop):
            yield stopped_by

    async def _silence(self, request: Request, outcome: Outcome) -> SilentReason | None:
        """Return why the run posts no answer: its question was deleted or edited. None if it posts."""
        kept = next(iter(await self._stores.mailbox.get_many([request.id])), None)
        if kept is None:  # withdrawn from its mailbox, or expired
            return SilentReason.WITHDRAWN if outcome.status is RunStatus.CANCELLED else None
        if kept.withdrawn:
            return SilentReason.WITHDRAWN
        return SilentReason.SUPERSEDED if kept.superseded else None


async def drive_loop(
    state: LoopState,
    deps: LoopDeps,
    approvals: RunApprovals,
    note: Callable[[Event], Awaitable[None]],
) -> RunEnded:
    """Run the loop to its end, passing each event to `approvals` and `note`.

    Raises AwaitingApproval while people have to decide, and Requeue when one has decided meanwhile.
    """
    while True:
        event: Event | None = None
        async with aclosing(run(state, deps)) as events:
            async for event in events:
                if isinstance(event, Recorded | SavePoint):
                    state = event.state
                await approvals.note(event)
                await note(event)
        match event:
            case RunEnded():
                return event
            case Paused(call_ids=ids):
                await approvals.wait(ids, deps.interrupt)
            case _:
                raise RuntimeError("the loop ended without RunEnded")


def _in_words(
    outcome: Outcome, before: CallerState, *asked: Request
) -> tuple[CallerState, list[LedgerEntry]]:
    """Return the state of a thread that knows of the run what people read, and its ledger entry."""
    said = "\n\n".join(filter(None, (outcome.note, result_text(outcome) if outcome.result else "")))
    items = exchange_in_words([each.text for each in asked], said)
    entry = LedgerEntry(run_id=outcome.run_id, items=items[-1:])  # the question is in the ledger
    return caller_after_words(before, items, None), [entry]


def _log_failure(error: ModelError, run_id: str) -> None:
    """Tell the operator why the model service ended a run, in its words: they often name the cure."""
    log.error(
        "the model service failed, which ended a run: %s%s",
        error,
        f" · it said: {error.said}" if error.said else "",
        extra={"run_id": run_id, "model_request": error.request_id},
    )


def _entries_of(request: Request, run_id: str, items: Sequence[Item]) -> list[LedgerEntry]:
    """Return the ledger entry of items that were added to the thread's state."""
    if not items:
        return []
    return [LedgerEntry(run_id=run_id, items=tuple(items), bound_to=bound_to(request))]


def _with_answered(caller: CallerState, *answered: Request) -> CallerState:
    """Return the state of a thread whose conversation has the messages of these requests."""
    return caller.with_known(ts for each in answered for ts in (each.ts, each.message))


def _is_new(record: RunRecord) -> bool:
    """Return whether the run has neither a save point nor an outcome."""
    return record.state is None and record.outcome is None


def _can_wait(request: Request) -> bool:
    """Return whether the request may wait for the end of a pause: people wait, programs do not."""
    is_of_program = request.entry in (Entry.WORKFLOW_STEP, Entry.HEADLESS)
    return request.is_current and not is_of_program


def _came_late(request: Request) -> bool:
    """Return whether the event was on its way for longer than Slack waits for an answer to it."""
    if not request.is_typed:
        return False
    return request.received_at.timestamp() - float(request.ts) > _LATE_SECONDS


def _leaves_no_trace(request: Request) -> bool:
    """Return whether no message shows later that the request was answered."""
    return request.private and not request.kept_private


def _perhaps_answered(request: Request, record: RunRecord) -> Outcome:
    """Return the outcome of a restored question of which nobody knows whether it was answered."""
    outcome = not_admitted(request, record.run_id, StopReason.REQUEUED)
    return outcome.model_copy(update={"note": _PERHAPS_ANSWERED()})


def _has_no_response(record: RunRecord) -> bool:
    """Return whether no model has responded in this run yet, so that it can end as if not begun."""
    state = LoopState.model_validate_json(record.state) if record.state is not None else None
    return state is None or not (state.turn or state.open or state.ending)


def _decoded_state(kept: str | None) -> LoopState | None:
    """Return the state of a save point; None when it is missing or unreadable."""
    try:
        return LoopState.model_validate_json(kept) if kept is not None else None
    except ValueError:
        return None


def _max_deaths(record: RunRecord) -> int:
    """Return how many workers may die during a run after its last save point."""
    state = _decoded_state(record.state)
    is_decided = record.outcome or (state and state.ending)
    return _MAX_DEATHS_POSTING if is_decided else _MAX_DEATHS


def _failure_cannot_be_posted(record: RunRecord, *, given_up: bool) -> bool:
    """Return whether workers died while even the plain failure message was posted."""
    failed = record.outcome and record.outcome.stop_reason is StopReason.INTERNAL_ERROR
    return given_up and bool(failed)


def _has_calls_left(record: RunRecord) -> bool:
    """Return whether a resumed run has tool calls left, such as one that waited for approval."""
    state = _decoded_state(record.state)
    return state is not None and state.open is not None and has_work_left(state.open)


async def _deliver(surface: Surface, outcome: Outcome, listeners: Sequence[Listener]) -> None:
    """Post the final message and tell the listeners, with retries. Raises the exception of the last
    attempt."""

    async def deliver_once() -> None:
        await surface.finish(outcome)
        for listener in listeners:
            await listener.on_end(outcome)

    for pause in _DELIVERY_PAUSES:
        try:
            return await deliver_once()
        except LeaseLost:
            raise
        except Exception:
            ids = {"run_id": outcome.run_id}
            log.exception("The answer was not posted; retrying in %g s", pause, extra=ids)
            await asyncio.sleep(pause)
    return await deliver_once()
