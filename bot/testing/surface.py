"""A surface that records a run instead of showing it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from bot.agent.events import Event, FromSubagent, ToolEnded, ToolStarted
from bot.core.approvals import Approval, ApprovalRecord, Decision
from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.runs.surface import PostedMessages

E = TypeVar("E")


@dataclass
class RecordingSurface:
    """The surface of one run after another; `open` is the `OpenSurface` of a runner.

    `decide` decides about a call at once; without it, runs wait for a decision in the store.
    """

    decide: Callable[[Approval], Decision] | None = None
    shown: list[Event] = field(default_factory=list)
    asked: list[Approval] = field(default_factory=list)
    settled: list[ApprovalRecord] = field(default_factory=list)
    finished: list[Outcome] = field(default_factory=list)

    @asynccontextmanager
    async def open(
        self, _request: Request, _post: PostedMessages
    ) -> AsyncGenerator[RecordingSurface]:
        """Yield this surface."""
        yield self

    async def show(self, event: Event) -> None:
        """Record an event."""
        self.shown.append(event)

    async def ask(
        self,
        approvals: Sequence[Approval],
        *,
        meanwhile: bool = False,  # noqa: ARG002 - the protocol's
    ) -> Sequence[tuple[Approval, Decision]]:
        """Record the approvals, and return the decisions made at once."""
        self.asked += approvals
        return [(approval, self.decide(approval)) for approval in approvals] if self.decide else []

    async def settle(self, asked: Sequence[ApprovalRecord]) -> None:
        """Record the approvals that were decided."""
        self.settled += asked

    async def finish(self, outcome: Outcome) -> None:
        """Record an outcome."""
        self.finished.append(outcome)

    def of(self, kind: type[E]) -> list[E]:
        """Return the events of a class, in order."""
        return [event for event in self.shown if isinstance(event, kind)]

    @property
    def called(self) -> list[str]:
        """The tools that were called, in order, with those of sub-agents."""
        return [event.tool for event in self._own() if isinstance(event, ToolStarted)]

    @property
    def succeeded(self) -> list[str]:
        """The tools whose calls succeeded, in order, with those of sub-agents."""
        return [event.tool for event in self._own() if isinstance(event, ToolEnded) and event.ok]

    def _own(self) -> list[Event]:
        return [event.event if isinstance(event, FromSubagent) else event for event in self.shown]
