"""The runner: takes a request to its final message. It loads, runs the loop, saves and delivers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import ExitStack, aclosing
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

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
from bot.agent.window import changes_in
from bot.core.audit import OF_FEATURES
from bot.core.chain import CallerState, Item, LedgerEntry
from bot.core.context import bound_request
from bot.core.errors import CorruptValue, LeaseLost, ModelError, ModelErrorKind, StoreUnavailable
from bot.core.failpoints import failpoint
from bot.core.ids import new_id
from bot.core.outcome import Outcome, RunStatus, SilentReason, StopReason
from bot.core.request import Request
from bot.library.isolated.pool import warm_processes
from bot.runs.context.answer_locale import locale_of_result
from bot.runs.context.run_loader import bound_to
from bot.runs.outcomes import (
    begun_tools,
    internal_failure,
    not_admitted,
    outcome_of,
    steps_of,
    with_partial_results,
    without_secrets,
)
from bot.runs.policy.own_data import accounts_missing, accounts_used
from bot.runs.policy.run_approvals import AwaitingApproval
from bot.runs.queue.requeue import Held, Requeue, has_work_left
from bot.runs.queue.revisions import refresh_edit
from bot.runs.results.result_markdown import result_text
from bot.runs.run import Run, decoded
from bot.runs.run_deps import RunDeps
from bot.runs.run_parts import RunPart
from bot.runs.watching import Listener, bounded, doing, name_of, optional
from bot.store import Lease, PendingEntry, Phase, PostedMessageRecord, RunRecord, Stores
from bot.store.values import Command, sendable
from bot.text.translation import Text, load_catalogue, reader

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


class Decided(NamedTuple):
    """The outcome of a run, the new state of its thread, and what is added to the ledger.

    `after` is None if no model has received the question.
    """

    outcome: Outcome
    after: CallerState | None = None
    entries: Sequence[LedgerEntry] = ()


@dataclass(frozen=True, slots=True)
class Runner:
    """A runner of requests. The engine calls it for one request at a time per thread, in order."""

    deps: RunDeps

    def with_deps(self, **changes: Any) -> Runner:
        """Return a runner with `changes` to its dependencies."""
        return Runner(replace(self.deps, **changes))

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
        runs, interrupt = self._stores.runs, Interrupt()
        with self._stores.signals.watched(request.id, interrupt.stop):
            try:
                lease, record = await runs.start(request, new_id("run"))
            except CorruptValue:  # the run may have changed something, so it is not repeated
                log.exception("the record of a run is unreadable", extra={"request_id": request.id})
                lease, record = await runs.start(request, new_id("run"))
                deaths = _MAX_DEATHS
            failpoint("run-started")
            if record.stopped_by:
                interrupt.stop(record.stopped_by)
            return await self._answer(request, record, lease, interrupt, deaths)

    async def _answer(
        self,
        request: Request,
        record: RunRecord,
        lease: Lease,
        interrupt: Interrupt,
        deaths: int,
    ) -> Outcome:
        """Take a run that was started to its final message."""
        if record.outcome and record.phase is Phase.DELIVERED:
            return record.outcome
        request = await self._with_audience(request, record)
        if await self._is_over(request, record):
            return await self._close(request, record, lease)
        must_wait = record.pause and record.is_new and _can_wait(request)
        if must_wait and not interrupt.requested:
            raise Held
        post = self._stores.runs.messages(record.run_id, lease, record.posted)
        revises = request.replaces or request.revises  # the first alone in earlier versions
        if revises and record.is_new and not await post.message():
            request = await refresh_edit(self._stores, request)
            await self._take_over(request, post)
        observed = self.deps.observed(request)
        listeners = (*observed, *self.deps.listeners_to(request))
        with ExitStack() as running:
            for listener in observed:
                running.enter_context(listener.running())
            async with self.deps.frontend.surface(request, post) as surface:
                run = await Run.load(
                    self.deps, request, record, lease, surface, listeners, interrupt
                )
                outcome = await self._conclude(run, deaths)
        failpoint("run-closed")
        return outcome

    async def _conclude(self, run: Run, deaths: int) -> Outcome:
        """Decide the outcome of a run, unless it is decided, and deliver it."""
        record, runs = run.record, self._stores.runs
        given_up = deaths >= _max_deaths(run)
        if record.outcome and not given_up:
            outcome = await self._silenced_if_withdrawn(run, record.outcome)
        else:
            outcome = await self._decide(run, given_up=given_up)
        if _failure_cannot_be_posted(record, given_up=given_up):
            log.error("an outcome was not posted: its workers died", extra={"run_id": run.run_id})
        else:
            await _deliver(run, outcome)
        await run.approvals.close(outcome.silent)
        failpoint("run-delivered")
        if not await runs.mark_delivered(record, is_stop_heard=False):
            decided = outcome
            outcome = await self._silenced_if_withdrawn(run, decided)
            if outcome is not decided:
                await _deliver(run, outcome)
                await run.approvals.close(outcome.silent)
            await runs.mark_delivered(record)
        return outcome

    async def _is_over(self, request: Request, record: RunRecord) -> bool:
        """Return whether the question was answered or deleted, though Redis does not know that.

        A decided outcome in a message of this very run is only posted to its end.
        """
        may_be = request.restored or (record.is_new and _came_late(request))
        if not may_be or _leaves_no_trace(request) or request.is_of_program:
            return False
        by = await self.deps.frontend.ended_by(request)
        return by is not None and not (record.outcome and by == record.run_id)

    async def _close(self, request: Request, record: RunRecord, lease: Lease) -> Outcome:
        """End a run whose question is over, without a word. Its thread stays as it is."""
        log.info("the thread shows its end already", extra={"request_id": request.id})
        silent = {"silent": SilentReason.SUPERSEDED}
        refused = not_admitted(request, record.run_id, StopReason.REQUEUED)
        outcome = record.outcome or refused.model_copy(update=silent)
        if record.outcome is None:
            caller = await self.deps.loader.caller_state(request)
            await self._finish(request, lease, Decided(outcome, caller))
        await self._stores.runs.mark_delivered(record)
        await self._stores.stale_statuses.add(request.thread_key)
        return outcome

    async def _with_audience(self, request: Request, record: RunRecord) -> Request:
        """Return the request, private if its asker keeps to themselves what the run finds."""
        if record.state is None or request.is_for_one:
            return request
        try:
            approvals = await self._stores.approvals.of_run(record.run_id)
        except CorruptValue:
            return request
        if any(approval.keeps_private for approval in approvals):
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

    async def _decide(self, run: Run, *, given_up: bool) -> Outcome:
        """Run the loop to an outcome, and save the outcome with the thread's new state."""
        request, audit, ids = run.request, run.audit, {"run_id": run.run_id}
        caller = await self.deps.loader.caller_state(request)
        if run.record.state is None:
            audit.begin()
        try:
            if given_up:
                log.error("given up: its workers died", extra=ids)
                decided = Decided(await self._failure(run))
            elif request.restored and _leaves_no_trace(request):
                decided = Decided(_perhaps_answered(run))
            else:
                decided = await self._work(run, caller)
        except (LeaseLost, StoreUnavailable, Requeue, AwaitingApproval, Held):
            raise
        except Exception:
            # A bug: it is logged with its trace, and the person still gets a final message.
            log.exception("run failed", extra={**ids, "request_id": request.id})
            decided = Decided(await self._failure(run))
        outcome, after, entries = decided
        if after is None:  # the run may have brought the thread up to date before it failed
            caller = await self.deps.loader.caller_state(request)
        if silent := await self._silence(request, outcome):
            outcome = outcome.model_copy(update={"silent": silent})
            after, added = caller_without_answer(after) if after else (caller, ())
            entries = [*entries, *_entries_of(request, outcome.run_id, added)]
        elif run.record.outcome:  # only posting failed: the thread's state has the answer already
            after = caller
        elif after is None:
            after, entries = await self._thread_after_failure(run, caller, outcome)
        audit.end(outcome, _audit_facts(run.parts, outcome))
        decided = Decided(outcome, after, entries)
        await self._finish(request, run.held_lease, decided, audit.take_noted(), run.parts)
        await audit.settle()
        return outcome

    async def _finish(
        self,
        request: Request,
        lease: Lease,
        decided: Decided,
        on_record: Sequence[PendingEntry] = (),
        parts: Sequence[RunPart] = (),
    ) -> None:
        """Save the outcome. A silent outcome puts the requests that joined the run back in the
        mailbox."""
        outcome, after, entries = decided
        assert after  # noqa: S101 - every thread has a state once its run is decided
        joined = await self._stores.runs.joined(request.id) if outcome.silent else ()
        waiting = await self._stores.mailbox.get_many(joined)
        if waiting and outcome.silent is SilentReason.WITHDRAWN:
            answers = await self._answers(outcome.run_id)
            waiting = [joining for joining in waiting if joining.ts not in answers]
        failpoint("run-finishing")
        of_parts = [] if outcome.silent else _commands_of(parts, outcome)
        failures = await self._stores.runs.finish(
            outcome.run_id,
            outcome,
            after,
            lease,
            request=None if outcome.silent else request,
            back=[joining.id for joining in waiting if joining.is_current],
            entries=entries,
            progress_of=request.id,
            on_record=on_record,
            also=[] if outcome.silent else self._remembering(request, outcome),
            may_fail=[command for _, command in of_parts],
        )
        failpoint("run-finished")
        for (part, command), failure in zip(of_parts, failures, strict=True):
            if failure:
                log.error("%s of %s failed: %s", command[0], name_of(part), failure)

    def _remembering(self, request: Request, outcome: Outcome) -> list[Command]:
        """Return the commands after which the next direct message knows this exchange."""
        if not self.deps.direct.remembers(request):
            return []
        return self._stores.direct.remembering(request, outcome.run_id)

    async def _answers(self, run_id: str) -> set[str]:
        """Return the ts of the messages that only answered a question of the run."""
        try:
            records = await self._stores.approvals.of_run(run_id)
        except CorruptValue:
            return set()
        decisions = [record.decision for record in records if record.decision]
        return {str((decision.answer or {}).get("message")) for decision in decisions}

    async def _silenced_if_withdrawn(self, run: Run, outcome: Outcome) -> Outcome:
        """Return a decided outcome, made silent and saved again if its question was deleted since."""
        request = run.request
        if outcome.silent or await self._silence(request, outcome) is not SilentReason.WITHDRAWN:
            return outcome
        outcome = outcome.model_copy(update={"silent": SilentReason.WITHDRAWN})
        after, added = caller_without_answer(await self.deps.loader.caller_state(request))
        entries = _entries_of(request, outcome.run_id, added)
        await self._finish(request, run.held_lease, Decided(outcome, after, entries))
        return outcome

    async def _work(self, run: Run, caller: CallerState) -> Decided:
        """Run the loop, saving each step, unless the run may not begin or must wait."""
        if not run.request.is_current:
            run.interrupt.request()
        async with run.spending:
            if refused := await self._refusal(run):
                return Decided(refused)
            loop_deps = await run.loop_deps()
            catalogue = loop_deps.toolbox.catalogue
            state, caller, read = await self.deps.loader.first_state(run, caller, catalogue)
            run.spending.begin(state)
            run.context.accounts.update(accounts_used(state))
            for part in run.parts:
                part.begin(*read, run.run_id)
            await run.approvals.settle()
            with bound_request(loop_deps.context):
                async with warm_processes():
                    ended = await drive_loop(state, loop_deps, run)
            await run.approvals.load_decisions()
            if ended.error:
                _log_failure(ended.error, run.run_id)
            outcome = await self._outcome(run, ended, loop_deps)
        return _decided(run, ended, outcome, caller)

    async def _refusal(self, run: Run) -> Outcome | None:
        """Return the outcome of a run that may not begin, None for one that may go on.

        Raises Held if the run can wait for the end of a pause.
        """
        spending = run.spending
        if _has_no_response(run) and not await spending.admits(run.models.names[0]):
            refused = spending.refusal()
            if refused.stop_reason is StopReason.PAUSED and _can_wait(run.request):
                raise Held
            return refused
        if _has_calls_left(run) and run.record.pause and not run.interrupt.requested:
            raise Held
        return None

    async def _outcome(self, run: Run, ended: RunEnded, loop_deps: LoopDeps) -> Outcome:
        """Return the outcome of a run that ended in the loop, as people may read it, in their language."""
        result = ended.result.model_dump(mode="json") if ended.result else None
        draft = ended.state.ending.draft if ended.state.ending else ""
        locale = locale_of_result(run.request, result, draft)
        await load_catalogue(locale)
        with reader(locale):
            outcome = await self._outcome_in_words(run, ended, loop_deps)
        return without_secrets(outcome.model_copy(update={"locale": locale}))

    async def _outcome_in_words(self, run: Run, ended: RunEnded, loop_deps: LoopDeps) -> Outcome:
        state, approvals = ended.state, run.approvals
        model = run.models.name(state.fallback)
        context = replace(loop_deps.context, model=model)
        with bound_request(context):
            artifacts = self.deps.toolbox.artifacts
            outcome = await outcome_of(ended, context, artifacts, run.steering.joined)
        outcome = await run.spending.ending(outcome, ended.done)
        is_stopped = outcome.status is RunStatus.CANCELLED
        undecided = await approvals.undecided() if is_stopped else ()
        made = self.deps.toolbox.made_changes(step.tool for step in (*state.done, *state.unknown))
        seconds = max(0.0, outcome.totals.seconds - approvals.waited)
        effort = run.models.effort_of(model) or ""
        totals = {"seconds": seconds, "effort": effort, "profile": run.channel.title}
        facts = {
            "totals": outcome.totals.model_copy(update=totals),
            "stopped_by": run.interrupt.stopped_by if is_stopped else "",
            "called_off": tuple(a.title for a in undecided if not a.is_question),
            "changed": approvals.decided_changes or made,
            "accounts": tuple(accounts_used(state).values()),
            "unconnected": tuple(accounts_missing(state)),
        }
        outcome = outcome.model_copy(update=facts)
        for part in reversed(doing("complete", run.parts, RunPart)):
            with optional(part, "complete"):
                outcome = Outcome.model_validate(part.complete(outcome, ended))
        return with_partial_results(outcome, state, loop_deps.toolbox.is_change)

    async def _failure(self, run: Run) -> Outcome:
        """Return the outcome of a failed run, with its steps up to its last save point."""
        state = decoded(await self._stores.runs.state(run.run_id)) or LoopState()
        model = self.deps.models.models(state.choice).name(state.fallback)
        outcome = internal_failure(run.request, run.run_id, state, model)
        tools = [step.tool for step in (*steps_of(state), *state.unknown)] + begun_tools(state)
        changed = run.approvals.decided_changes or self.deps.toolbox.made_changes(tools)
        return without_secrets(outcome.model_copy(update={"changed": changed}))

    async def _thread_after_failure(
        self, run: Run, before: CallerState, outcome: Outcome
    ) -> tuple[CallerState, list[LedgerEntry]]:
        """Return the thread's state and the ledger entries after a run without an answer.

        Both keep the question, so that the next run knows about it.
        """
        request = run.request
        joined = await self._stores.mailbox.get_many(await self._stores.runs.joined(request.id))
        # The service would refuse the next question, too.
        is_refused = (
            outcome.error is ModelErrorKind.POLICY
            or outcome.stop_reason is StopReason.CONTENT_FILTER
        )
        texts = [] if is_refused else [question.text for question in (request, *joined)]
        own = [entry for entry in await run.history() if entry.run_id == run.run_id]
        changes = changes_in(own, self.deps.toolbox.is_change)
        after, entry = caller_after_failure(
            before, texts, outcome.note, changes, run_id=run.run_id, bound_to=bound_to(request)
        )
        return _with_answered(after, request, *joined), [entry]

    async def _silence(self, request: Request, outcome: Outcome) -> SilentReason | None:
        """Return why the run posts no answer: its question was deleted or edited, or nobody asked it and
        it has nothing to say. None if it posts."""
        stored = next(iter(await self._stores.mailbox.get_many([request.id])), None)
        if stored is None:  # withdrawn from its mailbox, or expired
            return SilentReason.WITHDRAWN if outcome.status is RunStatus.CANCELLED else None
        if stored.withdrawn:
            return SilentReason.WITHDRAWN
        if stored.superseded:
            return SilentReason.SUPERSEDED
        return SilentReason.NOTHING if request.is_by_rule and outcome.result is None else None


async def drive_loop(state: LoopState, deps: LoopDeps, current: Run) -> RunEnded:
    """Run the loop of the `current` run to its end, noting each event.

    Raises AwaitingApproval while people have to decide, and Requeue when one has decided meanwhile.
    """
    while True:
        event: Event | None = None
        async with aclosing(run(state, deps)) as events:
            async for event in events:
                if isinstance(event, Recorded | SavePoint):
                    state = event.state
                await current.approvals.note(event)
                await current.note(event)
        match event:
            case RunEnded():
                return event
            case Paused(call_ids=ids):
                await current.approvals.wait(ids, deps.interrupt)
            case _:
                raise RuntimeError("the loop ended without RunEnded")


def _decided(run: Run, ended: RunEnded, outcome: Outcome, before: CallerState) -> Decided:
    """Return the outcome with what it makes of the thread, whose state was `before`."""
    request, answered = run.request, (run.request, *run.steering.joined)
    after, added = caller_after(
        ended, before, model=outcome.totals.model, bound_to=bound_to(request)
    )
    entries = _entries_of(request, outcome.run_id, added)
    if after and outcome.accounts and not request.is_for_one:
        after, entries = _in_words(outcome, before, *answered)
    return Decided(outcome, after and _with_answered(after, *answered), entries)


def _in_words(
    outcome: Outcome, before: CallerState, *requests: Request
) -> tuple[CallerState, list[LedgerEntry]]:
    """Return the state of a thread that knows of the run what people read, and its ledger entry."""
    answer = "\n\n".join(
        filter(None, (outcome.note, result_text(outcome) if outcome.result else ""))
    )
    items = exchange_in_words([request.text for request in requests], answer)
    entry = LedgerEntry(run_id=outcome.run_id, items=items[-1:])  # the question is in the ledger
    return caller_after_words(before, items, None), [entry]


def _audit_facts(parts: Sequence[RunPart], outcome: Outcome) -> dict[str, int]:
    """Return what features put on record about an outcome."""
    facts = dict[str, int]()
    for part in doing("audit_facts", parts, RunPart):
        with optional(part, "audit_facts"):
            counts = part.audit_facts(outcome)
            facts |= {field: int(counts[field]) for field in OF_FEATURES if field in counts}
    return facts


def _commands_of(parts: Sequence[RunPart], outcome: Outcome) -> list[tuple[RunPart, Command]]:
    """Return what features save with an outcome, each command with its part."""
    commands = list[tuple[RunPart, Command]]()
    for part in doing("saving", parts, RunPart):
        with optional(part, "saving"):
            commands += [(part, sendable(command)) for command in part.saving(outcome)]
    return commands


def _log_failure(error: ModelError, run_id: str) -> None:
    """Tell the operator why the model service ended a run, in its words: they often name the cure."""
    log.error(
        "the model service failed, which ended a run: %s%s",
        error,
        f" · it said: {error.said}" if error.said and error.said not in str(error) else "",
        extra={"run_id": run_id, "model_request": error.request_id},
    )


def _entries_of(request: Request, run_id: str, items: Sequence[Item]) -> list[LedgerEntry]:
    """Return the ledger entry of items that were added to the thread's state."""
    if not items:
        return []
    return [LedgerEntry(run_id=run_id, items=tuple(items), bound_to=bound_to(request))]


def _with_answered(caller: CallerState, *answered: Request) -> CallerState:
    """Return the state of a thread whose conversation has the messages of these requests."""
    return caller.with_known(ts for request in answered for ts in (request.ts, request.message))


def _can_wait(request: Request) -> bool:
    """Return whether the request may wait for the end of a pause: people wait, programs do not."""
    return request.is_current and not (request.is_of_program or request.is_by_rule)


def _came_late(request: Request) -> bool:
    """Return whether the event was on its way for longer than Slack waits for an answer to it."""
    if not request.is_typed:
        return False
    return request.received_at.timestamp() - float(request.ts) > _LATE_SECONDS


def _leaves_no_trace(request: Request) -> bool:
    """Return whether no message shows later that the request was answered."""
    return request.private and not request.kept_private


def _perhaps_answered(run: Run) -> Outcome:
    """Return the outcome of a restored question of which nobody knows whether it was answered."""
    outcome = not_admitted(run.request, run.run_id, StopReason.REQUEUED)
    return outcome.model_copy(update={"note": _PERHAPS_ANSWERED()})


def _has_no_response(run: Run) -> bool:
    """Return whether no model has responded in this run yet, so that it can end as if not begun."""
    state = run.saved
    return state is None or not (state.turn or state.open or state.ending)


def _max_deaths(run: Run) -> int:
    """Return how many workers may die during a run after its last save point."""
    is_decided = run.record.outcome or (run.saved and run.saved.ending)
    return _MAX_DEATHS_POSTING if is_decided else _MAX_DEATHS


def _failure_cannot_be_posted(record: RunRecord, *, given_up: bool) -> bool:
    """Return whether workers died while even the plain failure message was posted."""
    failed = record.outcome and record.outcome.stop_reason is StopReason.INTERNAL_ERROR
    return given_up and bool(failed)


def _has_calls_left(run: Run) -> bool:
    """Return whether a resumed run has tool calls left, such as one that waited for approval."""
    state = run.saved
    return state is not None and state.open is not None and has_work_left(state.open)


async def _deliver(run: Run, outcome: Outcome) -> None:
    """Post the final message and tell the listeners, with retries. Raises the exception of the last
    attempt."""

    async def deliver_once() -> None:
        await run.surface.finish(outcome)
        for listener in doing("on_end", run.listeners, Listener):
            async with bounded(listener, "on_end"):
                await listener.on_end(outcome)

    for pause in _DELIVERY_PAUSES:
        try:
            return await deliver_once()
        except LeaseLost:
            raise
        except Exception:
            ids = {"run_id": run.run_id}
            log.exception("The answer was not posted; retrying in %g s", pause, extra=ids)
            await asyncio.sleep(pause)
    return await deliver_once()
