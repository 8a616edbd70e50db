"""Isolated processes to use: one for each call, kept warm within a run for the same owner.

async with isolated("package.of.jobs") as process:
    rows = await process.call("rows", sql="SELECT 1")
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Hashable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakKeyDictionary, WeakValueDictionary

from bot.library.isolated import Busy, ProcessLost
from bot.library.isolated.process import (
    DEFAULT_LIMITS,
    OWN_FOLDER,
    IsolatedLimits,
    IsolatedProcess,
    Reach,
    started,
)

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
    """At most `total` jobs at once in this process and `per_owner` for one owner; others wait in order,
    for `wait` seconds at most."""

    def __init__(self, *, total: int, per_owner: int, wait: float = _WAIT_SECONDS) -> None:
        self._total, self._per_owner, self._wait = total, per_owner, wait
        # By event loop, because a semaphore belongs to one.
        self._totals: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore]
        self._totals = WeakKeyDictionary()
        self._by_owner: WeakValueDictionary[tuple[int, Hashable], asyncio.Semaphore]
        self._by_owner = WeakValueDictionary()

    def are_taken(self, owner: Hashable = None) -> bool:
        """Return whether a job of `owner` would wait now."""
        return any(semaphore.locked() for semaphore in self._semaphores(owner))

    @asynccontextmanager
    async def hold(self, owner: Hashable = None) -> AsyncGenerator[None]:
        """Hold a slot for the body, counted for `owner`. Raises Busy when no slot becomes free in
        time."""
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(self._wait):
                    for semaphore in self._semaphores(owner):
                        await stack.enter_async_context(semaphore)
            except TimeoutError:
                raise Busy(
                    "Too much is being worked on here at once, and no place became free. Try again "
                    "in a minute, with fewer calls at the same time."
                ) from None
            yield

    def _semaphores(self, owner: Hashable) -> tuple[asyncio.Semaphore, asyncio.Semaphore]:
        loop = asyncio.get_running_loop()
        owner_slot = self._by_owner.setdefault(
            (id(loop), owner), asyncio.Semaphore(self._per_owner)
        )
        return owner_slot, self._totals.setdefault(loop, asyncio.Semaphore(self._total))


_SLOTS = Slots(total=slots_for(bytes_each=2**30), per_owner=3)
"""Limit for isolated processes that work at the same time, of any kind."""

_MAX_IDLE = 8
"""Idle processes kept in this process; the one that is idle for longest is ended first."""

_READY_SECONDS = 2.0
"""Seconds in which an idle process must answer."""


class _RunScope:
    """A run, at whose end its idle processes end."""

    is_over = False


@dataclass(frozen=True)
class _WarmProcess:
    """A process, the `key` of the calls that may reuse it, and the stack that ends it."""

    run: _RunScope | None
    key: tuple[object, ...]
    process: IsolatedProcess
    on_end: AsyncExitStack


_run: ContextVar[_RunScope | None] = ContextVar("isolated_run", default=None)
_idle: list[_WarmProcess] = []


@asynccontextmanager
async def warm_processes() -> AsyncGenerator[None]:
    """Keep isolated processes warm between the calls of one run, which is the body."""
    run = _RunScope()
    token = _run.set(run)
    try:
        yield
    finally:
        _run.reset(token)
        run.is_over = True
        async with AsyncExitStack() as stack:  # all are ended, even when this is cancelled
            for warm in [warm for warm in _idle if warm.run is run]:
                _idle.remove(warm)
                stack.push_async_callback(warm.on_end.aclose)


@asynccontextmanager
async def isolated(
    jobs: str,
    limits: IsolatedLimits = DEFAULT_LIMITS,
    reach: Reach = OWN_FOLDER,
    *,
    owner: Hashable = None,
    once: bool = False,
) -> AsyncGenerator[IsolatedProcess]:
    """Provide a process that runs the functions of the module `jobs`.

    It is one that this run left idle for the same `owner`, the person whom the work is for, or a new
    one. On exit it is kept for reuse within the run, or killed: always with `once`. Raises Busy when
    too many processes are at work, for everybody or for this owner, or the machine is too busy to
    start one.
    """
    run = None if once else _run.get()
    key = (jobs, limits, reach, owner)
    async with _SLOTS.hold(owner):
        warm = run and await _take_idle(run, key)
        if not warm:
            on_end = AsyncExitStack()
            process = await on_end.enter_async_context(started(jobs, limits, reach))
            warm = _WarmProcess(run, key, process, on_end)
        try:
            yield warm.process
        finally:
            if run is not None and not run.is_over and warm.process.is_reusable:
                _idle.append(warm)
                if len(_idle) > _MAX_IDLE:
                    await _idle.pop(0).on_end.aclose()
            else:
                await warm.on_end.aclose()


async def _take_idle(run: _RunScope, key: tuple[object, ...]) -> _WarmProcess | None:
    """Return an idle process that still answers: the kernel may have killed it to free memory."""
    while idle := next((warm for warm in _idle if (warm.run, warm.key) == (run, key)), None):
        _idle.remove(idle)
        async with AsyncExitStack() as unless_it_answers:
            unless_it_answers.push_async_callback(idle.on_end.aclose)
            with suppress(TimeoutError, ProcessLost):
                await idle.process.wait_until_ready(_READY_SECONDS)
                unless_it_answers.pop_all()
                return idle
    return None
