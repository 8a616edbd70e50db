"""The workspace's clock: real time, which a test may push forward."""

import asyncio
import time
from contextlib import suppress


class Clock:
    """A clock: real time plus the seconds that `advance` added."""

    def __init__(self) -> None:
        self._ahead = 0.0
        self._moved = asyncio.Event()

    def now(self) -> float:
        """Return the time in seconds since the epoch."""
        return time.time() + self._ahead

    def advance(self, seconds: float) -> None:
        """Move the clock forward by `seconds`, and wake the sleepers whose time has come."""
        self._ahead += seconds
        self._moved.set()
        self._moved = asyncio.Event()

    async def sleep_until(self, end: float) -> None:
        """Sleep until this clock shows `end`, in seconds since the epoch."""
        while (left := end - self.now()) > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._moved.wait()
