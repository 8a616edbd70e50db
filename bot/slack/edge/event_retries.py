"""In-process retries of events that could not be stored because Redis was unavailable.

Slack delivers an unacknowledged event again at once, after one minute and after five. Relying on
those deliveries alone would answer questions from a short outage late and out of order. When the
copy from Slack arrives later, the claim on the message shows that it is already stored.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from bot.core.errors import StoreUnavailable
from bot.slack.edge.ordered_locks import OrderedLocks

log = logging.getLogger(__name__)

T = TypeVar("T")

MOST = 1_000  # events held at once; further events rely on Slack's own redelivery
ACK_SECONDS = 2.5  # Slack waits three
PATIENCE = 900.0  # seconds; Slack gives up after six minutes
_PAUSES = (0.25, 0.5, 1.0)  # seconds between tries; the last one repeats


class EventRetries:
    """A set of ordered event queues ("lines") that retries events while Redis is unavailable.

    Events of one line, such as the messages of a thread, are handled one after the other.
    """

    def __init__(self) -> None:
        self._lines = OrderedLocks()
        self._under_way: dict[str, asyncio.Task[Any]] = {}
        self._failing: set[str] = set()

    @classmethod
    @asynccontextmanager
    async def open(cls) -> AsyncGenerator[EventRetries]:
        """Open the queues; leaving cancels all held events.

        Held events were not acknowledged, so Slack delivers them to another process.
        """
        retries = cls()
        try:
            yield retries
        finally:
            tasks = list(retries._under_way.values())
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def run_in_order(
        self,
        event_id: str,
        work: Callable[[], Awaitable[T]],
        *,
        line: str,
        when: float = 0.0,
        on_trouble: Callable[[], None] = lambda: None,
    ) -> T:
        """Return the result of `work` after all events of the same `line` with an earlier `when`.

        `work` must be safe to repeat. A second copy of an event waits for the first. `on_trouble`
        is called after the first failure. Raises StoreUnavailable when the event cannot be
        acknowledged within ACK_SECONDS; the retries go on nevertheless.
        """
        task: asyncio.Task[T] | None = self._under_way.get(event_id)
        if task is None:
            if len(self._under_way) >= MOST:
                async with self._lines.of(line, when):
                    return await work()
            retrying = self._retry(event_id, work, line, when, on_trouble)
            task = self._under_way[event_id] = asyncio.create_task(
                retrying, name=f"event {event_id}"
            )
            task.add_done_callback(lambda done: self._ended(event_id, done))
        while True:
            await asyncio.wait({task}, timeout=ACK_SECONDS)
            if task.done():
                return task.result()
            if self._failing:
                raise StoreUnavailable(
                    "Redis cannot be reached or accepts no writes; the event is tried again here."
                )

    @asynccontextmanager
    async def turn(self, line: str, when: float) -> AsyncGenerator[None]:
        """Hold the line: wait for its events before `when`, and let no later event pass."""
        async with self._lines.of(line, when):
            yield

    async def _retry(
        self,
        event_id: str,
        work: Callable[[], Awaitable[T]],
        line: str,
        when: float,
        on_trouble: Callable[[], None],
    ) -> T:
        clock = asyncio.get_running_loop().time
        tries = 0
        async with self._lines.of(line, when):
            gives_up = clock() + PATIENCE
            try:
                while True:
                    try:
                        return await work()
                    except StoreUnavailable:
                        if clock() > gives_up:
                            raise
                    if not tries:
                        self._failing.add(event_id)
                        on_trouble()
                    await asyncio.sleep(_PAUSES[min(tries, len(_PAUSES) - 1)])
                    tries += 1
            finally:
                self._failing.discard(event_id)

    def _ended(self, event_id: str, task: asyncio.Task[Any]) -> None:
        self._under_way.pop(event_id, None)
        if not task.cancelled() and (error := task.exception()):
            log.debug("Event %s was not stored: %s", event_id, error)  # the caller raises it too
