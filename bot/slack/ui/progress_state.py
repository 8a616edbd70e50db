"""Progress of a run, folded from its events: an immutable value, replaced with each event."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from bot.agent.events import (
    Event,
    FromSubagent,
    MessagesJoined,
    ReasoningDelta,
    ResultDelta,
    RoomAwaited,
    RunEnded,
    TextDelta,
    TextWithdrawn,
    ToolEnded,
    ToolEvent,
    ToolProgress,
    ToolRetried,
    ToolStarted,
    TurnStarted,
)
from bot.slack.ui import words

_MAX_CHARS = 6_000  # of each text; the rest appears only in the final message


class StepStatus(StrEnum):
    """The state of a step."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Step:
    """One tool call. `report` is what it says of its progress; `under` holds the calls of the
    sub-agent that it started."""

    call_id: str
    title: str
    status: StepStatus = StepStatus.RUNNING
    detail: str = ""
    report: str = ""
    under: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """What a run is doing.

    - `thought`: text and reasoning of the current turn.
    - `earlier`: the same of the turns before.
    - `draft`: the text of the result as far as it is written.
    - `waits`: other questions hold the rest of a budget.
    - `ended`: the model has finished.
    """

    steps: tuple[Step, ...] = ()
    earlier: str = ""
    thought: str = ""
    draft: str = ""
    waits: bool = False
    ended: bool = False

    @property
    def narrated(self) -> str:
        """Return all text of the model besides its result, one paragraph per turn."""
        return "\n\n".join(filter(None, (self.earlier, self.thought)))

    @property
    def running(self) -> Step | None:
        """Return the running step that began last."""
        return next((s for s in reversed(self.steps) if s.status is StepStatus.RUNNING), None)


def advance(progress: Progress, event: Event) -> Progress:
    """Return the progress after `event`; the same object if the event shows nothing."""
    match event:
        case TurnStarted():
            earlier = progress.narrated[:_MAX_CHARS]
            progress = replace(progress, earlier=earlier, thought="", draft="")
        case RoomAwaited(ended=ended):
            progress = replace(progress, waits=not ended)
        case TextDelta(text=text) | ReasoningDelta(text=text):
            progress = replace(progress, thought=(progress.thought + text)[:_MAX_CHARS])
        case ResultDelta(text=text):
            progress = replace(progress, draft=(progress.draft + text)[:_MAX_CHARS])
        case TextWithdrawn():
            progress = replace(progress, thought="", draft="")
        case MessagesJoined(texts=texts):
            joined = Step("", words.also(texts), StepStatus.DONE)
            progress = replace(progress, steps=(*progress.steps, joined))
        case ToolStarted() | ToolProgress() | ToolRetried() | ToolEnded():
            progress = replace(progress, steps=_with_event(progress.steps, event))
        case FromSubagent(agent=agent, event=inner) if isinstance(inner, ToolEvent):
            progress = replace(progress, steps=_with_subagent_event(progress.steps, agent, inner))
        case RunEnded():
            progress = replace(progress, ended=True)
        case _:
            pass
    return progress


def _with_event(steps: tuple[Step, ...], event: ToolEvent) -> tuple[Step, ...]:
    match event:
        case ToolStarted(call_id=call_id, title=title):
            others = (each for each in steps if not _is_running(each, call_id))
            return (*others, Step(call_id, title))  # a call that waited for people begins again
        case ToolProgress(call_id=call_id, line=line):
            changes: dict[str, Any] = {"report": line}
        case ToolRetried(call_id=call_id):
            changes = {"report": words.TRYING_AGAIN()}
        case ToolEnded(call_id=call_id):
            status = StepStatus.DONE if event.ok else StepStatus.FAILED
            changes = {"status": status, "detail": event.detail}
            if event.title:
                changes["title"] = event.title
    return tuple(replace(each, **changes) if each.call_id == call_id else each for each in steps)


def _with_subagent_event(steps: tuple[Step, ...], agent: str, event: ToolEvent) -> tuple[Step, ...]:
    return tuple(
        replace(step, under=_with_event(step.under, event)) if step.call_id == agent else step
        for step in steps
    )


def _is_running(step: Step, call_id: str) -> bool:
    return step.call_id == call_id and step.status is StepStatus.RUNNING
