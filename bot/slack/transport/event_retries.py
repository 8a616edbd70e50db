"""Events that Redis did not take: tried again here, in order, until it is back.

Slack sends an unacknowledged event again at once, after a minute and after five. Waiting for that
would answer what was asked during a short outage late, and behind what was asked after it. What is
taken in by then is known by its claims when Slack's copy comes, and acknowledged.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from bot.core.errors import StoreUnavailable
from bot.slack.transport.ordered_locks import OrderedLocks

log = logging.getLogger(__name__)

T = TypeVar("T")

MOST = 1_000  # events that this process holds at once; beyond them Slack's copies have to do
ACK_SECONDS = 2.5  # Slack waits three
PATIENCE = 900.0  # seconds; Slack gives up after six minutes
_PAUSES = (0.25, 0.5, 1.0)  # seconds between tries, the last one again and again


class EventRetries:
    """Takes events in, one after the other in each line; what fails for Redis is tried again."""

    def __init__(self) -> None:
        self._lines = OrderedLocks()
        self._under_way: dict[str, asyncio.Task[Any]] = {}
        self._failing: set[str] = set()

    @classmethod
    @asynccontextmanager
    async def open(cls) -> AsyncGenerator[EventRetries]:
        """Events that are still held at the end were not acknowledged: Slack sends them elsewhere."""
        retries = cls()
        try:
            yield retries
        finally:
            tasks = list(retries._under_way.values())
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def take_in(
        self,
        event_id: str,
        work: Callable[[], Awaitable[T]],
        *,
        line: str,
        when: float = 0.0,
        on_trouble: Callable[[], None] = lambda: None,
    ) -> T:
        """Return what `work` returns, once those of an earlier `when` in the same line are done.

        `work` is safe to repeat. A second copy of an event waits for the first. `on_trouble` is
        called when it fails first. Raises StoreUnavailable when the event cannot be acknowledged in
        time; it is tried on all the same.
        """
        task: asyncio.Task[T] | None = self._under_way.get(event_id)
        if task is None:
            if len(self._under_way) >= MOST:
                async with self._lines.of(line, when):
                    return await work()
            kept = self._kept(event_id, work, line, when, on_trouble)
            task = self._under_way[event_id] = asyncio.create_task(kept, name=f"event {event_id}")
            task.add_done_callback(lambda done: self._ended(event_id, done))
        while True:
            await asyncio.wait({task}, timeout=ACK_SECONDS)
            if task.done():
                return task.result()
            if self._failing:
                raise StoreUnavailable("Redis cannot be reached; the event is tried again here.")

    @asynccontextmanager
    async def turn(self, line: str, when: float) -> AsyncGenerator[None]:
        """Wait for what is before `when` in a line, and let nothing past meanwhile."""
        async with self._lines.of(line, when):
            yield

    async def _kept(
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
            log.debug("Event %s was not taken in: %s", event_id, error)  # its request says so
