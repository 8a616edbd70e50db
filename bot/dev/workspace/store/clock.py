"""The workspace's clock: real time, which a test may push forward."""

import asyncio
import time
from contextlib import suppress


class Clock:
    """Seconds since the epoch, plus what `advance` added; sleepers wake when it passes their time."""

    def __init__(self) -> None:
        self._ahead = 0.0
        self._moved = asyncio.Event()

    def now(self) -> float:
        """The time in seconds since the epoch."""
        return time.time() + self._ahead

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass at once."""
        self._ahead += seconds
        self._moved.set()
        self._moved = asyncio.Event()

    async def sleep_until(self, end: float) -> None:
        """Return when this clock shows `end`."""
        while (left := end - self.now()) > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._moved.wait()
