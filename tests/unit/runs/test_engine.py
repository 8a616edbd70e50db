"""The engine: in order per thread, side by side across threads, nothing lost, nothing twice."""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from redis.asyncio import Redis

from bot.agent.events import RunStarted, TurnStarted
from bot.core.errors import LeaseLost, StoreUnavailable
from bot.core.request import Entry, Request
from bot.runs.queue import starts
from bot.runs.queue.engine import Engine, EngineOptions, open_engine
from bot.runs.queue.requeue import Requeue
from bot.runs.watching import Listener
from bot.store import Stores, open_stores
from bot.store.embedded import embedded_redis
from tests.support.redis import asked

SOON = 10  # seconds a test waits for a state before it fails


@dataclass
class Handler:
    """Records what it is given; a request rests until its text's gate is opened, if it has one."""

    gates: dict[str, asyncio.Event] = field(default_factory=dict)
    errors: list[BaseException] = field(default_factory=list)
    started: asyncio.Queue[tuple[str, int]] = field(default_factory=asyncio.Queue)
    ended: list[str] = field(default_factory=list)
    running: Counter[str] = field(default_factory=Counter)
    most: Counter[str] = field(default_factory=Counter)

    def gate(self, *texts: str) -> None:
        self.gates.update({text: asyncio.Event() for text in texts})

    async def __call__(self, request: Request, deaths: int) -> None:
        self.started.put_nowait((request.text, deaths))
        if self.errors:
            raise self.errors.pop(0)
        self.running[request.user] += 1
        self.most |= self.running
        try:
            if gate := self.gates.get(request.text):
                await gate.wait()
        finally:
            self.running[request.user] -= 1
        self.ended.append(request.text)

    async def next(self) -> tuple[str, int]:
        async with asyncio.timeout(SOON):
            return await self.started.get()


@asynccontextmanager
async def engine_on(
    url: str, stores: Stores, lease: float = 2.0, per_person: int = 100, sweep: float = 1.0
) -> AsyncGenerator[Engine]:
    options = EngineOptions(lease=lease, sweep=sweep, per_person=per_person)
    async with open_engine(url, stores.mailbox, options) as engine:
        yield engine


async def submit(engine: Engine, request: Request) -> Request:
    assert await engine.submit(request, f"Ev{request.id}")
    return request


async def emptied(stores: Stores) -> None:
    """Wait until nothing is left to do in any thread."""
    async with asyncio.timeout(SOON):
        while await stores.mailbox.threads():  # noqa: ASYNC110 - a list tells nobody that it is empty
            await asyncio.sleep(0.01)


async def resting(stores: Stores, *requests: Request) -> None:
    """Wait until the threads of these rest."""
    async with asyncio.timeout(SOON):
        for request in requests:
            while not await stores.mailbox.is_parked(request.thread_key):  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.01)


async def test_a_thread_is_answered_in_order_and_one_at_a_time(
    redis_url: str, stores: Stores
) -> None:
    """Follow-ups wait for the run before them (reliability 2)."""
    handler = Handler()
    texts = [f"question {number}" for number in range(6)]
    handler.gate(*texts)
    async with engine_on(redis_url, stores) as engine, engine.work(handler):
        for text in texts:
            await submit(engine, asked(text))
        for text in texts:
            assert await handler.next() == (text, 0)
            assert handler.started.empty()
            handler.gates[text].set()
        await emptied(stores)
    assert handler.ended == texts


async def test_threads_run_side_by_side(redis_url: str, stores: Stores) -> None:
    """A slow question holds up nobody in another thread."""
    handler = Handler()
    texts = {f"thread {number}" for number in range(30)}
    handler.gate(*texts)
    async with engine_on(redis_url, stores) as engine, engine.work(handler):
        for text in texts:
            await submit(engine, asked(text, thread=text))
        assert {(await handler.next())[0] for _ in texts} == texts
        assert handler.ended == []
        for gate in handler.gates.values():
            gate.set()
        await emptied(stores)


async def test_a_burst_begins_a_few_at_a_time(
    redis_url: str, stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that calls its model makes room for the next one, though it goes on."""
    monkeypatch.setattr(starts, "SECONDS", 600)
    begun: asyncio.Queue[Listener] = asyncio.Queue()
    go_on = asyncio.Event()

    async def handler(request: Request, _deaths: int) -> None:
        begun.put_nowait(engine.starts.listener(request))
        await go_on.wait()

    async with engine_on(redis_url, stores) as engine, engine.work(handler):
        for number in range(starts.AT_ONCE + 2):
            await submit(engine, asked("How many?", thread=str(number)))
        async with asyncio.timeout(SOON):
            first = [await begun.get() for _ in range(starts.AT_ONCE)]
            assert begun.empty()
            for event in (RunStarted("gpt"), TurnStarted(1, 5), TurnStarted(2, 5)):
                first[0].on_event(event)
            await begun.get()
            assert begun.empty()
            go_on.set()
            await begun.get()
        await emptied(stores)


async def test_order_holds_across_workers(redis_url: str, stores: Stores) -> None:
    """Two worker processes share the threads; each thread stays in order."""
    handler = Handler()
    async with (
        engine_on(redis_url, stores) as one,
        engine_on(redis_url, stores) as two,
        one.work(handler),
        two.work(handler),
    ):
        for number in range(40):
            thread = f"{number % 4}.0"
            await submit((one, two)[number % 2], asked(f"{thread} {number:02}", thread=thread))
        await emptied(stores)
    for start in ("0.0", "1.0", "2.0", "3.0"):
        mine = [text for text in handler.ended if text.startswith(start)]
        assert mine == sorted(mine)
        assert len(mine) == 10


async def test_an_event_sent_twice_runs_once(redis_url: str, stores: Stores) -> None:
    """A redelivery costs a ticket that finds nothing to do."""
    handler = Handler()
    async with engine_on(redis_url, stores) as engine, engine.work(handler):
        first = asked("once")
        assert await engine.submit(first, "Ev1")
        assert not await engine.submit(asked("twice", ts=first.ts), "Ev2")
        assert not await engine.submit(asked("thrice"), "Ev1")
        await submit(engine, asked("after"))
        await emptied(stores)
    assert handler.ended == ["once", "after"]


async def test_an_idle_worker_starts_a_request_at_once(redis_url: str, stores: Stores) -> None:
    """It looks at schedules once a second; what waits for nothing must not wait for that."""
    handler, took = Handler(), list[float]()
    async with engine_on(redis_url, stores) as engine, engine.work(handler):
        await submit(engine, asked("warm"))
        await handler.next()
        for number in range(5):
            begun = time.monotonic()
            await submit(engine, asked(f"{number}", thread=f"{number}.0"))
            await handler.next()
            took.append(time.monotonic() - begun)
    assert sorted(took)[2] < 0.25


async def test_a_request_kept_without_a_ticket_is_found(redis_url: str, stores: Stores) -> None:
    """Its sender died between the two; the sweep gives it one (reliability 5)."""
    handler = Handler()
    async with engine_on(redis_url, stores) as engine, engine.work(handler):
        await submit(engine, asked("with"))
        assert await handler.next() == ("with", 0)
        await stores.mailbox.submit(asked("without", thread="2.0"), event_id="Ev9")
        assert await handler.next() == ("without", 0)
        await emptied(stores)


async def test_the_slot_of_a_dead_worker_hides_no_request(
    redis_url: str, stores: Stores, redis: Redis
) -> None:
    """Its ticket was lost with it; the slot stays for four leases and is renewed by nobody."""
    handler, request = Handler(), asked("orphan")
    slot = f"bot:engine:concurrency:thread_key:{request.thread_key}"
    await redis.zadd(slot, {"ticket of the dead": time.time() - 60})
    await stores.mailbox.submit(request, event_id="Ev1")
    async with engine_on(redis_url, stores) as engine, engine.work(handler):
        assert await handler.next() == ("orphan", 0)
        await emptied(stores)


async def test_what_is_handed_back_goes_first_and_is_not_blamed(
    redis_url: str, stores: Stores
) -> None:
    """A runner that stops at a save point leaves the request for whoever comes next (I6)."""
    handler = Handler(errors=[Requeue(), Requeue()])
    async with engine_on(redis_url, stores) as engine, engine.work(handler):
        await submit(engine, asked("first"))
        await submit(engine, asked("second"))
        await emptied(stores)
    assert handler.ended == ["first", "second"]
    assert [handler.started.get_nowait() for _ in range(4)] == [("first", 0)] * 3 + [("second", 0)]


async def test_a_failed_attempt_is_tried_again_and_is_no_death(
    redis_url: str, stores: Stores
) -> None:
    """A worker that raises an error lives on; nothing is held against the request for it."""
    handler = Handler(errors=[RuntimeError("a bug")])
    async with engine_on(redis_url, stores) as engine, engine.work(handler):
        await submit(engine, asked("first"))
        assert await handler.next() == ("first", 0)
        assert await handler.next() == ("first", 0)
        await emptied(stores)


async def test_trouble_with_redis_is_not_the_requests_fault(redis_url: str, stores: Stores) -> None:
    """However often Redis goes away, a request is not given up for it."""
    handler = Handler(errors=[StoreUnavailable("gone")])
    async with engine_on(redis_url, stores) as engine, engine.work(handler):
        await submit(engine, asked("first"))
        assert await handler.next() == ("first", 0)
        assert await handler.next() == ("first", 0)
        await emptied(stores)


async def test_who_lost_the_thread_leaves_the_request_alone(redis_url: str, stores: Stores) -> None:
    """The newer run answers it; nothing is popped under its hands."""
    handler = Handler(errors=[LeaseLost("newer")])
    async with engine_on(redis_url, stores) as engine:
        request = await submit(engine, asked("first"))
        async with engine.work(handler):
            assert await handler.next() == ("first", 0)
        assert await stores.mailbox.head(request.thread_key) == request


async def test_a_request_that_cannot_be_read_does_not_stop_its_thread(
    redis_url: str, stores: Stores, redis: Redis
) -> None:
    """It is set aside, and the next one runs (reliability 8)."""
    handler = Handler()
    async with engine_on(redis_url, stores) as engine:
        bad = await submit(engine, asked("bad"))
        await submit(engine, asked("good"))
        await redis.set(f"bot:v1:request:{bad.id}", "{", keepttl=True)
        async with engine.work(handler):
            assert await handler.next() == ("good", 0)
            await emptied(stores)


async def test_draining_lets_runs_end_and_takes_no_new_ones(redis_url: str, stores: Stores) -> None:
    """SIGTERM within the grace period: what runs is finished, what waits is kept (reliability 7)."""
    handler = Handler()
    handler.gate("running")
    async with engine_on(redis_url, stores) as engine, engine.work(handler):
        await submit(engine, asked("running"))
        assert await handler.next() == ("running", 0)
        drained = asyncio.create_task(engine.drain(SOON))
        async with asyncio.timeout(SOON):
            await engine.draining.wait()
        waiting = await submit(engine, asked("waiting", thread="2.0"))
        handler.gates["running"].set()
        await drained
        assert handler.ended == ["running"]
        assert await stores.mailbox.head(waiting.thread_key) == waiting


async def test_what_outlasts_the_grace_goes_on_elsewhere_at_once(
    redis_url: str, stores: Stores
) -> None:
    """Nobody waits for a lease to run out when a worker was stopped on purpose."""
    slow, other = Handler(), Handler()
    slow.gate("slow")
    async with (
        engine_on(redis_url, stores, lease=60) as one,
        engine_on(redis_url, stores, lease=60) as two,
        one.work(slow),
    ):
        await submit(one, asked("slow"))
        assert await slow.next() == ("slow", 0)
        await submit(one, asked("next"))
        async with two.work(other):
            await one.drain(0)
            assert await other.next() == ("slow", 0)
            assert await other.next() == ("next", 0)
            await emptied(stores)
    assert (slow.ended, other.ended) == ([], ["slow", "next"])


async def test_a_killed_workers_request_is_run_again(redis_url: str, stores: Stores) -> None:
    """kill -9: with the lease of 20 s it is restarted within 30 s; here both are a tenth."""
    lease = 2.0
    handler = Handler()
    worker = await asyncio.create_subprocess_exec(
        *(sys.executable, str(Path(__file__).with_name("engine_worker.py")), redis_url, str(lease)),
        stdout=asyncio.subprocess.PIPE,
    )
    assert worker.stdout is not None
    async with engine_on(redis_url, stores, lease) as engine:
        request = await submit(engine, asked("first"))
        await submit(engine, asked("second"))
        assert (await worker.stdout.readline()).decode().split() == [request.id, "0"]
        async with engine.work(handler):
            worker.kill()
            await worker.wait()
            killed = time.monotonic()
            assert await handler.next() == ("first", 1)
            assert time.monotonic() - killed < 3.0 * lease
            assert await handler.next() == ("second", 0)
            await emptied(stores)


async def test_without_redis_intake_is_told_in_time() -> None:
    """Slack waits three seconds for an ack that must not come (reliability 1)."""
    async with AsyncExitStack() as server:
        url = await server.enter_async_context(embedded_redis(None))
        async with open_stores(url) as stores, engine_on(url, stores) as engine:
            await server.aclose()
            asked_at = time.monotonic()
            with pytest.raises(StoreUnavailable):
                await engine.submit(asked(), "Ev1")
            assert time.monotonic() - asked_at < 3


async def test_a_cut_connection_costs_nothing(redis_url: str, stores: Stores, redis: Redis) -> None:
    """Redis drops everybody under a run: it goes on, is not run twice, and holds up nobody else."""
    handler = Handler()
    handler.gate("running")
    async with engine_on(redis_url, stores) as engine, engine.work(handler):
        await submit(engine, asked("running"))
        assert await handler.next() == ("running", 0)
        for kind in ("normal", "pubsub"):
            await redis.client_kill_filter(_type=kind, skipme=True)
        await submit(engine, asked("beside", thread="2.0"))
        assert await handler.next() == ("beside", 0)
        await submit(engine, asked("next"))
        handler.gates["running"].set()
        assert await handler.next() == ("next", 0)
        await emptied(stores)
    assert handler.ended == ["beside", "running", "next"]


async def test_nobody_takes_all_the_runs_of_a_worker(redis_url: str, stores: Stores) -> None:
    """Of one person's questions in twelve threads two run at a time; what somebody else asks after
    them begins at once. The others follow as soon as one ends, not with the next sweep."""
    handler = Handler()
    handler.gate("0", "1")
    async with (
        engine_on(redis_url, stores, per_person=2, sweep=60) as engine,
        engine.work(handler),
    ):
        first = [await submit(engine, asked(text, thread=text)) for text in "01"]
        assert {(await handler.next())[0] for _ in first} == {"0", "1"}
        more = [await submit(engine, asked(f"{n}", thread=f"{n}")) for n in range(2, 12)]
        again = [await submit(engine, asked(f"{n} again", thread=f"{n}")) for n in range(2, 12)]
        await resting(stores, *more)
        await submit(engine, asked("another's", thread="20.0", user="U2"))
        assert (await handler.next())[0] == "another's"
        for gate in handler.gates.values():
            gate.set()
        await emptied(stores)
    texts = [each.text for each in (*first, *more, *again)]
    assert sorted(handler.ended) == sorted([*texts, "another's"])
    assert handler.most["U1"] == 2


@asynccontextmanager
async def at_slow_work(url: str, stores: Stores, handler: Handler) -> AsyncGenerator[Engine]:
    """An engine that does the one thing that it may for U1, "slow"; no sweep comes to help."""
    handler.gate("slow")
    async with engine_on(url, stores, per_person=1, sweep=60) as engine, engine.work(handler):
        await submit(engine, asked("slow"))
        assert (await handler.next())[0] == "slow"
        yield engine


async def test_what_rules_do_takes_no_turn_of_their_owner(redis_url: str, stores: Stores) -> None:
    """(39.2) Whoever floods a channel would have the owner of its rules wait for an answer."""
    handler = Handler()
    by_rule = asked("by a rule", thread="2.0").model_copy(update={"entry": Entry.RULE})
    async with at_slow_work(redis_url, stores, handler) as engine:
        await submit(engine, by_rule)
        assert (await handler.next())[0] == "by a rule"
        handler.gates["slow"].set()
        await emptied(stores)


async def test_one_that_waits_for_its_turn_can_be_stopped(redis_url: str, stores: Stores) -> None:
    """It ends at once, though its person has as many runs as ever."""
    handler = Handler()
    async with at_slow_work(redis_url, stores, handler) as engine:
        waiting = await submit(engine, asked("stopped", thread="2.0"))
        await resting(stores, waiting)
        assert await stores.signals.request_cancel(waiting.thread_key, waiting.id, "U1")
        await engine.wake(waiting.thread_key)
        assert (await handler.next())[0] == "stopped"
        handler.gates["slow"].set()
        await emptied(stores)


async def test_who_stops_very_much_at_once_takes_no_more_than_as_much_again(
    redis_url: str, stores: Stores
) -> None:
    """To say that it was stopped each needs a run, which may be slow: others have theirs meanwhile."""
    handler = Handler()
    handler.gate("slow", "2", "3", "4", "5")
    async with (
        engine_on(redis_url, stores, per_person=1, sweep=60) as engine,
        engine.work(handler),
    ):
        await submit(engine, asked("slow"))
        assert (await handler.next())[0] == "slow"
        waiting = [await submit(engine, asked(n, thread=f"{n}.0")) for n in "2345"]
        await resting(stores, *waiting)
        for request in waiting:
            await stores.signals.request_cancel(request.thread_key, request.id, "U1")
            await engine.wake(request.thread_key)
        await submit(engine, asked("another's", thread="20.0", user="U2"))
        while (await handler.next())[0] != "another's":
            pass
        for gate in handler.gates.values():
            gate.set()
        await emptied(stores)
    assert sorted(handler.ended) == ["2", "3", "4", "5", "another's", "slow"]
    assert handler.most["U1"] <= 2


async def test_a_place_is_not_kept_for_a_thread_with_nothing_to_do(
    redis_url: str, stores: Stores
) -> None:
    """Another worker may have answered what waited longest: then the next one follows at once."""
    handler = Handler()
    async with at_slow_work(redis_url, stores, handler) as engine:
        answered = await submit(engine, asked("answered elsewhere", thread="2.0"))
        await resting(stores, answered)
        await resting(stores, await submit(engine, asked("next", thread="3.0")))
        await stores.mailbox.pop(answered.thread_key, answered.id)
        handler.gates["slow"].set()
        assert (await handler.next())[0] == "next"
        await emptied(stores)


async def test_who_waits_for_a_worker_that_went_is_found(redis_url: str, stores: Stores) -> None:
    """Whom to have follow is known to nobody then; the rest ends by itself, and the sweep looks."""
    gone, other = Handler(), Handler()
    gone.gate("slow")
    async with engine_on(redis_url, stores, per_person=1) as engine:
        async with engine.work(gone):
            await submit(engine, asked("slow"))
            assert (await gone.next())[0] == "slow"
            waiting = await submit(engine, asked("waiting", thread="2.0"))
            await resting(stores, waiting)
        async with engine_on(redis_url, stores) as two, two.work(other):
            await emptied(stores)
    assert sorted(other.ended) == ["slow", "waiting"]


async def die_with(stores: Stores, request: Request, workers: int) -> None:
    """What workers leave that are killed under a request."""
    for number in range(workers):
        await stores.mailbox.begin_attempt(request.id, f"of the dead {number}")


async def test_what_two_workers_died_under_runs_alone(redis_url: str, stores: Stores) -> None:
    """R2, reliability 17: it starts when the others have come to a save point, and none starts beside
    it; then the process works as before. One death is no reason."""
    handler, texts = Handler(), ("suspect", "other", "later", "once")
    handler.gate(*texts)
    suspect, once = asked("suspect", thread="2.0"), asked("once", thread="3.0")
    await die_with(stores, suspect, 2)
    await die_with(stores, once, 1)
    async with engine_on(redis_url, stores) as engine, engine.work(handler):
        for request in (asked("other"), once):
            await submit(engine, request)
            assert await handler.next() == (request.text, int(request is once))
        await submit(engine, suspect)
        async with asyncio.timeout(SOON):
            await engine.draining.wait()  # the runner requeues the run at its next save point
        handler.gates["other"].set()
        await submit(engine, asked("later", thread="4.0"))
        assert handler.started.empty()
        handler.gates["once"].set()
        assert await handler.next() == ("suspect", 2)
        assert not engine.draining.is_set()
        await asyncio.sleep(0.5)  # in which a worker would have taken what waits
        assert handler.started.empty()
        handler.gates["suspect"].set()
        assert await handler.next() == ("later", 0)
        handler.gates["later"].set()
        await emptied(stores)
    assert set(handler.ended) == set(texts)


async def test_a_worker_that_dies_while_a_suspect_waits_to_be_alone_was_not_killed_by_it(
    redis_url: str, stores: Stores
) -> None:
    """R2, reliability 17: no attempt has begun, so that none is held against it."""
    handler, suspect = Handler(), asked("suspect", thread="2.0")
    handler.gate("running")
    await die_with(stores, suspect, 2)
    async with engine_on(redis_url, stores) as engine, engine.work(handler):
        await submit(engine, asked("running"))
        await handler.next()
        await submit(engine, suspect)
        async with asyncio.timeout(SOON):
            await engine.draining.wait()
        assert await stores.mailbox.begin_attempt(suspect.id, "looks") == 2
        # One of the two was only believed dead, and comes to its end meanwhile.
        for attempt in ("looks", "of the dead 0"):
            await stores.mailbox.end_attempt(suspect.id, attempt)
        handler.gates["running"].set()
        assert await handler.next() == ("suspect", 1)
        await emptied(stores)


async def test_a_process_that_was_believed_dead_is_no_death(redis_url: str, stores: Stores) -> None:
    """R2, reliability 17: it stood still for longer than its lease, and takes up again itself what it
    has under way still."""
    handler, request = Handler(), asked("slow")
    handler.gate("slow")
    async with engine_on(redis_url, stores) as engine, engine.work(handler):
        await submit(engine, request)
        assert await handler.next() == ("slow", 0)
        again = asyncio.create_task(engine._run(request, handler))
        assert await handler.next() == ("slow", 0)
        handler.gates["slow"].set()
        await again
        await emptied(stores)


async def test_a_clock_that_was_put_back_holds_nothing_up(redis_url: str, stores: Stores) -> None:
    """Reliability 5: all that a worker scheduled by its clock is an hour away. A request without a
    ticket, and one that is to be tried again in a second, have their turn all the same."""
    handler = Handler(errors=[StoreUnavailable("Redis failed under its run")])
    async with (
        Redis.from_url(redis_url) as redis,
        engine_on(redis_url, stores) as engine,
        engine.work(handler),
    ):
        await submit(engine, asked("tried again"))
        await handler.next()
        queue = engine._docket.queue_key
        async with asyncio.timeout(SOON):
            while not await redis.zcard(queue):  # noqa: ASYNC110 - Redis tells nobody
                await asyncio.sleep(0.01)
        for member in await redis.zrange(queue, 0, -1):
            await redis.execute_command("ZINCRBY", queue, 3_600, member)  # type: ignore[no-untyped-call]
        forgotten = asked("forgotten", thread="2.0")
        await stores.mailbox.submit(forgotten, event_id="Ev")
        assert {(await handler.next())[0] for _ in range(2)} == {"forgotten", "tried again"}
        await emptied(stores)


async def test_a_thread_with_two_holders_of_its_slot_fails_nothing(
    redis_url: str, stores: Stores, caplog: pytest.LogCaptureFixture
) -> None:
    """Reliability 2: a worker that stood still takes its slot again beside the one that has it by now.
    What waits there is not woken, which is no error, and has its turn once they are gone."""
    handler, lease = Handler(), 0.5
    handler.gate("first")
    async with (
        Redis.from_url(redis_url) as redis,
        engine_on(redis_url, stores, lease) as engine,
        engine.work(handler),
    ):
        request = await submit(engine, asked("first"))
        await handler.next()
        slot = engine._docket.key(f"concurrency:thread_key:{request.thread_key}")
        await redis.zadd(slot, {"another worker's": time.time() + 60})
        await submit(engine, asked("second"))
        async with asyncio.timeout(SOON):
            while not await redis.xlen(f"{slot}:waiters"):  # noqa: ASYNC110 - Redis tells nobody
                await asyncio.sleep(0.01)
            while "safeguard" in str(await redis.zrange(engine._docket.queue_key, 0, -1)):  # noqa: ASYNC110 - likewise
                await asyncio.sleep(0.05)
        await asyncio.sleep(lease)
        assert handler.started.empty()
        await redis.zrem(slot, "another worker's")
        handler.gates["first"].set()
        assert await handler.next() == ("second", 0)
        await emptied(stores)
    assert [each for each in caplog.records if each.levelname == "ERROR"] == []


async def test_a_process_that_stops_leaves_a_suspect_to_another(
    redis_url: str, stores: Stores
) -> None:
    """Reliability 7: also when it still waits to be alone there; no death is counted for that."""
    handler, other = Handler(), Handler()
    handler.gate("running")
    suspect = asked("suspect", thread="2.0")
    await die_with(stores, suspect, 2)
    async with (
        engine_on(redis_url, stores, lease=60) as one,
        engine_on(redis_url, stores, lease=60) as two,
        one.work(handler),
    ):
        await submit(one, asked("running"))
        await handler.next()
        await submit(one, suspect)
        async with asyncio.timeout(SOON):
            await one.draining.wait()
        drained = asyncio.create_task(one.drain(SOON))
        handler.gates["running"].set()
        await drained
        async with two.work(other):
            assert await other.next() == ("suspect", 2)
            await emptied(stores)


@pytest.mark.parametrize("error", [Requeue(), StoreUnavailable("gone"), RuntimeError("a bug")])
async def test_what_is_not_a_death_is_not_counted(
    redis_url: str, stores: Stores, redis: Redis, error: Exception
) -> None:
    """R2: requeues, outages of Redis and errors, however often they come. Nothing stays behind."""
    handler = Handler(errors=[error, error])
    async with engine_on(redis_url, stores) as engine, engine.work(handler):
        await submit(engine, asked("first"))
        assert [await handler.next() for _ in range(3)] == [("first", 0)] * 3
        await emptied(stores)
    assert [key async for key in redis.scan_iter("bot:v1:begun:*")] == []


async def test_a_host_that_kills_while_the_process_drains_is_not_the_requests_fault(
    redis_url: str, stores: Stores
) -> None:
    """R2, reliability 7: from the moment it is asked to stop, nothing is held against what runs."""
    handler, request = Handler(), asked("running")
    handler.gate("running")
    async with engine_on(redis_url, stores) as engine, engine.work(handler):
        await submit(engine, request)
        await handler.next()
        draining = asyncio.create_task(engine.drain(SOON))
        async with asyncio.timeout(SOON):
            while await stores.mailbox.begin_attempt(request.id, "looks"):  # noqa: ASYNC110 - a count
                await asyncio.sleep(0.01)
        handler.gates["running"].set()
        await draining
