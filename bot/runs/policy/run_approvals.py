"""A run that pauses for people: what it asks them, how it waits, and how it goes on (D6)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from bot.agent.events import (
    Event,
    Paused,
    Recorded,
    RunEnded,
    SavePoint,
    ToolEnded,
    ToolStarted,
)
from bot.agent.interrupt import Interrupt, Interrupted
from bot.agent.loop import run
from bot.agent.parts import LoopDeps
from bot.agent.state import LoopState
from bot.core.approvals import QUESTION_DELETED, Approval, ApprovalRecord, Decision, Made, Verdict
from bot.core.errors import CorruptValue, StoreError
from bot.core.failpoints import failpoint
from bot.core.outcome import Silence
from bot.core.request import Request
from bot.runs.audit_trail import Record, decision_entry
from bot.runs.queue.requeue import Requeue
from bot.runs.surface import Surface
from bot.store import Approvals, Lease, Rest

log = logging.getLogger(__name__)

_PAUSES = (1.0, 5.0)
"""Seconds between attempts to put a question to people."""

_UNASKED = "nobody could be asked about it now"


class AwaitingApproval(Exception):
    """The request waits for people and stays at the head of its mailbox, without a worker or a
    ticket: whoever decides brings one, and the sweep does when the time is up."""


@dataclass(frozen=True, slots=True)
class RunApprovals:
    """What one run asks people, in its thread and in the store."""

    request: Request
    run_id: str
    approvals: Approvals
    surface: Surface
    lease: Lease
    record: Record
    _answered: list[ApprovalRecord] = field(default_factory=list)

    async def settle(self) -> None:
        """Show what became of the questions that were answered."""
        await self.look()
        if self._answered:
            await self.surface.settle(self._answered)

    async def look(self) -> None:
        """Take note of the answers that there are by now."""
        self._answered[:] = [each for each in await self._all() if each.decision]

    async def undecided(self) -> list[Approval]:
        """What people were asked and have not answered."""
        return [each.approval for each in await self._all() if each.decision is None]

    @property
    def decided_changes(self) -> bool:
        """Whether people were asked about a change, as far as that is decided."""
        return any(each.approval.mutates for each in self._answered)

    @property
    def waited(self) -> int:
        """Seconds in which people had to decide, and nobody worked."""
        last = waited = 0
        asked = ((each.approval.asked_at, each.decision) for each in self._answered)
        for begun, decision in sorted(asked, key=lambda each: each[0]):
            ended = decision.at if decision else begun
            waited += max(0, ended - max(begun, last))
            last = max(last, ended)
        return waited

    async def note(self, event: Event) -> None:
        """Keep how far a call came that somebody approved."""
        match event:
            case ToolStarted(call_id=call_id):
                made = Made.BEGUN
            case ToolEnded(call_id=call_id, unknown=True):
                made = Made.CUT_OFF
            case ToolEnded(call_id=call_id, ok=ok):
                made = Made.DONE if ok else Made.FAILED
            case _:
                return
        for each in self._answered:
            allowed = each.decision is not None and each.decision.allows
            if allowed and each.approval.id.endswith(f":{call_id}"):
                await self.approvals.note(each.approval, made)

    async def wait(self, ids: Sequence[str], interrupt: Interrupt) -> None:
        """Put up the questions; return when there is something to go on with.

        Raises AwaitingApproval when the answers come later, Requeue when one came meanwhile (the run goes on
        as it would have had it parked), LeaseLost and StoreUnavailable.
        """
        ends = tuple(f":{call_id}" for call_id in ids)  # which may hold colons themselves
        waiting = [each for each in await self.undecided() if each.id.endswith(ends)]
        if not waiting:
            return
        try:
            async with interrupt.within(float("inf")):
                answers = await self._put(waiting)
        except Interrupted:
            return
        await self.record([decision_entry(approval, decision) for approval, decision in answers])
        for approval, decision in answers:
            await self.approvals.answer(approval, decision)
        if answers:
            return
        rest = await self.approvals.park(self.request, self.run_id, waiting, self.lease)
        failpoint("run-parked")
        if rest is Rest.PARKED:
            raise AwaitingApproval
        if rest is Rest.DECIDED:
            raise Requeue

    async def _put(self, waiting: Sequence[Approval]) -> Sequence[tuple[Approval, Decision]]:
        """Put the questions, patiently; what cannot be asked is refused."""
        for pause in (*_PAUSES, None):
            try:
                return await self.surface.ask(waiting)
            except StoreError:
                raise
            except Exception:
                log.exception("a question was not put up", extra={"run_id": self.run_id})
                if pause is not None:
                    await asyncio.sleep(pause)
        unasked = Decision(verdict=Verdict.DENIED, comment=_UNASKED)
        return [(approval, unasked) for approval in waiting]

    async def close(self, silent: Silence | None) -> None:
        """The run is over: what nobody has decided needs no decision any more, and what was approved
        is not done any more."""
        why = QUESTION_DELETED if silent is Silence.WITHDRAWN else ""
        gone, asked = Decision(verdict=Verdict.WITHDRAWN, comment=why), await self._all()
        if not asked:
            return
        for each in asked:
            if each.decision is None:
                await self.approvals.answer(each.approval, gone)
        for each in await self._all():  # with what was approved until that moment
            if not each.is_over:
                made = Made.CUT_OFF if each.made else Made.NEVER
                await self.approvals.note(each.approval, made)
        await self.settle()

    async def _all(self) -> list[ApprovalRecord]:
        try:
            return await self.approvals.of_run(self.run_id)
        except CorruptValue:
            return []


async def drive_loop(
    state: LoopState,
    parts: LoopDeps,
    asking: RunApprovals,
    note: Callable[[Event], Awaitable[None]],
) -> RunEnded:
    """The loop to its end, each event noted. Raises AwaitingApproval while people have to decide,
    Requeue when one did at once."""
    while True:
        event: Event | None = None
        async with aclosing(run(state, parts)) as events:
            async for event in events:
                if isinstance(event, Recorded | SavePoint):
                    state = event.state
                await asking.note(event)
                await note(event)
        match event:
            case RunEnded():
                return event
            case Paused(call_ids=ids):
                await asking.wait(ids, parts.interrupt)
            case _:
                raise RuntimeError("the loop ended without RunEnded")
