"""Ongoing calls: those of one response that have started and not ended yet."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from bot.agent.calls.call import OUTCOME_UNKNOWN, CallEvent, Intent, ended
from bot.agent.calls.outputs import CallOutput
from bot.agent.events import FromSubagent, ToolEnded, ToolStarted
from bot.core.chain import Item

_OUT_OF_TIME = "the time for this task is up."


class OngoingCalls:
    """Tracks started calls, including those of sub-agents, so that each step that people saw begin
    also ends. `begun` are the ids of mutating calls that were started."""

    def __init__(self, begun: Iterable[str]) -> None:
        self._begun = set(begun)
        self._steps: dict[tuple[str, str], tuple[ToolStarted, float]] = {}

    def note(self, event: object) -> None:
        """Record a start, an end, or the intent to change something."""
        agent = event.agent if isinstance(event, FromSubagent) else ""
        match event.event if isinstance(event, FromSubagent) else event:
            case Intent(call_id=call_id, is_made=True):
                self._begun.add(call_id)
            case Intent(call_id=call_id):
                self._begun.discard(call_id)
            case ToolStarted(call_id=call_id) as started:
                self._steps[agent, call_id] = (started, time.monotonic())
            case ToolEnded(call_id=call_id):
                self._steps.pop((agent, call_id), None)
            case _:
                pass

    def stopped(self, call: Item, *, by_person: bool) -> CallOutput:
        """Return the output of a call that a person or the deadline interrupted. A change that had
        begun may have been made."""
        call_id = call["call_id"]
        is_unknown = call_id in self._begun
        if is_unknown:
            how = "by the user while it ran." if by_person else f"while it ran: {_OUT_OF_TIME}"
            text = f"Stopped {how} {OUTCOME_UNKNOWN}"
        elif by_person:
            text = "Cancelled by the user before it finished."
        else:
            text = f"Stopped before it finished: {_OUT_OF_TIME}"
        started, _ = self._steps.get(("", call_id), (None, 0.0))
        return CallOutput(
            call_id,
            call["name"],
            text,
            ok=False,
            cancelled=by_person,
            title=started.title if started else "",
            unknown=is_unknown,
        )

    def ends(self, outputs: Mapping[str, CallOutput]) -> Iterator[CallEvent]:
        """Yield the end of each step that has started, those of sub-agents before their own;
        `outputs` by the ids of the calls."""
        now = time.monotonic()
        for (agent, call_id), (step, began) in sorted(
            self._steps.items(), key=lambda each: not each[0][0]
        ):
            output = outputs[agent or call_id]
            if agent:
                output = replace(output, call_id=call_id, tool=step.tool, title=step.title)
            end = ended(output, now - began, known=step.known)
            yield FromSubagent(agent, end) if agent else end
