"""Slots for expensive work, so that no person takes the whole machine."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from weakref import WeakKeyDictionary, WeakValueDictionary

from bot.core.context import current_request
from bot.core.errors import ToolError

_PATIENCE = 20.0
"""Seconds to wait for a slot."""

_OF_A_CONTAINER = (
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
)


def at_once(*, each: int) -> int:
    """Return how many jobs of `each` bytes of memory this machine may run at once: 2 to 16."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for limit in _OF_A_CONTAINER:
        with suppress(OSError, ValueError):  # the file does not exist, or says "max"
            memory = min(memory, int(Path(limit).read_text()))
    return max(2, min(16, memory // each))


class Places:
    """At most `every` jobs at once in this process and `own` for one person; others wait in order."""

    def __init__(self, *, every: int, own: int) -> None:
        self._every, self._own = every, own
        # By event loop, because a semaphore belongs to one.
        self._all: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore]
        self._all = WeakKeyDictionary()
        self._ones: WeakValueDictionary[tuple[int, str, str], asyncio.Semaphore]
        self._ones = WeakValueDictionary()

    @asynccontextmanager
    async def taken(self) -> AsyncGenerator[None]:
        """Hold a slot for the body, counted for the asker if there is one. Raises ToolError when no
        slot becomes free in time."""
        loop = asyncio.get_running_loop()
        try:
            request = current_request().request
            person = id(loop), request.team, request.user
        except LookupError:
            person = id(loop), "", ""
        own = self._ones.setdefault(person, asyncio.Semaphore(self._own))
        every = self._all.setdefault(loop, asyncio.Semaphore(self._every))
        async with AsyncExitStack() as places:
            try:
                async with asyncio.timeout(_PATIENCE):
                    await places.enter_async_context(own)
                    await places.enter_async_context(every)
            except TimeoutError:
                raise ToolError(
                    "Too much is being worked on here at once, and no place became free. Try again "
                    "in a minute, with fewer calls at the same time."
                ) from None
            yield
