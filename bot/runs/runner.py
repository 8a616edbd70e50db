"""A run from request to terminal message: load, bind, loop, save, deliver."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from bot.agent.handover import (
    caller_after,
    caller_after_failure,
    caller_without_answer,
    failed_exchange,
)
from bot.agent.interrupt import Interrupt
from bot.agent.state import LoopState
from bot.core.chain import CallerState, LedgerEntry
from bot.core.context import bound_request
from bot.core.errors import CorruptValue, LeaseLost, ModelErrorKind, StoreUnavailable
from bot.core.failpoints import failpoint
from bot.core.ids import new_id
from bot.core.outcome import Outcome, RunStatus, Silence, StopReason
from bot.core.request import Request
from bot.runs.audit_trail import RunAudit
from bot.runs.context.run_loader import bound_to
from bot.runs.narration import Narrator
from bot.runs.outcomes import begun_tools, broken, outcome_of, steps_of, without_secrets
from bot.runs.partial_results import with_findings
from bot.runs.policy.run_approvals import AwaitingApproval, RunApprovals, through
from bot.runs.queue.requeue import Requeue, has_work_left
from bot.runs.queue.revisions import refresh_edit
from bot.runs.run_deps import RunDeps
from bot.runs.run_events import EventSink
from bot.runs.surface import OpenSurface, Surface
from bot.services.processes.isolation import warm_processes
from bot.store import Lease, PendingEntry, Phase, Post, RunRecord, Stores

log = logging.getLogger(__name__)

_MOST_DEATHS = 3
"""Workers that may die under a run between two save points; then it is given up, as it would go on
killing them for ever."""

_MOST_DEATHS_POSTING = 10
"""The same while its outcome is posted: more, as the work is done and only Slack has to take it."""

_PAUSED_SECONDS = 15.0
"""Between two looks of a run with calls to make, as an approved one, while the bot is paused."""

_DELIVERY_PAUSES = (1.0, 2.0, 5.0, 10.0, 30.0)
"""Seconds between attempts to put up the terminal message."""


@dataclass(frozen=True, slots=True)
class Runner:
    """Works on one request at a time for each thread; the engine sees to the order."""

    equipment: RunDeps
    open_surface: OpenSurface

    def equipped(self, **changes: Any) -> Runner:
        """The same with other equipment."""
        return replace(self, equipment=replace(self.equipment, **changes))

    @property
    def _stores(self) -> Stores:
        return self.equipment.stores

    async def answer(self, request: Request, deaths: int = 0) -> Outcome:
        """Bring `request` to its one final message; `deaths` is how many workers died under it since
        its last save point.

        Safe to repeat: goes on from the last save point, and delivers what was decided before.
        Raises LeaseLost when another worker has taken the thread, StoreUnavailable when nothing
        can be kept, and Requeue while draining: then it is to be called again, there or elsewhere.
        Raises AwaitingApproval while people have to decide.
        """
        runs = self._stores.runs
        lease = await self._stores.leases.take(request.thread_key)
        failpoint("lease-taken")
        try:
            record = await runs.start(request, new_id("run"), lease)
        except CorruptValue:  # nobody knows what it had changed, so it is not done again
            log.exception("the record of a run is lost", extra={"request_id": request.id})
            record, deaths = await runs.start(request, new_id("run"), lease), _MOST_DEATHS
        failpoint("run-started")
        if record.outcome and record.phase is Phase.DELIVERED:
            return record.outcome
        post = runs.post(record.run_id, lease)
        revises = request.replaces or request.revises  # the first alone in earlier versions
        if revises and _is_new(record) and not await post.message():
            request = await refresh_edit(self._stores, request)
            await self._take_over(request, post)
        async with self.open_surface(request, post) as surface:
            asking = RunApprovals(
                *(request, record.run_id, self._stores.approvals, surface, lease),
                self._stores.audit.append,
            )
            given_up = deaths >= _most_deaths(record)
            if record.outcome and not given_up:
                outcome = await self._unless_withdrawn(record.outcome, request, lease)
            else:
                outcome = await self._decide(request, record, lease, asking, given_up=given_up)
            if _kills_when_posted(record, given_up=given_up):
                log.error(
                    "an outcome was not posted: its workers died", extra={"run_id": record.run_id}
                )
            else:
                await _deliver(surface, outcome)
            await asking.close(outcome.silent)
            failpoint("run-delivered")
            if not await runs.mark_delivered(record, is_stop_heard=False):
                decided = outcome
                outcome = await self._unless_withdrawn(decided, request, lease)
                if outcome is not decided:
                    await _deliver(surface, outcome)
                    await asking.close(outcome.silent)
                await runs.mark_delivered(record)
        failpoint("run-closed")
        return outcome

    async def _take_over(self, request: Request, post: Post) -> None:
        """The newest message of the runs whose question was edited becomes this one's: before it is
        begun, as later it may have left that for one below. A question that was deleted since leaves an
        answer where it is."""
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
        asking: RunApprovals,
        *,
        given_up: bool,
    ) -> Outcome:
        """Work out how the run ends, and keep that together with where the thread now stands."""
        caller = await self.equipment.beginnings.caller_state(request)
        audit = RunAudit(self._stores.audit, request, record.run_id)
        if record.state is None:
            await audit.begin()
        try:
            if given_up:
                log.error("given up: its workers died", extra={"run_id": record.run_id})
                outcome, after = await self._broken(request, record, asking), None
            else:
                outcome, after = await self._work(request, record, lease, asking, caller, audit)
        except (LeaseLost, StoreUnavailable, Requeue, AwaitingApproval):
            raise
        except Exception:
            # A bug of ours. It is logged with its trace; the person still gets an end.
            log.exception("run failed", extra={"run_id": record.run_id, "request_id": request.id})
            outcome, after = await self._broken(request, record, asking), None
        entries: list[LedgerEntry] = []
        if silent := await self._silence(request, outcome):
            outcome = outcome.model_copy(update={"silent": silent})
            after = caller_without_answer(after) if after else caller
        elif record.outcome:  # only its posting failed: the thread has its answer
            after = caller
        elif after is None:
            after, entries = await self._unanswered(request, record, caller, outcome)
        audit.end(outcome)
        await self._finish(request, outcome, after, lease, entries, await audit.due())
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
        """Keep how the run ends. One that says nothing owes an answer to what was asked besides."""
        joined = await self._stores.runs.joined(request.id) if outcome.silent else ()
        back = [each.id for each in await self._stores.mailbox.kept(joined) if each.counts]
        failpoint("run-finishing")
        await self._stores.runs.finish(
            *(outcome.run_id, outcome, after, lease),
            back=back,
            entries=entries,
            progress_of=request.id,
            on_record=on_record,
        )
        failpoint("run-finished")

    async def _unless_withdrawn(self, outcome: Outcome, request: Request, lease: Lease) -> Outcome:
        """Return how a run ends that has ended: without a word, if its question was deleted since."""
        if outcome.silent or await self._silence(request, outcome) is not Silence.WITHDRAWN:
            return outcome
        outcome = outcome.model_copy(update={"silent": Silence.WITHDRAWN})
        caller = await self.equipment.beginnings.caller_state(request)
        await self._finish(request, outcome, caller_without_answer(caller), lease)
        return outcome

    async def _work(
        self,
        request: Request,
        record: RunRecord,
        lease: Lease,
        asking: RunApprovals,
        caller: CallerState,
        audit: RunAudit,
    ) -> tuple[Outcome, CallerState | None]:
        """The loop, with everything kept as it happens. Returns no state of the thread where the
        model never took the question up."""
        equipment, run_id = self.equipment, record.run_id
        context, interrupt = equipment.context(request, run_id), Interrupt()
        here = await equipment.channels.of(request.team, request.channel)
        spending = equipment.spending(request, run_id, here, interrupt, asking.surface.show)
        async with self._stoppable(request, interrupt) as stopped_by, spending:
            if _is_unheard(record) and not await spending.admits(context.model):
                return spending.refusal(run_id), None
            if _has_calls_left(record) and await spending.rests() and not interrupt.requested:
                raise Requeue(_PAUSED_SECONDS)
            steering = await equipment.steering(request, record, here, interrupt)
            parts = await equipment.parts(context, interrupt, here, spending, steering)
            catalogue = parts.toolbox.catalogue
            state = await equipment.beginnings.first_state(
                request, record, lease, caller, catalogue, audit
            )
            spending.begin(state)
            noting = EventSink(
                *(request, record, lease, self._stores.runs, asking.surface, audit, steering),
                narrator=Narrator(request, run_id, state if record.state else None),
                draining=equipment.draining,
                state=state,
            )
            if record.state is not None:  # else nobody was asked anything yet
                await asking.settle()
            with bound_request(context):
                async with warm_processes():
                    ended = await through(state, parts, asking, noting.note)
                # Nobody may have decided in time, which the run found out itself.
                await asking.look()
                if ended.error:
                    ids = {"run_id": run_id, "model_request": ended.error.request_id}
                    log.error(
                        "the model service failed, which ended a run: %s", ended.error, extra=ids
                    )
                artifacts, joined = equipment.toolbox.artifacts, steering.joined
                outcome = await outcome_of(ended, context, artifacts, joined)
                outcome = await spending.ending(outcome, ended.done)
        is_stopped = outcome.status is RunStatus.CANCELLED
        stopper = stopped_by[0] if is_stopped and stopped_by else ""
        called_off = [each.title for each in await asking.undecided()] if is_stopped else ()
        done_or_begun = (*ended.state.done, *ended.state.unknown)
        made = equipment.toolbox.made_changes(step.tool for step in done_or_begun)
        changed = asking.decided_changes or made
        totals = outcome.totals.model_copy(
            update={"seconds": max(0.0, outcome.totals.seconds - asking.waited)}
        )
        facts = {"changed": changed, "stopped_by": stopper, "totals": totals}
        facts["called_off"] = tuple(called_off)
        outcome = with_findings(outcome.model_copy(update=facts), ended.state)
        after = caller_after(ended, model=context.model, bound_to=bound_to(request))
        return without_secrets(outcome), after

    async def _broken(self, request: Request, record: RunRecord, asking: RunApprovals) -> Outcome:
        """Return the failure of a run, with what it had done up to its last save point."""
        kept = await self._stores.runs.state(record.run_id)
        state, toolbox = _readable(kept) or LoopState(), self.equipment.toolbox
        outcome = broken(request, record.run_id, state, self.equipment.models[0])
        tools = [step.tool for step in (*steps_of(state), *state.unknown)] + begun_tools(state)
        changed = asking.decided_changes or toolbox.made_changes(tools)
        return without_secrets(outcome.model_copy(update={"changed": changed}))

    async def _unanswered(
        self, request: Request, record: RunRecord, before: CallerState, outcome: Outcome
    ) -> tuple[CallerState, list[LedgerEntry]]:
        """Return the thread with the question on its chain, for the next one to go on from, and what
        that adds to the ledger."""
        runs, bound = self._stores.runs, bound_to(request)
        joined = await self._stores.mailbox.kept(await runs.joined(request.id))
        is_refused = (
            outcome.error is ModelErrorKind.POLICY
        )  # the service would refuse the next, too
        texts = [] if is_refused else [each.text for each in (request, *joined)]
        items = failed_exchange(texts, outcome.note)
        if before.pending[-len(items) :] == items:  # asked once more, in vain
            return before, []
        was_noted = await runs.state(record.run_id) is not None
        new = items[-1:] if was_noted else items
        entry = LedgerEntry(run_id=record.run_id, items=new, bound_to=bound)
        return caller_after_failure(before, items, bound), [entry]

    @asynccontextmanager
    async def _stoppable(self, request: Request, interrupt: Interrupt) -> AsyncGenerator[list[str]]:
        """People may stop the run meanwhile; who did, in their order."""
        stopped_by: list[str] = []

        def stop(by: str) -> None:
            stopped_by.append(by)
            interrupt.request()

        if not request.counts:
            interrupt.request()
        async with self._stores.signals.watch(request.id, stop):
            yield stopped_by

    async def _silence(self, request: Request, outcome: Outcome) -> Silence | None:
        """Return why a run says nothing, however it ends: its question was deleted or edited."""
        kept = next(iter(await self._stores.mailbox.kept([request.id])), None)
        if kept is None:  # taken off its mailbox, or expired
            return Silence.WITHDRAWN if outcome.status is RunStatus.CANCELLED else None
        if kept.withdrawn:
            return Silence.WITHDRAWN
        return Silence.SUPERSEDED if kept.superseded else None


def _is_new(record: RunRecord) -> bool:
    """Whether nothing is kept of what it did."""
    return record.state is None and record.outcome is None


def _is_unheard(record: RunRecord) -> bool:
    """Whether no model has answered this run yet: it can still end as if it had not begun."""
    state = LoopState.model_validate_json(record.state) if record.state is not None else None
    return state is None or not (state.turn or state.open or state.ending)


def _readable(kept: str | None) -> LoopState | None:
    """Return the state of a save point; None when there is none, or none that can be read."""
    try:
        return LoopState.model_validate_json(kept) if kept is not None else None
    except ValueError:
        return None


def _most_deaths(record: RunRecord) -> int:
    """Return how many workers may die under a run since its last save point."""
    state = _readable(record.state)
    is_decided = record.outcome or (state and state.ending)
    return _MOST_DEATHS_POSTING if is_decided else _MOST_DEATHS


def _kills_when_posted(record: RunRecord, *, given_up: bool) -> bool:
    """Whether workers died while the plain failure itself was posted: there is nothing plainer."""
    failed = record.outcome and record.outcome.stop_reason is StopReason.INTERNAL_ERROR
    return given_up and bool(failed)


def _has_calls_left(record: RunRecord) -> bool:
    """Whether the run was left with calls to make, as one is that people were asked about."""
    state = _readable(record.state)
    return state is not None and state.open is not None and has_work_left(state.open)


async def _deliver(surface: Surface, outcome: Outcome) -> None:
    """Put the terminal up, patiently. Raises what the last attempt raised."""
    for pause in _DELIVERY_PAUSES:
        try:
            return await surface.finish(outcome)
        except LeaseLost:
            raise
        except Exception:
            ids = {"run_id": outcome.run_id}
            log.exception("The answer was not posted; tried again in %g s", pause, extra=ids)
            await asyncio.sleep(pause)
    return await surface.finish(outcome)
