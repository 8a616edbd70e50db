"""The sink for a run's events: each event is saved, then heard by listeners and shown."""

from __future__ import annotations

from dataclasses import dataclass

from bot.agent.events import Event, FromSubagent, Recorded, SavePoint
from bot.agent.state import LoopState
from bot.core.chain import NO_USAGE
from bot.core.failpoints import failpoint
from bot.runs.queue.requeue import Requeue, can_requeue
from bot.runs.run import Run


@dataclass(slots=True)
class EventSink:
    """The event sink of one run.

    `state` is the run's state at its last save point. `has_advanced` says whether this attempt has
    made progress. Once the process drains, the run is requeued at the first event after which it can
    stop.
    """

    run: Run
    state: LoopState
    has_advanced: bool = False

    async def note(self, event: Event) -> None:
        """Save an event, then let listeners hear it and show it. Raises LeaseLost, StoreUnavailable and Requeue."""
        run = self.run
        if isinstance(event, Recorded | SavePoint):
            await self._save(event)
        if isinstance(event, FromSubagent) and isinstance(event.event, Recorded):
            await run.deps.stores.runs.note_response(event.event.entry, run.held_lease)
        if run.deps.draining.is_set() and can_requeue(event):
            run.narrator.requeued()
            raise Requeue
        for news in (event, *run.steering.news()):
            await run.tell(news)

    async def _save(self, event: Recorded | SavePoint) -> None:
        """Save the loop's state and its additions to the conversation before the loop goes on."""
        run, state = self.run, event.state
        entries = [event.entry] if isinstance(event, Recorded) else []
        reader = run.reader_of(state)
        bound = [entry.model_copy(update={"bound_to": reader}) for entry in entries]
        change = run.steering.change(state)
        begins_changes = run.audit.note_begun(state)
        # Once per attempt: progress resets the count of deaths, and only a new attempt adds to it.
        advances = not self.has_advanced and _has_moved(self.state, state)
        progress_of = run.request.id if advances else ""
        failpoint("step-keeping")
        await run.save(state, bound, change, progress_of=progress_of, goes_on=True)
        if begins_changes:
            await run.audit.settle()
        self.has_advanced |= advances
        self.state = state
        failpoint("step-kept")


def _has_moved(before: LoopState, now: LoopState) -> bool:
    """Return whether more than the spending has changed between two states.

    A sub-agent that starts over after each death spends each time without advancing the run.
    """
    spent = {"usage": NO_USAGE, "cost": None, "tool_calls": 0, "elapsed": 0.0}
    return before.model_copy(update=spent) != now.model_copy(update=spent)
