"""Isolated processes to use: one for each call, kept warm within a run for the same owner.

async with isolated("package.of.jobs") as process:
    rows = await process.call("rows", sql="SELECT 1")
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Hashable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from weakref import WeakKeyDictionary

from bot.library.isolated import Busy, ProcessLost
from bot.library.isolated.process import (
    DEFAULT_LIMITS,
    OWN_FOLDER,
    IsolatedLimits,
    IsolatedProcess,
    Reach,
    started,
)

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


@dataclass(frozen=True, slots=True)
class Share:
    """How jobs of one `kind` share the places of this process.

    A job takes `places`. At most `total` run at once (None: as many as there are places for), and
    `per_owner` for one owner; others wait in order, for `wait` seconds at most.
    """

    kind: str = ""
    total: int | None = None
    per_owner: int = 3
    places: int = 1
    wait: float = 20.0


USUAL = Share()


@dataclass(eq=False, slots=True)
class _Waiting:
    """A job that waits, or has its places; `begin` is done when it gets them."""

    share: Share
    owner: Hashable
    places: int
    begin: asyncio.Future[None]


@dataclass
class _Line:
    """The jobs of one event loop: those that have their places, and those that wait, in order."""

    free: int
    running: list[_Waiting] = field(default_factory=list)
    waiting: list[_Waiting] = field(default_factory=list)

    def advance(self) -> None:
        """Let jobs begin. One that its own kind or owner keeps waiting is passed by others; one that
        lacks places is not, or small jobs would never let a large one begin."""
        for job in [job for job in self.waiting if not job.begin.cancelled()]:
            same_kind = [other for other in self.running if other.share.kind == job.share.kind]
            same_owner = [other for other in same_kind if other.owner == job.owner]
            most = job.share.total or len(same_kind) + 1
            if len(same_kind) >= most or len(same_owner) >= job.share.per_owner:
                continue
            if job.places > self.free:
                return
            self.waiting.remove(job)
            self.running.append(job)
            self.free -= job.places
            job.begin.set_result(None)

    def leave(self, job: _Waiting) -> None:
        if job in self.running:
            self.running.remove(job)
            self.free += job.places
        else:
            self.waiting.remove(job)
        self.advance()


class Slots:
    """The `total` places for jobs in this process, in one line of waiting jobs."""

    def __init__(self, total: int) -> None:
        self._total = total
        # By event loop, because a future belongs to one.
        self._lines: WeakKeyDictionary[asyncio.AbstractEventLoop, _Line] = WeakKeyDictionary()

    @asynccontextmanager
    async def hold(
        self,
        owner: Hashable = None,
        share: Share = USUAL,
        on_wait: Callable[[], object] | None = None,
    ) -> AsyncGenerator[None]:
        """Hold the places of a job for the body, counted for `owner`; call `on_wait` if it must wait.
        Raises Busy when they do not become free in time."""
        loop = asyncio.get_running_loop()
        line = self._lines.setdefault(loop, _Line(self._total))
        job = _Waiting(share, owner, min(share.places, self._total), loop.create_future())
        line.waiting.append(job)
        try:
            line.advance()
            if on_wait and not job.begin.done():
                on_wait()
            try:
                async with asyncio.timeout(share.wait):
                    await job.begin
            except TimeoutError:
                raise Busy(
                    "Too much is being worked on here at once, and no place became free. Try again "
                    "in a minute, with fewer calls at the same time."
                ) from None
            yield
        finally:
            line.leave(job)


_SLOTS = Slots(slots_for(bytes_each=2**30))
"""The places for isolated processes that work at the same time, of any kind."""

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
    share: Share = USUAL,
    on_wait: Callable[[], object] | None = None,
) -> AsyncGenerator[IsolatedProcess]:
    """Provide a process that runs the functions of the module `jobs`.

    It is one that this run left idle for the same `owner`, the person whom the work is for, or a new
    one. On exit it is kept for reuse within the run, or killed: always with `once`. `share` says how many work
    at once; `on_wait` is called if this one must wait. Raises Busy when too many are at work, or the
    machine is too busy to start one.
    """
    run = None if once else _run.get()
    key = (jobs, limits, reach, owner)
    async with _SLOTS.hold(owner, share, on_wait):
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
