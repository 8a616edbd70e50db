"""The job engine: a queue of tickets, each of which lets a worker serve one thread.

The mailbox of a thread is the source of truth; a job of the engine is a *ticket* that carries only
the thread's key. The worker that serves a ticket holds the thread's slot and runs the request at the
head of its mailbox. There are never fewer tickets than requests, and a surplus ticket does nothing,
so order and liveness survive crashes; a sweep adds tickets for mailboxes that have none. A thread is
parked while its head waits for an approval, or for another run of a person at their limit: its
tickets do nothing until `wake`, or the sweep after the parking time, adds new ones.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from pydantic import ConfigDict, NonNegativeFloat, PositiveFloat, PositiveInt
from redis import exceptions

from bot.core.background import alongside
from bot.core.errors import CorruptValue, LeaseLost, StoreUnavailable
from bot.core.failpoints import failpoint
from bot.core.ids import new_id
from bot.core.request import Request
from bot.runs.policy.run_approvals import AwaitingApproval
from bot.runs.queue.per_user_limit import PerUserLimit
from bot.runs.queue.requeue import Held, Requeue
from bot.runs.queue.starts import Starts
from bot.store import Mailbox
from bot.text.translation import load_catalogue, reader

if TYPE_CHECKING:
    from bot.runs.queue.docket import TicketQueue
    from bot.store.queue_library import ConcurrencyLimit, Worker

log = logging.getLogger(__name__)

SUBMIT_SECONDS = 2.5  # Slack waits three for its ack
STORE_RETRY_SECONDS = 1.0  # until a ticket is retried after Redis failed during its run
MAX_FAILURES = 20  # with the pauses of `_retry_pause`, about an hour
MAX_JOB_FAILURES = 8  # about four minutes: whoever pressed the button is waiting for it
MAX_PAUSE = 300.0  # seconds
ISOLATE_FROM_DEATHS = 2  # a request that kills its worker ends every other run of that process too
SCHEDULE_SECONDS = 1.0  # how late a ticket with a delay may be; tickets without one are not delayed
ISOLATED_PAUSE = 1.0  # seconds until a run that found its process isolated is offered again
_CLAIMS_PER_SWEEP = 4  # how often each worker tries to claim the sweep per sweep interval
_HELD_SECONDS = 1.0  # between two looks whether a pause is over, while requests wait for that
UNWIND_SECONDS = 5.0  # for cancelled runs to release their resources


Handle = Callable[[Request, int], Awaitable[None]]
"""Runs a request; the second argument is how many workers died during it since its last save point.

A handler that returns has finished the request. If it raises `Requeue`, another worker resumes the
request; `LeaseLost`: the worker that holds the lease finishes it; `StoreUnavailable`: it is retried
when Redis is back; `AwaitingApproval`: its thread stays parked; `Held`: it waits until the bot is paused no
longer. After any other exception it is
retried with growing pauses, and dropped after `MAX_FAILURES` failures, a job after
`MAX_JOB_FAILURES`. The handler itself must give up a request that keeps killing workers.
"""

OnWaiting = Callable[[Request], None]
"""Called when a request begins to wait, or was dropped. Must return at once."""

IsPaused = Callable[[], Awaitable[bool]]
"""Returns whether the bot is paused, so that requests which were held go on waiting."""


@asynccontextmanager
async def within_ack_deadline() -> AsyncGenerator[None]:
    """Bound the time for writes that must succeed before Slack gets its ack.

    Raises StoreUnavailable when it is uncertain whether the write succeeded.
    """
    try:
        async with asyncio.timeout(SUBMIT_SECONDS):
            yield
    except (TimeoutError, exceptions.RedisError) as error:
        raise StoreUnavailable("Redis did not answer in time.") from error


def _ignore_waiting(_: Request) -> None:
    pass


async def _never_paused() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """The options `[engine]` in bot.toml; times are in seconds.

    `concurrency` is the number of runs at once in a worker, and `per_person` how many of them one
    person may have: further requests of that person wait. After `lease`, another worker takes over
    the requests of a killed worker; a live worker whose event loop is blocked for as long loses its
    requests too. `sweep` is the interval of the search for requests without a ticket. `grace` is how
    long runs may take to reach a save point when their process is asked to stop: with it and the
    ten seconds that closing may take, the process ends before most hosts kill it, after 30.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    concurrency: PositiveInt = 200
    per_person: PositiveInt = 20
    lease: PositiveFloat = 20.0
    sweep: PositiveFloat = 30.0
    grace: NonNegativeFloat = 20.0


class Engine:
    """A job engine: any process may submit requests, and processes that enter `work` run them.

    Each thread has one run at a time, in the order of its mailbox; threads run concurrently.
    """

    def __init__(self, docket: TicketQueue, mailbox: Mailbox, options: EngineOptions) -> None:
        self.draining = asyncio.Event()
        """Set when this process is about to stop, or is to run one request in isolation: other runs
        are requeued at their next save point."""

        self.starts = Starts()
        """The starts of runs in this process. To hear when they end, it must observe the runs."""

        self._docket = docket
        self._mailbox = mailbox
        self._options = options
        self._per_user_limit = PerUserLimit(mailbox, options.per_person, options.sweep)
        self._handle: Handle | None = None
        self._on_deferred: OnWaiting = _ignore_waiting
        self._on_held: OnWaiting = _ignore_waiting
        self._on_dropped: OnWaiting = _ignore_waiting
        self._is_paused: IsPaused = _never_paused
        self._held: dict[str, None] = {}  # threads, in the order in which they began to wait
        self._worker: Worker | None = None
        self._running: set[asyncio.Task[None]] = set()
        self._attempts: dict[str, str] = {}
        self._places = 0
        self._is_isolating = False
        self._place_freed = asyncio.Event()
        self._is_closed = False
        self._stopping = False
        self._register()

    def _register(self) -> None:
        from bot.store.queue_library import ConcurrencyLimit

        async def ticket(
            thread_key: str,
            slot: ConcurrencyLimit = ConcurrencyLimit("thread_key"),  # noqa: ARG001, B008
        ) -> None:
            await self._serve(thread_key)

        async def sweep() -> None:
            """Do nothing: earlier versions scheduled this task, and Redis may still hold it."""

        # Tickets in Redis hold these names and the name of the argument.
        self._docket.register(ticket, names=["ticket"])
        self._docket.register(sweep, names=["sweep"])

    async def submit(self, request: Request, event_id: str) -> bool:
        """Store the request and queue it. Return False when it was submitted before.

        Raises StoreUnavailable when that is uncertain: then do not acknowledge the request.
        """
        failpoint("request-submitting")
        async with within_ack_deadline():
            new = await self._mailbox.submit(request, event_id=event_id)
            failpoint("request-kept")
            # Also for a known request: its sender may have died before this line.
            await self._add_ticket(request.thread_key)
        failpoint("request-queued")
        return new

    async def wake(self, thread_key: str) -> None:
        """Queue a parked thread again. Raises StoreUnavailable when that is uncertain."""
        async with within_ack_deadline():
            await self._add_tickets(thread_key)

    @asynccontextmanager
    async def work(
        self,
        handle: Handle,
        on_deferred: OnWaiting = _ignore_waiting,
        *,
        on_held: OnWaiting = _ignore_waiting,
        on_dropped: OnWaiting = _ignore_waiting,
        is_paused: IsPaused = _never_paused,
    ) -> AsyncGenerator[None]:
        """Run requests in this process for the length of the context. Requeue unfinished runs on exit.

        `on_deferred` is called when a person's limit defers a request, and `on_held` when it waits for
        the end of a pause; `on_dropped` when all attempts at it have failed.
        """
        self._handle, self._on_deferred = handle, on_deferred
        self._on_held, self._on_dropped, self._is_paused = on_held, on_dropped, is_paused
        from bot.store.queue_library import Worker

        lease = timedelta(seconds=self._options.lease)
        async with Worker(
            self._docket,
            concurrency=self._options.concurrency,
            redelivery_timeout=lease,
            scheduling_resolution=timedelta(seconds=SCHEDULE_SECONDS),
        ) as worker:
            self._worker = worker
            async with (
                alongside(worker.run_forever(), name="engine"),
                alongside(self._sweep_forever(), name="engine sweep"),
                alongside(self._release_held(), name="end of a pause"),
            ):
                try:
                    yield
                finally:
                    await self.drain(0)

    def stop_intake(self) -> None:
        """Start no further runs, and make the current runs stop at their next save point."""
        self._is_closed = True
        self._pause_intake()

    def _pause_intake(self) -> None:
        self.draining.set()
        if self._worker is not None:
            self._worker.concurrency = 0

    def _resume_intake(self) -> None:
        self.draining.clear()
        if self._worker is not None:
            self._worker.concurrency = self._options.concurrency

    async def drain(self, grace: float) -> None:
        """Stop the intake, wait `grace` seconds for runs to reach a save point, and cancel the rest.

        Cancelled runs are requeued. Leases are renewed until the last run has ended.
        """
        self.stop_intake()
        failpoint("drain-begun")
        await self._end_attempts()
        await self._until_idle(grace)
        self._stopping = True
        for task in self._running:
            task.cancel()
        await self._until_idle(UNWIND_SECONDS)

    async def _end_attempts(self) -> None:
        """Record that no current run killed this process, in case its host kills it during the drain."""
        with suppress(StoreUnavailable):
            async with asyncio.timeout(STORE_RETRY_SECONDS):
                for attempt, request_id in list(self._attempts.items()):
                    await self._mailbox.end_attempt(request_id, attempt)

    async def _until_idle(self, seconds: float) -> None:
        if self._running:
            await asyncio.wait(self._running, timeout=seconds)

    async def _add_ticket(self, thread_key: str, delay: float = 0.0) -> None:
        # A fresh key each time: docket drops a ticket of a known one without waking the thread.
        if delay:
            when = datetime.now(UTC) + timedelta(seconds=delay)
            await self._docket.add("ticket", when=when)(thread_key=thread_key)
        else:
            await self._docket.put("ticket", thread_key=thread_key)

    async def _add_tickets(self, thread_key: str) -> int:
        """Add a ticket for each waiting request of a thread. Return how many.

        Tickets that were served while the thread was parked had no effect.
        """
        waiting = await self._mailbox.waiting(thread_key)
        for _ in range(waiting):
            await self._add_ticket(thread_key)
        return waiting

    async def _serve(self, thread_key: str) -> None:
        """Run the oldest request of the thread, whichever request the ticket was added for."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - docket runs us in one
        self._running.add(task)
        try:
            async with self.starts.start():
                await self._run_head(thread_key)
        except Requeue as back:
            failpoint("ticket-returning")
            await self._add_ticket(thread_key, back.delay)
        except AwaitingApproval:
            pass
        except StoreUnavailable:
            await self._add_ticket(thread_key, STORE_RETRY_SECONDS)
        except asyncio.CancelledError:
            if not self._stopping:
                raise
            task.uncancel()
            await self._add_ticket(thread_key)
        finally:
            task.add_done_callback(self._running.discard)

    async def _run_head(self, thread_key: str) -> None:
        failpoint("ticket-taken")
        if await self._mailbox.is_parked(thread_key):
            return
        request = await self._head(thread_key)
        if request is None or self._handle is None:
            return
        if self.draining.is_set():
            raise Requeue
        await load_catalogue(request.spoken_locale)
        with reader(request.spoken_locale):
            await self._run_unless_deferred(request, self._handle)

    async def _run_unless_deferred(self, request: Request, handle: Handle) -> None:
        if await self._per_user_limit.is_deferred(request):
            self._on_deferred(request)
            return
        try:
            with self._per_user_limit.counted(request):
                await self._run(request, handle)
        except Held:
            await self._hold(request)
        finally:
            await self._wake_next_deferred(request)

    async def _hold(self, request: Request) -> None:
        """Park the thread of a request until the pause ends, however long that takes.

        The sweep of any worker offers it again now and then. Raises Requeue when somebody wants it
        stopped, which needs a run.
        """
        await self._mailbox.keep(request.thread_key)
        if not await self._mailbox.defer(request, self._options.sweep):
            raise Requeue
        if request.thread_key not in self._held:
            self._held[request.thread_key] = None
            self._on_held(request)

    async def _release_held(self) -> None:
        """Queue the threads that this process holds as soon as the pause is over.

        Should that fail, the sweep finds them.
        """
        while True:
            await asyncio.sleep(_HELD_SECONDS)
            with suppress(StoreUnavailable, exceptions.RedisError):
                if not self._held or await self._is_paused():
                    continue
                held, self._held = self._held, {}
                for thread_key in held:
                    await self._mailbox.undefer(thread_key)
                    await self._add_tickets(thread_key)

    async def _wake_next_deferred(self, request: Request) -> None:
        """Add tickets for the thread that the person's limit has deferred longest and that has requests."""
        while thread_key := await self._per_user_limit.pop_next_thread(request):
            if await self._add_tickets(thread_key):
                return

    async def _run(self, request: Request, handle: Handle) -> None:
        try:
            alone = await self._mailbox.deaths(request.id) >= ISOLATE_FROM_DEATHS
            async with self._place(alone=alone), self._attempt(request) as deaths:
                await handle(request, deaths)
        except (Requeue, AwaitingApproval, Held):
            raise
        except LeaseLost:
            return
        except StoreUnavailable as error:
            why = error.__cause__ or error
            log.warning("Redis failed during request %s, which stays queued: %s", request.id, why)
            raise
        except Exception as error:
            failures = await self._mailbox.count_failure(request.id)
            if failures < (MAX_JOB_FAILURES if request.job else MAX_FAILURES):
                log.exception("Request %s failed, attempt %d", request.id, failures)
                raise Requeue(_retry_pause(failures)) from error
            log.exception("Request %s dropped after %d attempts", request.id, failures)
            self._on_dropped(request)
        await self._mailbox.pop(request.thread_key, request.id)

    @asynccontextmanager
    async def _attempt(self, request: Request) -> AsyncGenerator[int]:
        """Record an attempt at the request for the length of the context.

        Yield how many workers died during the request since its last save point: the attempts that
        began and never ended.
        """
        # An attempt that this process lost to another worker while it was suspended is still alive.
        living = sum(each == request.id for each in self._attempts.values())
        attempt = new_id("attempt")
        self._attempts[attempt] = request.id
        try:
            begun = await self._mailbox.begin_attempt(request.id, attempt)
            deaths = max(0, begun - living)
            text = "Request %s was started; workers that died during it since its save point: %d"
            log.info(text, request.id, deaths)
            yield deaths
        finally:
            await self._note_end(request.id, attempt)
            del self._attempts[attempt]

    async def _note_end(self, request_id: str, attempt: str) -> None:
        """Record the end of an attempt, however long that takes: without it, it counts as a death."""
        while True:
            try:
                return await self._mailbox.end_attempt(request_id, attempt)
            except StoreUnavailable:
                await asyncio.sleep(STORE_RETRY_SECONDS)

    @asynccontextmanager
    async def _place(self, *, alone: bool) -> AsyncGenerator[None]:
        """Take a place among the runs of this process for the length of the context.

        With `alone`, run without any other. Raises Requeue while another run is or becomes isolated.
        """
        if self._is_isolating:
            raise Requeue(ISOLATED_PAUSE)
        self._places += 1
        try:
            async with self._isolated() if alone else nullcontext():
                yield
        finally:
            self._places -= 1
            self._place_freed.set()

    @asynccontextmanager
    async def _isolated(self) -> AsyncGenerator[None]:
        """Wait until every other run has ended or reached a save point, and let none start meanwhile.

        Raises Requeue when the process is about to stop.
        """
        self._is_isolating = True
        self._pause_intake()
        try:
            while self._places > 1:
                self._place_freed.clear()
                await self._place_freed.wait()
            if self._is_closed:
                raise Requeue
            self.draining.clear()
            yield
        finally:
            self._is_isolating = False
            if not self._is_closed:
                self._resume_intake()

    async def _head(self, thread_key: str) -> Request | None:
        while True:
            try:
                return await self._mailbox.head(thread_key)
            except CorruptValue:
                log.exception("An unreadable request of thread %s was set aside", thread_key)

    async def _sweep_forever(self) -> None:
        """Sweep at each interval in one of the workers, timed by Redis's clock.

        Docket's schedule uses the workers' clocks, and would pause for as long as one jumps ahead.
        """
        while True:
            try:
                if await self._claim_sweep():
                    await self._sweep()
            except (StoreUnavailable, exceptions.RedisError) as error:
                log.info("Redis failed in a sweep: %s", error)
            except Exception:
                log.exception("A sweep failed")
            await asyncio.sleep(self._options.sweep / _CLAIMS_PER_SWEEP)

    async def _claim_sweep(self) -> bool:
        """Claim the next sweep. Return False while the last sweep of any worker is too recent."""
        every = int(self._options.sweep * 1_000)
        async with self._docket.redis() as redis:
            return bool(await redis.set(self._docket.key("swept"), 1, nx=True, px=every))

    async def _sweep(self) -> None:
        """Add tickets for mailboxes that no worker serves, as a safety net."""
        for thread_key in await self._mailbox.threads():
            if await self._mailbox.forget_if_empty(thread_key):
                continue
            parked = await self._mailbox.is_parked(thread_key)
            if not parked and not await self._is_served(thread_key):
                failpoint("sweep-found")
                await self._add_tickets(thread_key)

    async def in_line(self) -> list[Request]:
        """Return the requests that wait for a free place, oldest first."""
        heads = [
            await self._head(thread_key)
            for thread_key in await self._mailbox.threads()
            if not await self._mailbox.is_waiting_for_people(thread_key)
            and not await self._is_served(thread_key)
        ]
        waiting = (each for each in heads if each and not each.job)  # a job has no thread
        return sorted(waiting, key=lambda each: each.received_at)

    async def _is_served(self, thread_key: str) -> bool:
        """Return whether a live worker holds the thread's slot: a dead worker leaves its slot taken."""
        alive = datetime.now(UTC).timestamp() - self._options.lease
        async with self._docket.redis() as redis:
            slot = self._docket.key(f"concurrency:thread_key:{thread_key}")
            return bool(await redis.zrangebyscore(slot, alive, "+inf"))


@asynccontextmanager
async def open_engine(
    url: str, mailbox: Mailbox, options: EngineOptions | None = None
) -> AsyncGenerator[Engine]:
    """Open an engine on the Redis at `url`, which must be the mailbox's."""
    from bot.runs.queue.docket import open_docket  # loads the queue's library, which is slow

    options = options or EngineOptions()
    async with open_docket(url, concurrency=options.concurrency) as docket:
        yield Engine(docket, mailbox, options)


def _retry_pause(attempt: int) -> float:
    return min(2.0**attempt, MAX_PAUSE)
