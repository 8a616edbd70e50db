"""One at a time for each thread, or person, in the order of what they wrote."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from heapq import heappop, heappush
from itertools import count

_Place = tuple[float, int, "asyncio.Future[None]"]


class OrderedLocks:
    """Of what arrives together, what is looked up for one message must not let a later one past; nor
    may one that failed, and comes again while later ones wait."""

    def __init__(self) -> None:
        self._lines: dict[str, list[_Place]] = {}  # who waits, for each key whose turn somebody has
        self._arrivals = count()

    @asynccontextmanager
    async def of(self, key: str, when: float = 0.0) -> AsyncGenerator[None]:
        """Waits for whoever has the turn, then for those of an earlier `when`, or of the same who came
        before."""
        if key not in self._lines:
            self._lines[key] = []
        else:
            await self._wait(key, when)
        try:
            yield
        finally:
            self._next(key)

    async def _wait(self, key: str, when: float) -> None:
        turn = asyncio.get_running_loop().create_future()
        heappush(self._lines[key], (when, next(self._arrivals), turn))
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # its turn had come
                self._next(key)
            raise

    def _next(self, key: str) -> None:
        line = self._lines[key]
        while line:
            *_, turn = heappop(line)
            if not turn.cancelled():
                turn.set_result(None)
                return
        del self._lines[key]
