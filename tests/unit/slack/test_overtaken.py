"""A worker that stood still while another took its thread, and wakes up (reliability 2, window 19)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest

from bot.agent.events import ToolStarted
from bot.core.errors import LeaseLost
from tests.unit.slack.rig import Post
from tests.unit.slack.samples import answer, outcome
from tests.unit.slack.scene import Thread, refuse_streams


@dataclass
class Overtaken(Post):
    """What a worker knows that stood still: it learns only when it saves that it holds nothing."""

    other: Post | None = None

    async def save_message(self, ts: str) -> None:
        assert self.other is not None
        self.ts, self.outcome = self.other.ts, self.other.outcome
        raise LeaseLost("another worker")


async def opened_late(thread: Thread) -> None:
    async with thread.surfaces()(thread.request, Overtaken(other=thread.post)):
        pass


async def shown_late(thread: Thread, post: Post) -> None:
    async with thread.surfaces()(thread.request, post) as surface:
        await surface.show(ToolStarted("c1", "query_table", "Query sales.csv"))
        await thread.ws.until(lambda: "Query sales.csv" in str(thread.replies()))
        raise LeaseLost("another worker")


@pytest.mark.parametrize("method", ["chat.startStream", "chat.postMessage"])
async def test_a_message_that_was_posted_late_is_taken_back(thread, method):
    """Both workers posted the run's message; the one that came late takes its own away again."""
    if method == "chat.postMessage":
        refuse_streams(thread.ws)
    thread.ws.faults.delay(method, 0.5)
    late = asyncio.create_task(opened_late(thread))
    await thread.ws.until(lambda: thread.calls("conversations.replies"))
    async with thread.open() as surface:
        await surface.finish(outcome())
    thread.post.outcome = outcome()
    with pytest.raises(LeaseLost):
        await late
    assert thread.calls("chat.delete")
    [message] = thread.replies()
    assert message["ts"] == thread.post.ts
    assert "Sales rose" in str(message["blocks"])


async def test_progress_that_came_late_does_not_stay_over_the_answer(thread):
    """The other worker's answer was covered by an update that had been on its way: it comes back."""
    refuse_streams(thread.ws)
    async with thread.open() as surface:
        await surface.finish(outcome())
    with pytest.raises(LeaseLost):
        await shown_late(thread, Post(ts=thread.post.ts, outcome=outcome()))
    [message] = thread.replies()
    assert "Sales rose" in str(message["blocks"])
    assert "Query sales.csv" not in str(message["blocks"])


async def test_what_a_later_run_wrote_over_the_answer_stays(thread):
    """The question was edited meanwhile, and its new answer stands in the same message."""
    refuse_streams(thread.ws)
    async with thread.open() as surface:
        await surface.finish(outcome())
    revised = Post(run_id="run_2", ts=thread.post.ts)
    async with thread.surfaces()(thread.request, revised) as surface:
        await surface.finish(outcome(answer(summary="Revised.")))
    late = Post(ts=thread.post.ts, outcome=outcome(), lost=True)
    with pytest.raises(LeaseLost):
        async with thread.surfaces()(thread.request, late) as surface:
            await surface.finish(outcome())
    [message] = thread.replies()
    assert "Revised." in str(message["blocks"])
