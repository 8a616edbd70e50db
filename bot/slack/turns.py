"""One at a time for each thread, or person, in the order in which they came."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary


class Turns:
    """Of what arrives together, what is looked up for one message must not let a later one past."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def of(self, key: str) -> AsyncGenerator[None]:
        """Waits for everybody who came before."""
        lock = self._locks.get(key) or asyncio.Lock()
        self._locks[key] = lock  # kept for as long as somebody holds it or waits for it
        async with lock:
            yield
