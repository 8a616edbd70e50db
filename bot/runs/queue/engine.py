"""The job engine: pydocket, used as a carrier of tickets.

The mailbox of a thread is the truth; a job of the engine is a *ticket* that carries nothing but
the thread. Whoever serves a ticket holds the thread's slot and runs the head of its mailbox. There
are never fewer tickets than requests, and one too many does nothing, so order and liveness survive
crashes; a sweep gives tickets to mailboxes that have none. A thread whose head waits for people, or
for a run of a person who has many, rests: its tickets do nothing, and `wake`, or the sweep when the
time is up, brings new ones.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from docket import ConcurrencyLimit, Docket, Worker
from pydantic import ConfigDict, NonNegativeFloat, PositiveFloat, PositiveInt
from redis import exceptions

from bot.core.background import alongside
from bot.core.errors import CorruptValue, LeaseLost, StoreUnavailable
from bot.core.failpoints import failpoint
from bot.core.ids import new_id
from bot.core.request import Request
from bot.runs.policy.run_approvals import AwaitingApproval
from bot.runs.queue.docket import open_docket
from bot.runs.queue.per_user_limit import PerUserLimit
from bot.runs.queue.requeue import Requeue
from bot.store import Mailbox

log = logging.getLogger(__name__)

SUBMIT_SECONDS = 2.5  # Slack waits three for its ack
STORE_TROUBLE_SECONDS = 1.0  # before a ticket is tried again when Redis failed under its run
LAST_ATTEMPT = 20  # with the pauses of `_pause`, about an hour
LONGEST_PAUSE = 300.0
ALONE_FROM = 2  # deaths: what kills its worker takes every run of that process with it
SCHEDULE_SECONDS = 1.0  # how late a ticket with a delay may be; one without waits for nothing
TAKEN_PAUSE = 1.0  # seconds until a run that met one that is alone is offered to a worker again
_LOOKS = 4  # of a worker in the time between two sweeps
UNWIND_SECONDS = 5.0  # for cancelled runs to close what they hold


Handle = Callable[[Request, int], Awaitable[None]]
"""Runs a request; the second argument is how many workers died under it since its last save point.

To return means that the request is done. `Requeue` leaves it to another worker, `LeaseLost` to
the one that holds it, `StoreUnavailable` to whoever is there when Redis is back, and `AwaitingApproval` to
nobody while its thread rests. After anything else it is tried again, later and later, and after
`LAST_ATTEMPT` dropped. The handler gives a request up that goes on killing workers.
"""

OnDeferred = Callable[[Request], None]
"""Told of a request that waits for another one of its person's, each time it is looked at. Returns at once."""


@asynccontextmanager
async def before_the_ack() -> AsyncGenerator[None]:
    """Bound what has to be kept before Slack gets its ack. Raises StoreUnavailable when it is not
    certain that it was."""
    try:
        async with asyncio.timeout(SUBMIT_SECONDS):
            yield
    except (TimeoutError, exceptions.RedisError) as error:
        raise StoreUnavailable("Redis did not answer in time.") from error


def _nobody_told(_: Request) -> None:
    pass


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """`[engine]` in bot.toml. `concurrency` is runs at once in a worker, `per_person` how many of
    them one person may have: what they ask beyond that waits for these. `lease` is how long a
    killed worker's requests rest, in seconds; a live worker whose event loop stands still for as
    long loses its own. `sweep` is the time between looks for requests that nobody serves. `grace`
    is how long runs may take to a save point when their process is asked to stop: with it and the
    ten seconds that closing may take, the process ends before a host kills it, mostly after 30."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    concurrency: PositiveInt = 200
    per_person: PositiveInt = 20
    lease: PositiveFloat = 20.0
    sweep: PositiveFloat = 30.0
    grace: NonNegativeFloat = 20.0


class Engine:
    """Submits requests from any process, and runs them in those that `work`.

    One run per thread at a time, in the order of the mailbox; different threads side by side.
    """

    def __init__(self, docket: Docket, mailbox: Mailbox, options: EngineOptions) -> None:
        self.draining = asyncio.Event()
        """Set when this process is about to stop, or a run is to be alone in it: runs are handed back
        at their next save point."""

        self._docket = docket
        self._mailbox = mailbox
        self._options = options
        self._shares = PerUserLimit(mailbox, options.per_person, options.sweep)
        self._handle: Handle | None = None
        self._say_it_rests: OnDeferred = _nobody_told
        self._worker: Worker | None = None
        self._running: set[asyncio.Task[None]] = set()
        self._attempts: dict[str, str] = {}
        self._places = 0
        self._is_isolating = False
        self._left = asyncio.Event()
        self._is_closed = False
        self._stopping = False
        self._register()

    def _register(self) -> None:
        async def ticket(
            thread_key: str,
            slot: ConcurrencyLimit = ConcurrencyLimit("thread_key"),  # noqa: ARG001, B008
        ) -> None:
            await self._serve(thread_key)

        async def sweep() -> None:
            """Do nothing: earlier versions scheduled this, and Redis may still hold it."""

        # Redis holds tickets under these names, and under that of the argument.
        self._docket.register(ticket, names=["ticket"])
        self._docket.register(sweep, names=["sweep"])

    async def submit(self, request: Request, event_id: str) -> bool:
        """Keep the request and have it run; False when it was taken in before.

        Raises StoreUnavailable when that is not certain: do not acknowledge it then.
        """
        failpoint("request-submitting")
        async with before_the_ack():
            new = await self._mailbox.submit(request, event_id=event_id)
            failpoint("request-kept")
            # Also for one seen before: its sender may have died before this line.
            await self._add_ticket(request.thread_key)
        failpoint("request-queued")
        return new

    async def wake(self, thread_key: str) -> None:
        """Have a thread looked at that rested. Raises StoreUnavailable when that is not certain."""
        async with before_the_ack():
            await self._add_tickets(thread_key)

    @asynccontextmanager
    async def work(
        self, handle: Handle, say_it_rests: OnDeferred = _nobody_told
    ) -> AsyncGenerator[None]:
        """Run requests in this process for the length of the context; what still runs at its end
        is handed back."""
        self._handle, self._say_it_rests = handle, say_it_rests
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
            ):
                try:
                    yield
                finally:
                    await self.drain(0)

    def take_no_more(self) -> None:
        """Start no runs, and have those under way stop at their next save point."""
        self._is_closed = True
        self._clear()

    def _clear(self) -> None:
        self.draining.set()
        if self._worker is not None:
            self._worker.concurrency = 0

    def _reopen(self) -> None:
        self.draining.clear()
        if self._worker is not None:
            self._worker.concurrency = self._options.concurrency

    async def drain(self, grace: float) -> None:
        """Take nothing more, let runs come to a save point within `grace` seconds, and hand back the
        rest where they are.

        Leases are renewed until the last run has ended.
        """
        self.take_no_more()
        failpoint("drain-begun")
        await self._excuse()
        await self._until_idle(grace)
        self._stopping = True
        for task in self._running:
            task.cancel()
        await self._until_idle(UNWIND_SECONDS)

    async def _excuse(self) -> None:
        """Note for all runs that they did not kill this process, whenever its host does."""
        with suppress(StoreUnavailable):
            async with asyncio.timeout(STORE_TROUBLE_SECONDS):
                for attempt, request_id in list(self._attempts.items()):
                    await self._mailbox.end_attempt(request_id, attempt)

    async def _until_idle(self, seconds: float) -> None:
        if self._running:
            await asyncio.wait(self._running, timeout=seconds)

    async def _add_ticket(self, thread_key: str, delay: float = 0.0) -> None:
        # A fresh key each time: docket drops a ticket of a known one without waking the thread.
        when = datetime.now(UTC) + timedelta(seconds=delay) if delay else None
        await self._docket.add("ticket", when=when)(thread_key=thread_key)

    async def _add_tickets(self, thread_key: str) -> int:
        """One for each of its requests, as those that came while the thread rested brought it
        nothing; how many."""
        waiting = await self._mailbox.waiting(thread_key)
        for _ in range(waiting):
            await self._add_ticket(thread_key)
        return waiting

    async def _serve(self, thread_key: str) -> None:
        """Run the oldest request of the thread, whichever one brought this ticket."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - docket runs us in one
        self._running.add(task)
        try:
            await self._run_head(thread_key)
        except Requeue as back:
            failpoint("ticket-returning")
            await self._add_ticket(thread_key, back.delay)
        except AwaitingApproval:
            pass
        except StoreUnavailable:
            await self._add_ticket(thread_key, STORE_TROUBLE_SECONDS)
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
        if await self._shares.rests(request):
            self._say_it_rests(request)
            return
        try:
            with self._shares.taken(request):
                await self._run(request, self._handle)
        finally:
            await self._have_next_follow(request)

    async def _have_next_follow(self, request: Request) -> None:
        """Give the place of a run that ended to the thread that has waited longest for one of its
        person, and has something to do still."""
        while thread_key := await self._shares.next_after(request):
            if await self._add_tickets(thread_key):
                return

    async def _run(self, request: Request, handle: Handle) -> None:
        try:
            alone = await self._mailbox.deaths(request.id) >= ALONE_FROM
            async with self._place(alone=alone), self._attempt(request) as deaths:
                await handle(request, deaths)
        except (Requeue, AwaitingApproval):
            raise
        except LeaseLost:
            return
        except StoreUnavailable as error:
            why = error.__cause__ or error
            log.warning("Redis failed under request %s; it stays where it is: %s", request.id, why)
            raise
        except Exception as error:
            failures = await self._mailbox.count_failure(request.id)
            if failures < LAST_ATTEMPT:
                log.exception("Request %s failed, attempt %d", request.id, failures)
                raise Requeue(_pause(failures)) from error
            log.exception("Request %s dropped after %d attempts", request.id, failures)
        await self._mailbox.pop(request.thread_key, request.id)

    @asynccontextmanager
    async def _attempt(self, request: Request) -> AsyncGenerator[int]:
        """Keep for the length of the context that the request runs here; yields how many workers died
        under it since its last save point: attempts that began and never ended."""
        # An attempt of this process that was overtaken, as the process stood still, is alive.
        living = sum(each == request.id for each in self._attempts.values())
        attempt = new_id("attempt")
        self._attempts[attempt] = request.id
        try:
            begun = await self._mailbox.begin_attempt(request.id, attempt)
            deaths = max(0, begun - living)
            text = "Request %s is taken up; workers died under it since its last save point: %d"
            log.info(text, request.id, deaths)
            yield deaths
        finally:
            await self._note_end(request.id, attempt)
            del self._attempts[attempt]

    async def _note_end(self, request_id: str, attempt: str) -> None:
        """Patiently: an attempt whose end nobody noted counts as a death."""
        while True:
            try:
                return await self._mailbox.end_attempt(request_id, attempt)
            except StoreUnavailable:
                await asyncio.sleep(STORE_TROUBLE_SECONDS)

    @asynccontextmanager
    async def _place(self, *, alone: bool) -> AsyncGenerator[None]:
        """Take a place among the runs of this process for the length of the context, or all of them.

        Raises Requeue while another run is alone or is about to be.
        """
        if self._is_isolating:
            raise Requeue(TAKEN_PAUSE)
        self._places += 1
        try:
            async with self._isolated() if alone else nullcontext():
                yield
        finally:
            self._places -= 1
            self._left.set()

    @asynccontextmanager
    async def _isolated(self) -> AsyncGenerator[None]:
        """Wait until every other run has ended or come to a save point, and let none start meanwhile.

        Raises Requeue when the process is to stop.
        """
        self._is_isolating = True
        self._clear()
        try:
            while self._places > 1:
                self._left.clear()
                await self._left.wait()
            if self._is_closed:
                raise Requeue
            self.draining.clear()
            yield
        finally:
            self._is_isolating = False
            if not self._is_closed:
                self._reopen()

    async def _head(self, thread_key: str) -> Request | None:
        while True:
            try:
                return await self._mailbox.head(thread_key)
            except CorruptValue:
                log.exception("A request of thread %s was set aside", thread_key)

    async def _sweep_forever(self) -> None:
        """Sweep in one worker after the other, by Redis's clock: docket's schedule goes by those of
        workers, and after a jump of one rests for as long."""
        while True:
            try:
                if await self._takes_sweep():
                    await self._sweep()
            except (StoreUnavailable, exceptions.RedisError) as error:
                log.info("Redis failed in a sweep: %s", error)
            except Exception:
                log.exception("A sweep failed")
            await asyncio.sleep(self._options.sweep / _LOOKS)

    async def _takes_sweep(self) -> bool:
        """Return whether the last sweep of any worker is long enough ago."""
        every = int(self._options.sweep * 1_000)
        async with self._docket.redis() as redis:
            return bool(await redis.set(self._docket.key("swept"), 1, nx=True, px=every))

    async def _sweep(self) -> None:
        """A safety net: give a ticket to mailboxes that nobody serves."""
        for thread_key in await self._mailbox.threads():
            if await self._mailbox.forget_if_empty(thread_key):
                continue
            resting = await self._mailbox.is_parked(thread_key)
            if not resting and not await self._is_served(thread_key):
                failpoint("sweep-found")
                await self._add_tickets(thread_key)

    async def in_line(self) -> list[Request]:
        """Return the requests that wait for a free place, in the order in which they came."""
        heads = [
            await self._head(thread_key)
            for thread_key in await self._mailbox.threads()
            if not await self._mailbox.is_waiting_for_people(thread_key)
            and not await self._is_served(thread_key)
        ]
        return sorted(filter(None, heads), key=lambda each: each.received_at)

    async def _is_served(self, thread_key: str) -> bool:
        """Whether a worker holds the thread's slot and renews it: one that died leaves its own."""
        alive = datetime.now(UTC).timestamp() - self._options.lease
        async with self._docket.redis() as redis:
            slot = self._docket.key(f"concurrency:thread_key:{thread_key}")
            return bool(await redis.zrangebyscore(slot, alive, "+inf"))


@asynccontextmanager
async def open_engine(
    url: str, mailbox: Mailbox, options: EngineOptions | None = None
) -> AsyncGenerator[Engine]:
    """An engine on the Redis at `url`, which must be the mailbox's."""
    options = options or EngineOptions()
    async with open_docket(url, concurrency=options.concurrency) as docket:
        yield Engine(docket, mailbox, options)


def _pause(attempt: int) -> float:
    return min(2.0**attempt, LONGEST_PAUSE)
