"""The interface between a run and the place where it is shown: Slack, or a console."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from bot.agent.events import Event
from bot.core.approvals import Approval, ApprovalRecord, Decision
from bot.core.outcome import Outcome
from bot.core.request import Request


class WriteFence(Protocol):
    """A fence around the messages of the run `run_id`, which only the lease holder may write."""

    @property
    def run_id(self) -> str: ...

    async def may_write(self) -> None:
        """Check that this worker holds the thread. Raises LeaseLost when it does not."""


class PostedMessages(WriteFence, Protocol):
    """The messages posted for a run, stored with the run so that any process can continue.

    Writes raise LeaseLost when another worker has taken the thread.
    """

    async def message(self) -> str | None:
        """Return the ts of the run's message, if one was posted."""

    async def save_message(self, ts: str) -> None:
        """Store the ts of the run's message as soon as Slack returns it; "" means it has none."""

    async def posted_parts(self) -> int:
        """Return how many parts of the final message are posted; the message itself is the first."""

    async def save_part(self, count: int, file: str = "") -> None:
        """Store that the first `count` parts are posted; `file` is the id of the last, if a file."""

    async def files_of(self, run_ids: Sequence[str]) -> frozenset[str]:
        """Return the ids of the files that other runs posted."""

    async def card(self, name: str) -> str | None:
        """Return the ts of the card of that name: "" if it will not change any more, None if none is
        known to be posted."""

    async def cards(self) -> list[str]:
        """Return the ts of each card that is posted and may still change."""

    async def save_card(self, name: str, ts: str) -> None:
        """Store the ts of a card; "" means that the card will not change any more."""

    async def is_open(self, run_id: str) -> bool:
        """Return whether another run is known and its final message is not posted yet."""

    async def decided(self) -> Outcome | None:
        """Return the run's outcome once it is stored, by this process or another; None before."""


class Surface(Protocol):
    """The place where one run is shown.

    Entered before the run starts; leaving it stops all background writing.
    """

    async def show(self, event: Event) -> None:
        """Show an event. Returns at once and never raises: showing must not slow down a run."""

    async def ask(
        self, approvals: Sequence[Approval], *, meanwhile: bool = False
    ) -> Sequence[tuple[Approval, Decision]]:
        """Ask people for these approvals, each exactly once however often it is called.

        The run waits for them, or goes on `meanwhile` with a call that waits.

        Returns the decisions made at once, at a console; elsewhere decisions arrive through the
        store. Raises when an approval could not be asked for.
        """

    async def settle(self, asked: Sequence[ApprovalRecord]) -> None:
        """Show what became of approvals, if possible. Raises nothing but LeaseLost."""

    async def finish(self, outcome: Outcome) -> None:
        """Post the final message, exactly once however often it is called.

        Raises when it could not be posted; the runner then tries again.
        """


class _Unwatched:
    """A surface that shows nothing and asks nobody."""

    async def show(self, event: Event) -> None: ...

    async def ask(
        self,
        approvals: Sequence[Approval],  # noqa: ARG002 - the protocol's
        *,
        meanwhile: bool = False,  # noqa: ARG002
    ) -> Sequence[tuple[Approval, Decision]]:
        return ()

    async def settle(self, asked: Sequence[ApprovalRecord]) -> None: ...

    async def finish(self, outcome: Outcome) -> None: ...


UNWATCHED: Surface = _Unwatched()
"""The surface of a job, whose steps nobody watches."""

EndedBy = Callable[[Request], Awaitable[str | None]]
"""Returns the id of the run that has answered a request, as its thread shows it; "" when the message
that asked is gone, None when neither shows."""


async def never_ended(_: Request) -> None:
    """Know of no answers, as at a console."""


OpenSurface = Callable[[Request, PostedMessages], AbstractAsyncContextManager[Surface]]
"""Opens the surface of a request, with the messages already posted for its run."""
