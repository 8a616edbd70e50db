"""Slots for expensive work, so that no owner takes the whole machine."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Hashable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from weakref import WeakKeyDictionary, WeakValueDictionary

from bot.library.isolated import Busy

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
    """At most `total` jobs at once in this process and `per_owner` for one owner; others wait in order."""

    def __init__(self, *, total: int, per_owner: int) -> None:
        self._total, self._per_owner = total, per_owner
        # By event loop, because a semaphore belongs to one.
        self._totals: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore]
        self._totals = WeakKeyDictionary()
        self._by_owner: WeakValueDictionary[tuple[int, Hashable], asyncio.Semaphore]
        self._by_owner = WeakValueDictionary()

    @asynccontextmanager
    async def hold(self, owner: Hashable = None) -> AsyncGenerator[None]:
        """Hold a slot for the body, counted for `owner`. Raises Busy when no slot becomes free in
        time."""
        loop = asyncio.get_running_loop()
        owner_slot = self._by_owner.setdefault(
            (id(loop), owner), asyncio.Semaphore(self._per_owner)
        )
        total_slot = self._totals.setdefault(loop, asyncio.Semaphore(self._total))
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(_WAIT_SECONDS):
                    await stack.enter_async_context(owner_slot)
                    await stack.enter_async_context(total_slot)
            except TimeoutError:
                raise Busy(
                    "Too much is being worked on here at once, and no place became free. Try again "
                    "in a minute, with fewer calls at the same time."
                ) from None
            yield
