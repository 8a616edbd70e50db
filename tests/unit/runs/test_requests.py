"""What people do to requests from outside a run: stop them, ask for more."""

from __future__ import annotations

import asyncio

from redis.asyncio import Redis

from bot.agent.calls.outputs import Step
from bot.agent.state import LoopState
from bot.core.outcome import Outcome, RunStatus, StopReason
from bot.core.request import RepeatReason
from bot.dev.model import ModelRequest, Reply, Script, calls, finish, held
from bot.runs.outcomes import with_partial_results
from bot.runs.queue.engine import open_engine
from bot.runs.queue.requests import Requests
from bot.store import Stores
from bot.telemetry.metrics import Metrics
from tests.support.redis import asked
from tests.support.runs import answer, bot_with

THREAD = "T1:C1:1.0"


async def test_stop_concerns_what_runs_and_what_the_same_person_asked(
    stores: Stores, redis_url: str
) -> None:
    """What others asked and waits behind it is not lost."""
    async with open_engine(redis_url, stores.mailbox) as engine:
        requests = Requests(stores, engine)
        running, own, other = (asked(ts=f"{n}.5") for n in (1, 2, 3))
        other = other.model_copy(update={"user": "U2"})
        for request in (running, own, other):
            await stores.mailbox.submit(request, event_id=request.id)
        assert await requests.cancel(THREAD, "U1")
        started = [
            await stores.runs.start(each, f"run_{each.id}") for each in (running, own, other)
        ]
        assert [record.stopped_by for _, record in started] == ["U1", "U1", ""]


async def test_the_second_event_of_a_mention_brings_no_second_ticket(
    stores: Stores, redis_url: str, redis: Redis
) -> None:
    """Slack sends two events for each mention; a ticket costs Redis 45 commands."""
    async with open_engine(redis_url, stores.mailbox) as engine:
        requests, first = Requests(stores, engine), asked()
        assert await requests.submit(first, "Ev1")
        assert not await requests.submit(asked(ts=first.ts), "Ev2")
        assert await redis.xlen("bot:engine:stream") == 1


async def test_only_an_event_that_comes_again_counts_as_repeated(
    stores: Stores, redis_url: str
) -> None:
    """O8: not the second event that Slack sends for each mention; each of the two when it is
    delivered again."""
    metrics = Metrics()
    async with open_engine(redis_url, stores.mailbox) as engine:
        requests = Requests(stores, engine, [metrics])
        first = asked()
        counts = []
        for event in ("Ev1", "Ev2", "Ev1", "Ev2", "Ev2", "Ev3"):
            await requests.submit(asked(ts=first.ts), event)
            counts.append(metrics.text().decode())
    repeated = [f"bot_requests_repeated_total {float(count)}" for count in (0, 0, 1, 2, 3, 3)]
    assert all(line in text for line, text in zip(repeated, counts, strict=True))
    assert 'bot_requests_total{entry="mention"} 1.0' in counts[-1]


async def test_who_died_before_the_ticket_leaves_it_to_the_next_event(
    stores: Stores, redis_url: str, redis: Redis
) -> None:
    """Row 1 of reliability.md: what was kept runs, though its sender was killed right after."""
    async with open_engine(redis_url, stores.mailbox) as engine:
        requests, first = Requests(stores, engine), asked()
        await stores.mailbox.submit(first, event_id="Ev1")
        assert not await requests.submit(asked(ts=first.ts), "Ev2")
        assert await redis.xlen("bot:engine:stream") == 1


async def test_each_way_to_stop_says_when_there_is_nothing(stores: Stores, redis_url: str) -> None:
    """By thread, by conversation, by the question, or only one's own."""
    async with open_engine(redis_url, stores.mailbox) as engine:
        requests = Requests(stores, engine)
        question = asked()
        assert not await requests.cancel(THREAD, "U1")
        assert not await requests.cancel_in_channel("T1", "C1", "U1")
        assert not await requests.cancel_own(THREAD, "U1")
        assert not await requests.cancel_message("T1", "C1", question.ts, "U1")
        await stores.mailbox.submit(question, event_id=question.id)
        assert not await requests.cancel_own(THREAD, "U2")
        assert not await requests.cancel_message("T1", "C1", question.ts, "U2")
        assert not await requests.cancel_in_channel("T1", "C2", "U1")
        assert await requests.cancel_own(THREAD, "U1")
        assert await requests.cancel_message("T1", "C1", question.ts, "U1")
        assert await requests.cancel_in_channel("T1", "C1", "U1")


async def test_a_stopped_run_tells_what_it_had_found(stores: Stores) -> None:
    """C6: without a call more: the steps with what came of each; failed ones are no findings."""
    script = Script(
        [
            calls(("calculate", {"expression": "1+1"}), ("calculate", {"expression": "1/0"})),
            held(finish(answer()), asyncio.Event()),
        ]
    )
    async with bot_with(stores, script) as bot:
        question = asked("1+1?")
        working = asyncio.create_task(bot.ask(question))
        await bot.api.until(lambda: len(bot.api.requests) == 2 and bot.api.requests[1].response_id)
        await stores.signals.request_cancel(THREAD, question.id, "U1")
        outcome = await working
    assert outcome.status is RunStatus.CANCELLED
    assert (outcome.note, outcome.stopped_by) == ("Stopped.", "U1")
    assert outcome.found == ("2 (Calculate 1+1)",)
    assert len(bot.api.requests) == 2


def test_what_a_stopped_run_found_comes_before_where_and_changes_are_told() -> None:
    """U10: which tools ran is no finding; each finding is told once."""
    done = (
        Step(tool="think", title="Think it over"),
        Step(tool="query_table", title="Query sales.csv", detail="12 rows"),
        Step(tool="query_table", title="Query sales.csv", detail="12 rows"),
        Step(tool="post_message", title="Post in #sales", detail="https://x.example"),
    )
    stopped = Outcome(
        run_id="run_1", status=RunStatus.CANCELLED, stop_reason=StopReason.CANCELLED_TOOLS
    )
    state = LoopState(done=done, unknown=(Step(tool="file", title="File x"),))
    told = with_partial_results(stopped, state, lambda name: name == "post_message")
    assert told.found == (
        "12 rows (Query sales.csv)",
        "Done: Post in #sales",
        "File x: this may be done already, so check first",
    )


async def test_going_deeper_sends_the_first_result_back(stores: Stores) -> None:
    """G5 for one request: more is spent before a result is taken, and the model knows why."""
    count = iter(range(100))

    def brain(_request: ModelRequest) -> Reply:
        return finish(answer(f"Answer {next(count)}."))

    async with bot_with(stores, brain, limits={"deeper": 12_000}) as bot:
        plain = await bot.ask("1+1?")
        deep = await bot.ask("1+1?", again=RepeatReason.DEEPER)
    assert plain.result is not None
    assert plain.result["summary"] == "Answer 0."
    assert deep.result is not None
    assert deep.result["summary"] not in ("Answer 0.", "Answer 1.")
    assert "more depth is wanted" in bot.said(1)[-1]
    assert deep.totals.turns == len(bot.api.requests) - plain.totals.turns
