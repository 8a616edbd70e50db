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

_WAIT_SECONDS = 20.0
"""Seconds to wait for a slot."""

_CONTAINER_LIMITS = (
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
)


def slots_for(*, bytes_each: int) -> int:
    """Return how many jobs of `bytes_each` of memory this machine may run at once: 2 to 16."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for limit in _CONTAINER_LIMITS:
        with suppress(OSError, ValueError):  # the file does not exist, or says "max"
            memory = min(memory, int(Path(limit).read_text()))
    return max(2, min(16, memory // bytes_each))


class Slots:
    """At most `total` jobs at once in this process and `per_person` for one person; others wait in order."""

    def __init__(self, *, total: int, per_person: int) -> None:
        self._total, self._per_person = total, per_person
        # By event loop, because a semaphore belongs to one.
        self._totals: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore]
        self._totals = WeakKeyDictionary()
        self._by_person: WeakValueDictionary[tuple[int, str, str], asyncio.Semaphore]
        self._by_person = WeakValueDictionary()

    @asynccontextmanager
    async def hold(self) -> AsyncGenerator[None]:
        """Hold a slot for the body, counted for the asker if there is one. Raises ToolError when no
        slot becomes free in time."""
        loop = asyncio.get_running_loop()
        try:
            request = current_request().request
            person = id(loop), request.team, request.user
        except LookupError:
            person = id(loop), "", ""
        person_slot = self._by_person.setdefault(person, asyncio.Semaphore(self._per_person))
        total_slot = self._totals.setdefault(loop, asyncio.Semaphore(self._total))
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(_WAIT_SECONDS):
                    await stack.enter_async_context(person_slot)
                    await stack.enter_async_context(total_slot)
            except TimeoutError:
                raise ToolError(
                    "Too much is being worked on here at once, and no place became free. Try again "
                    "in a minute, with fewer calls at the same time."
                ) from None
            yield
