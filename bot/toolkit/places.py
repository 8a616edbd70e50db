"""Places at what takes much of a machine, so that nobody has all of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from weakref import WeakKeyDictionary, WeakValueDictionary

from bot.core.context import current_request


class Places:
    """So many at once in a process, and so many for one person; others wait, in order."""

    def __init__(self, *, every: int, own: int) -> None:
        self._every, self._own = every, own
        # Of each event loop, as a semaphore belongs to one.
        self._all: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore]
        self._all = WeakKeyDictionary()
        self._ones: WeakValueDictionary[tuple[int, str, str], asyncio.Semaphore]
        self._ones = WeakValueDictionary()

    @asynccontextmanager
    async def taken(self) -> AsyncGenerator[None]:
        """Have one in the body, for the person who asks, if one does."""
        loop = asyncio.get_running_loop()
        try:
            request = current_request().request
            person = id(loop), request.team, request.user
        except LookupError:
            person = id(loop), "", ""
        own = self._ones.setdefault(person, asyncio.Semaphore(self._own))
        every = self._all.setdefault(loop, asyncio.Semaphore(self._every))
        async with own, every:
            yield
