"""What people write while a run works is taken into it, or waits, and is answered once (H5)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bot.agent.events import MessagesJoined
from bot.core.request import Entry, RepeatReason, Request
from bot.dev.model import ModelRequest, Reply, call, finish, held
from bot.runs.queue.engine import open_engine
from bot.runs.queue.requests import Requests
from bot.runs.queue.steering import MOST_CHARACTERS
from bot.settings import ChannelTable, ModelSettings
from bot.store import Stores
from tests.support.redis import asked
from tests.support.runs import Bot, answer, bot_with

ADD = call("calculate", {"expression": "1+1"})
THREAD = "T1:C1:1.0"


async def said(stores: Stores, text: str, **details: Any) -> Request:
    """Somebody writes in the thread."""
    request = asked(text).model_copy(update=details)
    await stores.mailbox.submit(request, event_id=request.id)
    return request


async def waiting(stores: Stores) -> list[str]:
    return [each.text for each in await stores.mailbox.all_of(THREAD)]


def heard(bot: Bot) -> list[str]:
    """All that people said, as the model got it."""
    every = [
        item["content"]
        for request in bot.api.requests
        for item in request.body["input"]
        if item.get("role") == "user"
    ]
    return [each.partition("\n\n")[2] for each in every]


class Meanwhile:
    """A model that calculates, then answers; before its nth reply somebody does something."""

    def __init__(self, **acts: Any) -> None:
        self.turn = 0
        self._acts = acts

    async def __call__(self, request: ModelRequest) -> Reply:
        self.turn += 1
        if act := self._acts.get(f"at_{self.turn}"):
            await act()
        return ADD if self.turn % 2 else finish(answer("Two. See https://example.com/b"))


async def test_a_message_during_a_run_goes_out_with_its_next_call(stores: Stores) -> None:
    """It is answered with the rest, once; it waits no longer, and its links may be posted."""
    later = "And b, from https://example.com/b?"
    model = Meanwhile(at_1=lambda: said(stores, later))
    async with bot_with(stores, model) as bot:
        outcome = await bot.ask("And a?")
    assert heard(bot) == ["And a?", later]
    assert "function_call_output" in str(bot.api.requests[1].body["input"][0])
    assert await waiting(stores) == []
    assert "https://example.com/b" in outcome.links
    assert [each.texts for each in bot.board.of(MessagesJoined)] == [(later,)]
    entries = await stores.ledger.entries(THREAD)
    assert str(entries).count(later) == 1


async def test_what_waits_when_a_run_begins_is_taken_into_its_first_call(stores: Stores) -> None:
    """Issue 4: a burst is one question; its messages keep their order."""
    texts = [f"Number {number}" for number in range(200)]
    requests = [await said(stores, text) for text in texts]
    async with bot_with(stores, lambda _: finish(answer())) as bot:
        await bot.runner.answer(requests[0])
    assert heard(bot) == texts
    assert len(bot.api.requests) == 1
    assert len(bot.board.finished) == 1
    assert await waiting(stores) == []


async def test_a_message_that_comes_too_late_for_another_call_is_asked_next(stores: Stores) -> None:
    """It is neither swallowed by the run that ends nor shown to the model twice."""
    model = Meanwhile(at_2=lambda: said(stores, "And b?"))
    async with bot_with(stores, model) as bot:
        await bot.ask("And a?")
        assert heard(bot) == ["And a?"]
        assert await waiting(stores) == ["And b?"]
        [late] = await stores.mailbox.all_of(THREAD)
        await bot.runner.answer(late, 1)
    assert heard(bot) == ["And a?", "And b?"]


OTHERS = {
    "somebody else's": {"user": "U2"},
    "a private one": {"private": True},
    "another kind of answer": {"response_type": "ThreadSummary"},
    "a workflow's": {"entry": Entry.WORKFLOW_STEP},
    "once more": {"again": RepeatReason.REGENERATE},
    "a revision": {"again": RepeatReason.EDITED, "replaces": ("run_1",)},
}


@pytest.mark.parametrize("details", OTHERS.values(), ids=OTHERS)
async def test_what_wants_an_answer_of_its_own_waits(stores: Stores, details: Any) -> None:
    """And what comes behind it waits as well: the thread keeps its order (reliability 2)."""

    async def both() -> None:
        await said(stores, "Other?", **details)
        await said(stores, "Behind?")

    async with bot_with(stores, Meanwhile(at_1=both)) as bot:
        await bot.ask("And a?")
    assert heard(bot) == ["And a?"]
    assert await waiting(stores) == ["Other?", "Behind?"]


@pytest.mark.parametrize(("entry", "takes"), [("command", True), ("workflow_step", False)])
async def test_which_runs_take_more_in(stores: Stores, entry: str, takes: bool) -> None:
    """All that answer in the thread, however they were asked for; not what a workflow waits for."""
    model = Meanwhile(at_1=lambda: said(stores, "And b?"))
    async with bot_with(stores, model) as bot:
        await bot.ask("And a?", entry=Entry(entry))
    assert heard(bot) == (["And a?", "And b?"] if takes else ["And a?"])


async def test_where_messages_are_to_queue_each_is_answered_by_itself(stores: Stores) -> None:
    """The setting, for all channels that do not say otherwise."""
    model = Meanwhile(at_1=lambda: said(stores, "And b?"))
    rules = {"default": ChannelTable(during_run="queue"), "C2": ChannelTable()}
    async with bot_with(stores, model, channels=rules) as bot:
        await bot.ask("And a?")
    assert heard(bot) == ["And a?"]
    assert await waiting(stores) == ["And b?"]


async def test_a_run_takes_in_so_much_and_no_more(stores: Stores) -> None:
    """What is forwarded with a message counts."""
    half = "x" * (MOST_CHARACTERS // 2)
    requests = [await said(stores, text) for text in ("And a?", half)]
    await said(stores, "And this?", quoted=half)
    await said(stores, "And b?")
    async with bot_with(stores, lambda _: finish(answer())) as bot:
        await bot.runner.answer(requests[0])
    assert heard(bot) == ["And a?", half]
    assert await waiting(stores) == ["And this?", "And b?"]


async def test_another_worker_goes_on_with_what_was_taken_in(stores: Stores) -> None:
    """Reliability 3: the message is in the state and out of the mailbox, and is told of again."""
    first, _ = await said(stores, "And a?"), await said(stores, "And b?")
    asked_of, go = asyncio.Event(), asyncio.Event()

    def brain(request: ModelRequest) -> Reply:
        asked_of.set()
        return held(finish(answer()), go)

    async with bot_with(stores, brain) as bot:
        dying = asyncio.create_task(bot.runner.answer(first, 1))
        await asked_of.wait()
        dying.cancel()
        await asyncio.gather(dying, return_exceptions=True)
        go.set()
        assert await waiting(stores) == ["And a?"]
        await bot.runner.answer(first, 2)
    assert heard(bot) == ["And a?", "And b?"] * 2  # the same call, made again
    assert await waiting(stores) == []
    assert str(await stores.ledger.entries(THREAD)).count("And b?") == 1
    assert [each.texts for each in bot.board.of(MessagesJoined)] == [("And b?",)] * 2


async def test_a_message_taken_back_while_nobody_works_is_left_out_and_told_of_once(
    stores: Stores,
) -> None:
    """Reliability 3, 17: its worker had died. The next ones hear of it, but it is noted once: noted by
    each, it would count as progress of a run that makes none."""
    first, second, third = [await said(stores, f"And {each}?") for each in "abc"]
    asked_of, go = asyncio.Event(), asyncio.Event()

    def brain(request: ModelRequest) -> Reply:
        asked_of.set()
        return held(finish(answer()), go)

    async with bot_with(stores, brain) as bot:
        for number in range(3):
            asked_of.clear()
            dying = asyncio.create_task(bot.runner.answer(first, number))
            await asked_of.wait()
            dying.cancel()
            await asyncio.gather(dying, return_exceptions=True)
            await stores.signals.withdraw(second, second.user)
        go.set()
        await bot.runner.answer(first, 2)
    assert "took" not in str(bot.said(0))
    for call_of_the_model in bot.said(1), bot.said(-1):
        [note] = [each for each in call_of_the_model if "took one of their messages back" in each]
        assert "And a?" in note
        assert "And c?" in note
        assert "And b?" not in note
    assert str(await stores.ledger.entries(THREAD)).count("took one of their messages back") == 1
    assert await stores.runs.joined(first.id) == (third.id,)


async def test_what_was_asked_together_is_asked_again_together(
    stores: Stores, redis_url: str
) -> None:
    """Retry, Ask again and Look deeper concern the whole answer."""
    first, _ = await said(stores, "And a?"), await said(stores, "And b?", quoted="Forwarded")
    async with (
        bot_with(stores, lambda _: finish(answer())) as bot,
        open_engine(redis_url, stores.mailbox) as engine,
    ):
        await bot.runner.answer(first, 1)
        whole = await Requests(stores, engine).whole(first.id)
    assert whole is not None
    assert (whole.text, whole.quoted) == ("And a?\n\n---\n\nAnd b?", "Forwarded")


async def test_who_judges_the_result_sees_all_that_was_asked(stores: Stores) -> None:
    """I2: an answer to both is not taken for one that misses the first."""

    def brain(request: ModelRequest) -> Reply:
        good = {"completed": True, "confidence": "high", "issues": [], "suggestion": ""}
        judges = [tool["name"] for tool in request.body["tools"]] == ["judge"]
        return call("judge", good) if judges else finish(answer())

    first, _ = await said(stores, "And a?"), await said(stores, "And b?")
    settings = ModelSettings(evaluation="basic")
    async with bot_with(stores, brain, model=settings) as bot:
        await bot.runner.answer(first, 1)
    assert "And a?\n\nAnd b?" in bot.said(1)[0]
