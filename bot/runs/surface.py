"""Where a run shows itself: what the runner asks of Slack, or of a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from bot.agent.events import Event
from bot.core.approvals import Approval, ApprovalRecord, Decision
from bot.core.outcome import Outcome
from bot.core.request import Request


class Fenced(Protocol):
    """What the messages of `run_id` are written under."""

    @property
    def run_id(self) -> str: ...

    async def may_write(self) -> None:
        """Raises LeaseLost when this worker no longer holds the thread."""


class PostedMessages(Fenced, Protocol):
    """What was posted for a run, kept with the run so that any process can go on with it.

    Writes raise LeaseLost when another worker has taken the thread.
    """

    async def message(self) -> str | None:
        """The ts of the run's message, if one was posted."""

    async def save_message(self, ts: str) -> None:
        """Remember the run's message, as soon as Slack named it; with an empty ts, that it has none."""

    async def posted_parts(self) -> int:
        """How many parts of the terminal are up (the message itself is the first)."""

    async def save_part(self, count: int, file: str = "") -> None:
        """Remember that the first `count` parts are up, and that `file`, an id, is the last."""

    async def files_of(self, run_ids: Sequence[str]) -> frozenset[str]:
        """Ids of the files that other runs put up."""

    async def card(self, name: str) -> str | None:
        """The ts of the card of that name, if it is up and still to be changed."""

    async def cards(self) -> list[str]:
        """The ts of each card that is up and still to be changed."""

    async def save_card(self, name: str, ts: str) -> None:
        """Remember a card; with an empty ts, that it will not be changed any more."""

    async def is_open(self, run_id: str) -> bool:
        """Return whether another run is known, and its end is not up."""

    async def decided(self) -> Outcome | None:
        """How the run ends, once that is kept, whoever decided it."""


class Surface(Protocol):
    """One run's place. Entered before the run starts; leaving it stops all background writing."""

    async def show(self, event: Event) -> None:
        """Take note of an event. Returns at once, never raises: showing must not slow a run."""

    async def ask(self, approvals: Sequence[Approval]) -> Sequence[tuple[Approval, Decision]]:
        """Put these questions to people, each exactly once however often it is called.

        Returns what was decided there and then, where somebody sits in front of it; elsewhere the
        answers come through the store. Raises when a question could not be put.
        """

    async def settle(self, asked: Sequence[ApprovalRecord]) -> None:
        """Show what became of questions, as well as can be: never fails a run but with LeaseLost."""

    async def finish(self, outcome: Outcome) -> None:
        """Put up the terminal message, exactly once however often it is called.

        Raises when it could not be put up; the outbox then tries again.
        """


class SurfaceWrapper:
    """A surface that hands everything on to another: for those that look at what goes through."""

    def __init__(self, surface: Surface) -> None:
        self._surface = surface

    async def show(self, event: Event) -> None:
        await self._surface.show(event)

    async def ask(self, approvals: Sequence[Approval]) -> Sequence[tuple[Approval, Decision]]:
        return await self._surface.ask(approvals)

    async def settle(self, asked: Sequence[ApprovalRecord]) -> None:
        await self._surface.settle(asked)

    async def finish(self, outcome: Outcome) -> None:
        await self._surface.finish(outcome)


OpenSurface = Callable[[Request, PostedMessages], AbstractAsyncContextManager[Surface]]
"""Opens the surface of a request, with what was posted for its run before."""
