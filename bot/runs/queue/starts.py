"""Starts of runs: a few at once, so that a burst of questions leaves the event loop time for the rest.

A run that waits for its model costs nothing, and a process may have hundreds of those. Runs that all
begin at once share one core: then Slack's events are acknowledged late, and leases are renewed late.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from contextvars import ContextVar

from typing_extensions import override

from bot.agent.events import Event, TurnStarted
from bot.core.bound import Bound
from bot.core.request import Request
from bot.runs.watching import ObservedRun, Submission

AT_ONCE = 20
SECONDS = 1.0  # a start that takes longer waits for some server, and gives up its place


class Start(ObservedRun):
    """One start. It ends with the first call of the model, with the run, or after SECONDS."""

    def __init__(self, places: asyncio.Semaphore) -> None:
        self._places = places
        self._is_over = False

    def end(self) -> None:
        """Give up the place. Safe to repeat."""
        if not self._is_over:
            self._is_over = True
            self._places.release()

    @override
    def on_event(self, event: Event) -> None:
        if isinstance(event, TurnStarted):
            self.end()


_current: ContextVar[ObservedRun] = ContextVar("start")


class Starts:
    """The starts of one process: at most AT_ONCE at a time, in the order in which they were asked for.

    As an `Observer`, it hears when a run that was started here calls its model.
    """

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(AT_ONCE)

    @asynccontextmanager
    async def start(self) -> AsyncGenerator[None]:
        """Wait for a place, and start a run inside the context."""
        await self._places.acquire()
        start = Start(self._places)
        timer = asyncio.get_running_loop().call_later(SECONDS, start.end)
        try:
            with Bound(_current, start):
                yield
        finally:
            timer.cancel()
            start.end()

    def submitting(self, submission: Submission) -> AbstractContextManager[object]:  # noqa: ARG002 - the protocol's
        """See `Observer`."""
        return nullcontext()

    def listener(self, request: Request) -> ObservedRun:  # noqa: ARG002 - the protocol's
        """See `Observer`."""
        return _current.get(ObservedRun())
