"""Watchdog of the event loop: when something blocks the loop, the whole process waits."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

log = logging.getLogger(__name__)


class EventLoopWatchdog:
    """Measures the lag of the event loop, in seconds, and reports it to `observe`.

    It measures `every` seconds, and logs a lag of `late` seconds or more: then events may not be
    acknowledged to Slack in time, and leases may expire before they are renewed.
    """

    def __init__(
        self, observe: Callable[[float], None], *, every: float = 0.5, late: float = 1.0
    ) -> None:
        self._observe = observe
        self._every = every
        self._late = late
        self._lag = 0.0

    async def keeps_up(self) -> bool:
        """Return whether the last measured lag was small."""
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
                log.warning("the event loop was held for %.1f s", self._lag)
