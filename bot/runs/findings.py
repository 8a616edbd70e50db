"""What a run has brought to light so far, for a person who stops it."""

from __future__ import annotations

from bot.agent.events import Event, FromSubagent, ResultDelta, TextWithdrawn, ToolEnded, TurnStarted
from bot.core.outcome import Outcome, RunStatus

_MOST_STEPS = 20
_MOST_DRAFT = 4_000  # characters


class Findings:
    """Gathered from the events of one run: no model is asked for them (C6)."""

    def __init__(self) -> None:
        self.tools: set[str] = set()
        """Names of those that went well."""
        self._steps: list[str] = []
        self._draft = ""

    def note(self, event: Event) -> None:
        """Take in what came out of a step, or was written of the result."""
        match event:
            case ToolEnded(ok=True, tool=tool, title=title, detail=detail):
                self.tools.add(tool)
                self._steps.append(f"{title}: {detail}" if detail else title)
            case FromSubagent(event=ToolEnded() as inner):
                self.note(inner)
            case ResultDelta(text=text):
                self._draft = (self._draft + text)[:_MOST_DRAFT]
            case TurnStarted() | TextWithdrawn():
                self._draft = ""
            case _:
                pass

    def added_to(self, outcome: Outcome) -> Outcome:
        """`outcome` with what was found, if a person stopped the run."""
        if outcome.status is not RunStatus.CANCELLED:
            return outcome
        found = tuple(self._steps[-_MOST_STEPS:])
        return outcome.model_copy(update={"found": found, "draft": self._draft})
