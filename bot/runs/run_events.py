"""The sink for a run's events: each event is saved, then heard by listeners and shown."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from bot.agent.events import Event, FromSubagent, Recorded, SavePoint
from bot.agent.state import LoopState
from bot.core.chain import NO_USAGE
from bot.core.failpoints import failpoint
from bot.core.request import Request
from bot.runs.audit_trail import RunAudit
from bot.runs.context.run_loader import bound_to
from bot.runs.narration import Narrator
from bot.runs.policy.own_data import accounts_used
from bot.runs.queue.requeue import Requeue, can_requeue
from bot.runs.queue.steering import Steering
from bot.runs.surface import Surface
from bot.runs.watching import Listener
from bot.store import Lease, RunRecord, Runs


@dataclass(slots=True)
class EventSink:
    """The event sink of one run.

    `state` is the run's state at its last save point. Once `draining` is set, the run is requeued at
    the first event after which it can stop. `has_advanced` says whether this attempt has made progress.
    """

    request: Request
    record: RunRecord
    lease: Lease
    runs: Runs
    surface: Surface
    audit: RunAudit
    steering: Steering
    narrator: Narrator
    listeners: Sequence[Listener]
    draining: asyncio.Event
    state: LoopState
    has_advanced: bool = False

    async def note(self, event: Event) -> None:
        """Save an event, then let listeners hear it and show it. Raises LeaseLost, StoreUnavailable and Requeue."""
        if isinstance(event, Recorded | SavePoint):
            await self._keep(event)
        if isinstance(event, FromSubagent) and isinstance(event.event, Recorded):
            await self.runs.note_response(event.event.entry, self.lease)
        if self.draining.is_set() and can_requeue(event):
            self.narrator.requeued()
            raise Requeue
        for news in (event, *self.steering.news()):
            for listener in (self.narrator, self.audit, *self.listeners):
                listener.on_event(news)
            await self.surface.show(news)

    async def _keep(self, event: Recorded | SavePoint) -> None:
        """Save the loop's state and its additions to the conversation before the loop goes on."""
        entries = [event.entry] if isinstance(event, Recorded) else []
        reader = bound_to(self.request)
        if accounts_used(event.state) and not self.request.is_for_one:
            reader = self.request.user  # others read the answer, and not what it was made from
        bound = [each.model_copy(update={"bound_to": reader}) for each in entries]
        state = event.state.model_dump_json()
        change = self.steering.change(event.state)
        changes = self.audit.note_begun(event.state)
        # Once per attempt: progress resets the count of deaths, and only a new attempt adds to it.
        advances = not self.has_advanced and _has_moved(self.state, event.state)
        failpoint("step-keeping")
        await self.runs.save_point(
            self.record.run_id,
            state,
            self.lease,
            bound,
            joining=[each.id for each in change.joining] if change else (),
            joined=[each.id for each in change.joined] if change else None,
            progress_of=self.request.id if advances else "",
            goes_on=True,
            on_record=await self.audit.take_noted(),
        )
        if changes:
            await self.audit.settle()
        self.has_advanced |= advances
        self.state = event.state
        failpoint("step-kept")
        self.steering.on_saved(change)


def _has_moved(before: LoopState, now: LoopState) -> bool:
    """Return whether more than the spending has changed between two states.

    A sub-agent that starts over after each death spends each time without advancing the run.
    """
    spent = {"usage": NO_USAGE, "cost": None, "tool_calls": 0, "elapsed": 0.0}
    return before.model_copy(update=spent) != now.model_copy(update=spent)
