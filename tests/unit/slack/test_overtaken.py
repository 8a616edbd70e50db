"""A worker that stood still while another took its thread, and wakes up (reliability 2, window 19)."""

from __future__ import annotations

import asyncio

import pytest

from bot.agent.events import ToolStarted
from bot.core.errors import LeaseLost
from bot.store import PostedMessageRecord
from tests.unit.slack.samples import answer, outcome
from tests.unit.slack.scene import Thread, posted, refuse_streams
from tests.unit.slack.test_approval_cards import APPROVAL


async def opened_late(thread: Thread) -> None:
    async with thread.open():
        pass


async def shown_late(thread: Thread, post: PostedMessageRecord) -> None:
    async with thread.surfaces()(thread.request, post) as surface:
        await surface.show(ToolStarted("c1", "query_table", "Query sales.csv"))
        await thread.ws.until(lambda: "Query sales.csv" in str(thread.replies()))
        raise LeaseLost("another worker")


@pytest.mark.parametrize("method", ["chat.startStream", "chat.postMessage"])
async def test_a_message_that_was_posted_late_is_taken_back(thread, method):
    """Both workers posted the run's message; the one that came late takes its own away again."""
    if method == "chat.postMessage":
        refuse_streams(thread.ws)
    thread.ws.faults.delay(method, 1)
    late = asyncio.create_task(opened_late(thread))

    async def is_under_way() -> bool:
        return not any(delay.times for delay in thread.ws.faults._delays)

    await thread.rig.until(is_under_way)
    thread.post = await posted(thread.rig, thread.request)
    async with thread.open() as surface:
        await surface.finish(outcome())
    await thread.decide(outcome())
    with pytest.raises(LeaseLost):
        await late
    assert thread.calls("chat.delete")
    [message] = thread.replies()
    assert message["ts"] == await thread.ts
    assert "Sales rose" in str(message["blocks"])


async def test_a_card_that_was_posted_late_is_taken_back(thread):
    """Both workers asked; there is one card, that of the worker which has the run."""
    card = APPROVAL.model_copy(update={"thread_key": thread.request.thread_key})

    async def asked_late() -> None:
        async with thread.open() as surface:
            thread.ws.faults.delay("chat.postMessage", 1)
            await surface.ask([card])

    late = asyncio.create_task(asked_late())

    async def is_under_way() -> bool:
        delays = thread.ws.faults._delays
        return bool(delays) and not any(delay.times for delay in delays)

    await thread.rig.until(is_under_way)
    thread.post = await posted(thread.rig, thread.request)
    async with thread.open() as surface:
        await surface.ask([card])
        with pytest.raises(LeaseLost):
            await late
        cards = [m for m in thread.replies() if "card" in str(m.get("metadata"))]
        assert [each["ts"] for each in cards] == [await thread.post.card(card.id)]


async def test_progress_that_came_late_does_not_stay_over_the_answer(thread):
    """The other worker's answer was covered by an update that had been on its way: it comes back."""
    refuse_streams(thread.ws)
    async with thread.open() as surface:
        await surface.finish(outcome())
    await thread.decide(outcome())
    with pytest.raises(LeaseLost):
        await shown_late(thread, await posted(thread.rig, thread.request))
    [message] = thread.replies()
    assert "Sales rose" in str(message["blocks"])
    assert "Query sales.csv" not in str(message["blocks"])


async def test_what_a_later_run_wrote_over_the_answer_stays(thread):
    """The question was edited meanwhile, and its new answer stands in the same message."""
    refuse_streams(thread.ws)
    async with thread.open() as surface:
        await surface.finish(outcome())
    message = await thread.ts
    assert message is not None
    await thread.decide(outcome())
    late = await posted(thread.rig, thread.request)
    revised = await posted(thread.rig, thread.request, "run_2")
    await revised.save_message(message)
    async with thread.surfaces()(thread.request, revised) as surface:
        await surface.finish(outcome(answer(summary="Revised.")))
    with pytest.raises(LeaseLost):
        async with thread.surfaces()(thread.request, late):
            raise LeaseLost("another worker")
    [shown] = thread.replies()
    assert "Revised." in str(shown["blocks"])
