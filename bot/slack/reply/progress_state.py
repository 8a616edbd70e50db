"""What a run is doing, folded from its events: a small value, made anew with each event."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

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
    ToolStarted,
    TurnStarted,
)
from bot.slack.render import words

_KEPT = 6_000  # characters of each text: more is not shown before it is whole


class StepStatus(StrEnum):
    """How far a step is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Step:
    """One tool call; `under` are those of the sub-agent that it dispatched."""

    call_id: str
    title: str
    status: StepStatus = StepStatus.RUNNING
    detail: str = ""
    under: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """`thought` is what the model says or thinks in the turn under way, `earlier` what it said in
    those before; `draft` is the text of the result as far as it is written. While `waits`, other
    questions hold what is left of a budget."""

    steps: tuple[Step, ...] = ()
    earlier: str = ""
    thought: str = ""
    draft: str = ""
    waits: bool = False
    ended: bool = False

    @property
    def narrated(self) -> str:
        """All that the model said besides its result, a paragraph a turn."""
        return "\n\n".join(filter(None, (self.earlier, self.thought)))

    @property
    def running(self) -> Step | None:
        """The tool in progress that began last."""
        return next((s for s in reversed(self.steps) if s.status is StepStatus.RUNNING), None)


def advance(progress: Progress, event: Event) -> Progress:
    """Where the run stands after `event`."""
    match event:
        case TurnStarted():
            earlier = progress.narrated[:_KEPT]
            progress = replace(progress, earlier=earlier, thought="", draft="")
        case RoomAwaited(ended=ended):
            progress = replace(progress, waits=not ended)
        case TextDelta(text=text) | ReasoningDelta(text=text):
            progress = replace(progress, thought=(progress.thought + text)[:_KEPT])
        case ResultDelta(text=text):
            progress = replace(progress, draft=(progress.draft + text)[:_KEPT])
        case TextWithdrawn():
            progress = replace(progress, thought="", draft="")
        case MessagesJoined(texts=texts):
            joined = Step("", words.also(texts), StepStatus.DONE)
            progress = replace(progress, steps=(*progress.steps, joined))
        case ToolStarted() | ToolEnded():
            progress = replace(progress, steps=_after(progress.steps, event))
        case FromSubagent(agent=agent, event=ToolStarted() | ToolEnded() as inner):
            progress = replace(progress, steps=_beneath(progress.steps, agent, inner))
        case RunEnded():
            progress = replace(progress, ended=True)
        case _:  # nothing of it is shown
            pass
    return progress


def _after(steps: tuple[Step, ...], event: ToolStarted | ToolEnded) -> tuple[Step, ...]:
    if isinstance(event, ToolStarted):
        return (*steps, Step(event.call_id, event.title))
    return tuple(_ended(step, event) for step in steps)


def _beneath(
    steps: tuple[Step, ...], agent: str, event: ToolStarted | ToolEnded
) -> tuple[Step, ...]:
    return tuple(
        replace(step, under=_after(step.under, event)) if step.call_id == agent else step
        for step in steps
    )


def _ended(step: Step, event: ToolEnded) -> Step:
    if step.call_id != event.call_id:
        return step
    status = StepStatus.DONE if event.ok else StepStatus.FAILED
    return replace(step, title=event.title or step.title, status=status, detail=event.detail)
