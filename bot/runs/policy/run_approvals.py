"""Approvals of one run, and what else it waits for its asker to decide.

The run asks people, waits without a worker, and resumes when they decide.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.agent.events import Event, PersonAsked, ToolEnded, ToolStarted
from bot.agent.interrupt import Interrupt, Interrupted
from bot.core.approvals import (
    QUESTION_DELETED,
    Approval,
    ApprovalRecord,
    Ask,
    CallProgress,
    Decision,
    Verdict,
    digest,
    wait_id,
)
from bot.core.context import current_request
from bot.core.errors import CorruptValue, StoreError
from bot.core.failpoints import failpoint
from bot.core.outcome import SilentReason
from bot.core.request import Request
from bot.runs.audit_trail import decision_entry
from bot.runs.queue.requeue import Requeue
from bot.store import Approvals, ParkResult
from bot.text.translation import Text

if TYPE_CHECKING:
    from bot.runs.run import Run


@dataclass(slots=True)
class Waits:
    """What the run `run_id` waits for its asker to decide, for up to `hours`.

    Only the asker may decide. The wait itself is that of an approval. `has_asked`: the run may have
    asked for an approval, in this attempt or before.
    """

    request: Request
    run_id: str
    approvals: Approvals
    hours: float
    has_asked: bool = False

    @property
    def in_subagent(self) -> bool:
        """Whether a sub-agent makes the call in progress. Sub-agents cannot wait."""
        return current_request().run_id != self.run_id

    async def decision(self, ask: Ask, *, seconds: float | None = None) -> Decision | None:
        """Return the asker's decision on what the call in progress needs, None while there is none.

        They have `seconds`, if that differs from `hours`. Nothing is stored for a sub-agent. Raises
        CorruptValue for a damaged value.
        """
        if self.in_subagent:
            return None
        approval = self._approval(ask, current_request().idempotency_key)
        if seconds is not None:
            approval = approval.model_copy(update={"expires": int(time.time() + seconds)})
        stored = await self.ask(approval)
        failpoint("wait-kept")
        return await self.approvals.claim(stored)

    async def decide(self, ask: Ask, decision: Decision) -> None:
        """Store a decision that is known already, so that nobody is asked again."""
        approval = self._approval(ask, current_request().idempotency_key)
        await self.approvals.answer(await self.ask(approval), decision)

    async def ask(self, approval: Approval) -> Approval:
        """Store an approval that the run asks for, unless there is one with its id. Return the stored
        one. Raises CorruptValue for a damaged value."""
        self.has_asked = True
        return await self.approvals.ask(approval)

    async def records(self, kind: str) -> list[ApprovalRecord]:
        """Return what the run has asked of this kind. Raises CorruptValue for a damaged value."""
        every = await self.approvals.of_run(self.run_id)
        return [record for record in every if record.approval.kind == kind]

    async def settled(self, record: ApprovalRecord) -> ApprovalRecord:
        """Return the record with the decision that counts now: it may have expired."""
        decision = await self.approvals.claim(record.approval)
        return ApprovalRecord(record.approval, decision, record.made)

    def _approval(self, ask: Ask, call_key: str) -> Approval:
        details = json.dumps(ask.details, sort_keys=True, ensure_ascii=False)
        return Approval(
            kind=ask.kind,
            id=wait_id(call_key, ask),
            thread_key=self.request.thread_key,
            tool=ask.subject,
            title=ask.title,
            arguments=details,
            sha256=digest(ask.subject, details),
            requester=self.request.user,
            approvers=(self.request.user,),
            expires=int(time.time() + self.hours * 3_600),
            mutates=False,
            private=self.request.private,
            else_private=ask.else_private,
            done_elsewhere=ask.done_elsewhere,
            is_question=ask.is_question,
            restored=self.request.restored,
        )


log = logging.getLogger(__name__)

_PAUSES = (1.0, 5.0)
"""Seconds between attempts to ask people for an approval."""

_UNASKED = Text("nobody could be asked about it now")


class AwaitingApproval(Exception):
    """Raised when a run waits for people to decide.

    Its request stays at the head of the mailbox without a worker or a ticket. A decision adds a
    ticket, and the sweep does so when the approval expires.
    """


@dataclass(slots=True)
class RunApprovals:
    """The approvals that one run asks people for, in its thread and in the store."""

    run: Run
    _decided: list[ApprovalRecord] = field(default_factory=list)

    @property
    def _approvals(self) -> Approvals:
        return self.run.deps.stores.approvals

    async def settle(self) -> None:
        """Show the decisions on the surface."""
        await self.load_decisions()
        if self._decided:
            await self.run.surface.settle(self._decided)

    async def load_decisions(self) -> None:
        """Load the decisions made by now. Loaded after the loop, they show what expired meanwhile,
        which only the run notices."""
        self._decided[:] = [record for record in await self._all() if record.decision]

    async def turns_private(self) -> bool:
        """Return whether the asker keeps the result to themselves, and it is not private yet."""
        if self.run.request.is_for_one:
            return False
        return any(record.keeps_private for record in await self._all())

    async def undecided(self) -> list[Approval]:
        """Return the approvals that nobody has decided yet."""
        return [record.approval for record in await self._all() if record.decision is None]

    @property
    def decided_changes(self) -> bool:
        """Whether any decided approval was about a change."""
        return any(record.approval.mutates for record in self._decided)

    @property
    def waited(self) -> int:
        """The seconds in which the run waited for people to decide."""
        last = waited = 0
        spans = ((record.approval.asked_at, record.decision) for record in self._decided)
        for begun, decision in sorted(spans, key=lambda span: span[0]):
            ended = decision.at if decision else begun
            waited += max(0, ended - max(begun, last))
            last = max(last, ended)
        return waited

    async def note(self, event: Event) -> None:
        """Store the progress of an approved call."""
        match event:
            case ToolStarted(call_id=call_id):
                made = CallProgress.BEGUN
            case ToolEnded(call_id=call_id, unknown=True):
                made = CallProgress.CUT_OFF
            case ToolEnded(call_id=call_id, ok=ok):
                made = CallProgress.DONE if ok else CallProgress.FAILED
            case PersonAsked(call_id=call_id, answered=False):
                await self._ask_during_call(call_id)
                return
            case PersonAsked():
                await self.settle()
                return
            case _:
                return
        for record in self._decided:
            allowed = record.decision is not None and record.decision.allows
            if allowed and not record.is_over and record.approval.id.endswith(f":{call_id}"):
                await self._approvals.note(record.approval, made)

    async def wait(self, ids: Sequence[str], interrupt: Interrupt) -> None:
        """Ask people for the approvals of the calls `ids`. Return when the run can go on.

        Raises AwaitingApproval when decisions come later, Requeue when a decision arrived meanwhile
        or the run turns private (it resumes as if it had been parked), LeaseLost and
        StoreUnavailable.
        """
        if await self.turns_private():
            raise Requeue
        ends = tuple(f":{call_id}" for call_id in ids)  # call ids may hold colons themselves
        waiting = [approval for approval in await self.undecided() if approval.id.endswith(ends)]
        if not waiting:
            return
        try:
            with interrupt.within(float("inf")):
                is_answered = await self._ask(waiting)
        except Interrupted:
            return
        if is_answered:
            return
        rest = await self._approvals.park(
            self.run.request, self.run.run_id, waiting, self.run.held_lease
        )
        failpoint("run-parked")
        if rest is ParkResult.PARKED:
            raise AwaitingApproval
        if rest is ParkResult.DECIDED:
            raise Requeue

    async def _ask_during_call(self, call_id: str) -> None:
        """Ask what a running call waits for."""
        waiting = [
            approval for approval in await self.undecided() if approval.id.endswith(f":{call_id}")
        ]
        await self._ask(waiting, meanwhile=True)

    async def _ask(self, waiting: Sequence[Approval], *, meanwhile: bool = False) -> bool:
        """Ask people, and store what they decide at once. Return whether they did."""
        answers = await self._ask_patiently(waiting, meanwhile=meanwhile)
        entries = [decision_entry(approval, decision) for approval, decision in answers]
        await self.run.deps.stores.audit.append(entries)
        for approval, decision in answers:
            await self._approvals.answer(approval, decision)
        return bool(answers)

    async def _ask_patiently(
        self, waiting: Sequence[Approval], *, meanwhile: bool
    ) -> Sequence[tuple[Approval, Decision]]:
        """Ask for the approvals, with retries. Deny them if nobody can be asked."""
        for pause in (*_PAUSES, None):
            try:
                return await self.run.surface.ask(waiting, meanwhile=meanwhile)
            except StoreError:
                raise
            except Exception:
                log.exception("an approval was not posted", extra={"run_id": self.run.run_id})
                if pause is not None:
                    await asyncio.sleep(pause)
        unasked = Decision(verdict=Verdict.DENIED, comment=_UNASKED.english)
        return [(approval, unasked) for approval in waiting]

    async def close(self, silent: SilentReason | None) -> None:
        """Withdraw undecided approvals and close approved ones, because the run is over."""
        why = QUESTION_DELETED.english if silent is SilentReason.WITHDRAWN else ""
        gone, records = Decision(verdict=Verdict.WITHDRAWN, comment=why), await self._all()
        if not records:
            return
        for record in records:
            if record.decision is None:
                await self._approvals.answer(record.approval, gone)
        for record in await self._all():  # loaded again: some may have been approved meanwhile
            if not record.is_over:
                made = CallProgress.CUT_OFF if record.made else CallProgress.NEVER
                await self._approvals.note(record.approval, made)
        await self.settle()

    async def _all(self) -> list[ApprovalRecord]:
        if not self.run.waits.has_asked:
            return []
        try:
            return await self._approvals.of_run(self.run.run_id)
        except CorruptValue:
            return []
