"""One terminal message for each question, whatever is lost on the way (the promise)."""

from __future__ import annotations

import asyncio
import logging
import re

import pytest

from bot.dev.model import ModelRequest, Reply, call, finish, held
from bot.dev.workspace import ADA, BEN
from tests.support.deployment import A_MOMENT, Deployment, deployed
from tests.support.runs import answer

SALES = "C0SALES001"

FAULTS = [
    ("chat.postMessage", None, True),
    ("chat.postMessage", None, False),
    ("chat.postMessage", 500, False),
    ("chat.postMessage", 503, True),
    ("chat.update", None, True),
    ("chat.update", 500, False),
    ("chat.update", "internal_error", False),
    ("conversations.replies", 500, False),
    ("assistant.threads.setStatus", None, True),
    ("users.info", 503, False),
    ("conversations.info", "fatal_error", False),
]

_STORM = 60  # calls


def two_turns(request: ModelRequest) -> Reply:
    """A model that calculates, then answers with the last question's number."""
    if request.input[-1].get("type") == "function_call_output":
        return finish(answer(f"Done: {request.last_words}"))
    return call("calculate", {"expression": "1+1"})


async def two_slow_turns(request: ModelRequest) -> Reply:
    await asyncio.sleep(A_MOMENT)
    return two_turns(request)


async def settled(bot: Deployment, channel: str, thread: str) -> None:
    """Waits until nothing more is to come: the thread's session is over and its status cleared."""
    await bot.ws.until(lambda: not bot.ws.status(channel, thread).text, 15)


@pytest.mark.parametrize(("method", "error", "after"), FAULTS)
async def test_a_failing_call_of_slack(redis_url, method, error, after) -> None:
    """Refused, failed, cut off before or after it was carried out: never a second message."""
    brain = two_slow_turns if method == "chat.update" else two_turns
    async with deployed(brain, redis_url) as bot:
        bot.ws.delivery.retry_delays = (0.1, 0.2, 0.4)
        bot.ws.faults.fail(method, error, times=2, after_effect=after)
        ts = await bot.ask(ADA, SALES, "How many?")
        await bot.answered(SALES, ts, seconds=30)
        assert len(bot.own(SALES, ts)) == 1


@pytest.mark.parametrize("method", ["chat.postMessage", "*"])
async def test_slack_asks_to_slow_down(redis_url, method) -> None:
    async with deployed(two_turns, redis_url) as bot:
        bot.ws.delivery.retry_delays = (0.1, 0.2, 0.4)
        bot.ws.faults.fail(method, 429, times=3, retry_after=1)
        ts = await bot.ask(ADA, SALES, "How many?")
        await bot.answered(SALES, ts, seconds=30)
        assert len(bot.own(SALES, ts)) == 1


async def test_slack_puts_off_every_call_while_twenty_runs_are_under_way(redis_url) -> None:
    """A storm of 429s over all methods, longer than a call is tried again: each of twenty questions,
    some asked in the midst of it, has its own answer, once."""
    go = asyncio.Event()

    def brain(request: ModelRequest) -> Reply:
        numbers = re.findall(r"(\d\d) of them", request.text)
        return held(finish(answer(f"Answer {numbers}")), go)

    async with deployed(brain, redis_url) as bot:
        bot.ws.delivery.retry_delays = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
        roots = {await bot.ask(ADA, SALES, f"{n:02} of them?"): n for n in range(16)}
        await bot.ws.until(lambda: all(bot.own(SALES, ts) for ts in roots), 30)
        bot.ws.faults.fail("*", 429, times=_STORM, retry_after=1)
        go.set()
        roots |= {await bot.ask(BEN, SALES, f"{n:02} of them?"): n for n in range(16, 20)}
        await bot.ws.until(lambda: all(bot.terminals(SALES, ts) for ts in roots), 90)
        refused = [each for each in bot.ws.effects if each.error == "ratelimited"]
        for ts, number in roots.items():
            [said] = bot.own(SALES, ts)
            assert f"Answer ['{number:02}']" in said["text"]
    assert len(refused) >= _STORM


async def test_the_same_event_again_and_again(redis_url) -> None:
    async with deployed(two_turns, redis_url) as bot:
        ts = await bot.ask(ADA, SALES, "How many?")
        message = bot.ws.messages(SALES)[-1]
        for kind in ("app_mention", "message") * 3:
            bot.ws.emit({**message, "type": kind, "channel": SALES}, bot.ws.channels[SALES])
        await bot.answered(SALES, ts)
        await settled(bot, SALES, ts)
        assert len(bot.own(SALES, ts)) == 1


async def test_the_log_goes_on_after_an_event(redis_url) -> None:
    """Bolt gives the logger that is named as its app a level: it must be none of ours."""
    async with deployed(two_turns, redis_url) as bot:
        ts = await bot.ask(ADA, SALES, "How many?")
        await bot.answered(SALES, ts)
        assert logging.getLogger("bot").level == logging.NOTSET


async def test_an_empty_mention_is_helped_once(redis_url) -> None:
    async with deployed(two_turns, redis_url) as bot:
        ts = await bot.ask(ADA, SALES, "")
        message = bot.ws.messages(SALES)[-1]
        for _ in range(3):
            bot.ws.emit(
                {**message, "type": "app_mention", "channel": SALES}, bot.ws.channels[SALES]
            )
        later = await bot.ask(ADA, SALES, "How many?")
        await bot.answered(SALES, later)
        await bot.ws.until(lambda: bot.own(SALES, ts))
        assert len(bot.own(SALES, ts)) == 1


async def test_sockets_drop_in_mid_run(redis_url) -> None:
    go = asyncio.Event()

    def brain(request: ModelRequest) -> Reply:
        return held(finish(answer("Two.")), go)

    async with deployed(brain, redis_url) as bot:
        bot.ws.delivery.retry_delays = (0.5, 6.0, 10.0)
        first = await bot.ask(ADA, SALES, "How many?")
        await bot.ws.until(lambda: bot.own(SALES, first))
        bot.ws.faults.drop_sockets()
        second = await bot.ask(BEN, SALES, "How few?")
        go.set()
        for ts in (first, second):
            await bot.answered(SALES, ts, seconds=30)
            assert len(bot.own(SALES, ts)) == 1


async def test_a_burst_in_one_thread(redis_url) -> None:
    """Issue 4: 200 messages of one person are one or two runs; each message reaches the model once, in
    order, and each run has one answer."""
    go = asyncio.Event()
    async with deployed(lambda _: held(finish(answer("Two.")), go), redis_url) as bot:
        root = await bot.ask(ADA, SALES, "Number 0")
        for number in range(1, 200):
            await bot.ask(ADA, SALES, f"Number {number}", root)
            # As fast as they are taken: what is not acknowledged in time comes again, and later.
            await bot.ws.until(lambda: bot.ws.delivery.under_way < 20, 30)
        await bot.ws.until(lambda: not bot.ws.delivery.under_way, 30)
        go.set()
        await bot.ws.until(lambda: len(numbers_heard(bot)) >= 200, 30)
        runs = len(bot.api.requests)
        await bot.answered(SALES, root, runs)
        await settled(bot, SALES, root)
        assert numbers_heard(bot) == list(range(200))
        assert len(bot.own(SALES, root)) == runs <= 2


async def test_a_burst_of_several_people(redis_url) -> None:
    """What another person asks is neither taken in nor passed by: each is answered, in order."""
    async with deployed(lambda _: finish(answer("Two.")), redis_url) as bot:
        root = await bot.ask(ADA, SALES, "Number 0")
        for number in range(1, 20):
            await bot.ask((ADA, BEN)[number // 5 % 2], SALES, f"Number {number}", root)
        await bot.ws.until(lambda: len(numbers_heard(bot)) >= 20, 30)
        await bot.answered(SALES, root, len(bot.api.requests))
        assert numbers_heard(bot) == list(range(20))
        assert len(bot.api.requests) >= 4


def numbers_heard(bot: Deployment) -> list[int]:
    """The numbers of the messages that the model got, in the order in which it got them."""
    items = [str(item) for each in bot.api.requests for item in each.body["input"]]
    return [int(number) for item in items for number in re.findall(r"Number (\d+)", item)]
