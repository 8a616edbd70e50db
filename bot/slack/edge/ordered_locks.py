"""Locks by key that are granted in the order of message times, not of arrival."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from heapq import heappop, heappush
from itertools import count

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
