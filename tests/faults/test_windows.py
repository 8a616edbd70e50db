"""The promise, shown: real processes crash in the most telling windows, and every question has one end.

`python -m tests.faults` goes through all windows with every kind of crash, then kills at random.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from redis.asyncio import Redis

from bot.core.failpoints import FAILPOINTS
from bot.dev.model import ModelRequest, Reply, call, finish
from bot.dev.workspace import ADA
from tests.faults.fleet import fleet
from tests.faults.windows import NOT_RUN, SHORT, Brain, all_cases, judge, run_case, settled
from tests.support.deployment import deployed
from tests.support.runs import answer

SALES = "C0SALES001"


@pytest.mark.timeout(240)
async def test_nothing_is_lost_and_nothing_doubled(tmp_path: Path) -> None:
    """(reliability, promise) One terminal for each question, in order, no change made twice; a dead
    worker's work is taken up by another within its lease and a moment."""
    brain, done = Brain(), []
    async with fleet(brain, tmp_path) as running:
        for case in SHORT:
            done.append(await run_case(running, brain, case))
        await settled(running)
        for verdict, asked in done:
            await judge(running, verdict, asked)
    assert [verdict for verdict, _ in done if not verdict.clean] == []
    assert max(verdict.seconds for verdict, _ in done) < 30


def test_every_failpoint_is_in_the_table_or_says_why_not() -> None:
    cases = list(all_cases())
    assert {case.place for case in cases if case.action != "lost reply"} | set(NOT_RUN) == set(
        FAILPOINTS
    )
    assert set(SHORT) <= set(cases)


async def test_a_format_that_nobody_knows(redis_url: str) -> None:
    """(window 22) A newer version kept a request and died; the older one says so and goes on with the next."""

    def brain(request: ModelRequest) -> Reply:
        if request.input[-1].get("type") == "function_call_output":
            return finish(answer("Two."))
        return call("calculate", {"expression": "1+1"})

    async with (
        Redis.from_url(redis_url, decode_responses=True) as redis,
        deployed(brain, redis_url) as bot,
    ):
        first = await bot.ask(ADA, SALES, "How many?")
        await bot.answered(SALES, first)
        states = [key async for key in redis.scan_iter("bot:v1:caller-state:*")]
        for key in states:
            kept = str(await redis.get(key))
            await redis.set(key, kept.replace('"version":1', '"version":99'), keepttl=True)
        assert len(states) == 1
        await bot.ask(ADA, SALES, "And now?", first)
        terminals = await bot.answered(SALES, first, 2)
        assert len(terminals) == 2
        assert len(bot.own(SALES, first)) == 2
