"""Whether the event loop keeps up: everything here waits when something holds it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

log = logging.getLogger(__name__)


class EventLoopWatchdog:
    """Looks every so many seconds how late the loop is, tells `observe` (seconds), and logs what is
    `late` or more: then Slack may not be told in time that an event was taken in, and a lease that
    is not renewed ends."""

    def __init__(
        self, observe: Callable[[float], None], *, every: float = 0.5, late: float = 1.0
    ) -> None:
        self._observe = observe
        self._every = every
        self._late = late
        self._lag = 0.0

    async def keeps_up(self) -> bool:
        """Whether it was not late when last looked at."""
        return self._lag < self._late

    async def run(self) -> None:
        """Watch until cancelled."""
        clock = asyncio.get_running_loop().time
        while True:
            due = clock() + self._every
            await asyncio.sleep(self._every)
            self._lag = max(0.0, clock() - due)
            self._observe(self._lag)
            if not await self.keeps_up():
                log.warning("The event loop was held for %.1f s", self._lag)
