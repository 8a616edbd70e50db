"""Tasks: in the background, in order, and tried again while Redis is unavailable.

Slack delivers an unacknowledged event again at once, after one minute and after five. Relying on
those deliveries alone would answer questions from a short outage late and out of order. When the
copy from Slack arrives later, the claim on the message shows that it is already stored.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from heapq import heappop, heappush
from itertools import count
from types import TracebackType
from typing import Any, TypeVar

from bot.core.errors import StoreUnavailable

log = logging.getLogger(__name__)


class Background:
    """A group of tasks whose failures are only logged: hints to people, never guaranteed effects.

    Leaving the context waits `grace` seconds for the tasks, then cancels them.
    """

    def __init__(self, *, grace: float = 2.0) -> None:
        self._grace = grace
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, object], what: str) -> None:
        """Start `work` as a task; `what` names it in the log."""
        task = asyncio.create_task(self._run(work, what), name=what)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, work: Coroutine[Any, Any, object], what: str) -> None:
        try:
            await work
        except Exception as error:  # noqa: BLE001 - no failure of a hint may reach the caller
            log.warning("%s failed: %s: %s", what, type(error).__name__, error)

    async def __aenter__(self) -> Background:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._tasks:
            return
        _, late = await asyncio.wait(set(self._tasks), timeout=self._grace)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)


_Waiter = tuple[float, int, "asyncio.Future[None]"]
"""Message time, arrival number, and the future that is done when the lock is granted."""


class OrderedLocks:
    """A lock for each key, whose waiters are ordered by the time of their message.

    Messages arrive together, and one may need a slow look-up or a retry: a later message must not
    overtake it.
    """

    def __init__(self) -> None:
        self._waiters: dict[str, list[_Waiter]] = {}  # has a key exactly while its lock is held
        self._arrivals = count()

    @asynccontextmanager
    async def of(self, key: str, when: float = 0.0) -> AsyncGenerator[None]:
        """Hold the lock of `key`. Waiters with an earlier `when` (seconds) get it first.

        Waiters with the same `when` get it in the order in which they arrived.
        """
        if key not in self._waiters:
            self._waiters[key] = []
        else:
            await self._wait(key, when)
        try:
            yield
        finally:
            self._release(key)

    async def _wait(self, key: str, when: float) -> None:
        granted = asyncio.get_running_loop().create_future()
        heappush(self._waiters[key], (when, next(self._arrivals), granted))
        try:
            await granted
        except asyncio.CancelledError:
            if not granted.cancelled():  # the lock was granted just before the cancellation
                self._release(key)
            raise

    def _release(self, key: str) -> None:
        waiters = self._waiters[key]
        while waiters:
            *_, granted = heappop(waiters)
            if not granted.cancelled():
                granted.set_result(None)
                return
        del self._waiters[key]


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
