"""A run's message while Slack streams it: what is added, and how it goes on when it cannot be."""

from __future__ import annotations

import asyncio
import re
from itertools import pairwise

import pytest

from bot.agent.events import (
    FromSubagent,
    ResultDelta,
    TextDelta,
    TextWithdrawn,
    ToolEnded,
    ToolProgress,
    ToolStarted,
    TurnStarted,
)
from bot.dev.workspace import ADA
from bot.slack.ui.markdown import streamable
from tests.unit.slack.samples import outcome
from tests.unit.slack.scene import GENERAL, Thread, posted, refuse_streams


def shown(thread: Thread) -> str:
    """The one message of the run, as the stand-in draws it."""
    [message] = thread.replies()
    return str(message["blocks"])


def appended(thread: Thread) -> str:
    """All text that was added to streams."""
    calls = [call.args["chunks"] for call in thread.calls("chat.appendStream")]
    return "".join(chunk.get("text", "") for chunks in calls for chunk in chunks)


async def until_shown(thread: Thread, text: str) -> None:
    await thread.ws.until(lambda: text in shown(thread))


async def until_said(thread: Thread, text: str) -> None:
    await thread.ws.until(lambda: text in str(thread.replies()))


async def test_cards_and_text_grow_and_the_answer_takes_their_place(thread: Thread) -> None:
    """One message from the first card to the answer; nothing is written twice."""
    async with thread.open() as surface:
        [message] = thread.replies()
        assert message["ts"] == await thread.ts
        assert [block["type"] for block in message["blocks"]] == ["plan", "actions"]
        await surface.show(TurnStarted(1, 20))
        await surface.show(TextDelta("I look into the file. "))
        await surface.show(ToolStarted("c1", "query_table", "Query sales.csv"))
        await until_shown(thread, "Query sales.csv")
        await surface.show(ToolProgress("c1", "query_table", "page 3", 0.3))
        await until_shown(thread, "Query sales.csv · 30 % · page 3")
        await surface.show(ToolEnded("c1", "query_table", True, "12 rows", 0.2))
        await surface.show(TurnStarted(2, 20))
        for word in ("Sales ", "rose by ", "**12 %**", " this year."):
            await surface.show(ResultDelta(word))
        await until_shown(thread, "Sales rose by **12 %**")
        assert "12 rows" in shown(thread)
        assert thread.calls("chat.update") == []
        assert thread.calls("chat.postMessage") == []
        await surface.finish(outcome())
    assert appended(thread).split() == [
        "I",
        "look",
        "into",
        "the",
        "file.",
        "Sales",
        "rose",
        "by",
        "**12",
        "%**",
        "this",
    ]
    [message] = thread.replies()
    assert message["ts"] == await thread.ts
    assert message["blocks"][0]["text"].startswith("Sales rose by **12 %** to")
    assert "plan" not in [block["type"] for block in message["blocks"]]


async def test_where_slack_refuses_to_stream_it_is_not_asked_again(thread: Thread) -> None:
    """Post and update there, for a while; other kinds of conversations are not concerned."""
    refuse_streams(thread.ws)
    surfaces = thread.surfaces()
    for number in range(3):
        async with surfaces(thread.request, await thread.resume(f"run_{number}")) as surface:
            await surface.show(ResultDelta("It is two."))
    assert len(thread.calls("chat.startStream")) == 1
    assert len(thread.replies()) == 3
    thread.ws.faults.clear()
    direct = thread.rig.direct(ADA)
    said = await thread.ws.say(ADA, direct, "how many?")
    where = {"channel": direct, "thread": said["ts"], "ts": said["ts"]}
    asked = thread.request.model_copy(update=where)
    async with surfaces(asked, await posted(thread.rig, asked, "run_dm")):
        assert thread.ws.effects[-1].method == "chat.startStream"
        assert thread.ws.effects[-1].ok


async def test_no_more_begin_than_slack_takes_in_a_minute(thread: Thread) -> None:
    """Twenty a minute in a workspace: what is beyond is posted, and nobody waits for it."""
    thread.ws.rates.per_minute["chat.startStream"] = 20
    surfaces = thread.surfaces()
    for number in range(22):
        async with surfaces(thread.request, await thread.resume(f"run_{number}")):
            pass
    assert all(call.ok for call in thread.calls("chat.startStream"))
    assert len(thread.replies()) == 22
    assert thread.calls("chat.postMessage")


@pytest.mark.parametrize("slack_ended_it", [False, True])
async def test_a_stream_that_grows_old_goes_on_as_an_ordinary_message(
    thread: Thread, slack_ended_it: bool
) -> None:
    """Slack ends each after five minutes, and what came then was lost: ours goes on before that,
    and also when Slack was faster (window 18)."""
    await thread.rig.slack.status.begin(thread.request, "…", ())
    async with thread.open(stream_seconds=240.0 if slack_ended_it else 0.0) as surface:
        if slack_ended_it:
            thread.ws.clock.advance(301)
        await surface.show(ToolStarted("c1", "t", "Still at work"))
        await until_shown(thread, "Still at work")
        await surface.show(ResultDelta("Sales rose "))
        await until_shown(thread, "Sales rose")
        assert thread.calls("chat.update")
        assert thread.ws.status(GENERAL, thread.request.thread).session == "processing"
        await surface.finish(outcome())
    assert "to 4.2 M€" in shown(thread)
    assert thread.ws.status(GENERAL, thread.request.thread).session == "active"


async def test_the_steps_of_a_helper_fit_into_its_card(thread: Thread) -> None:
    """256 characters a field, and no more (chat.appendStream)."""
    async with thread.open() as surface:
        await surface.show(ToolStarted("c1", "ask_helpers", "Ask a helper"))
        for number in range(4):
            inner = ToolStarted(f"i{number}", "t", f"Step {number} {'x' * 100}")
            await surface.show(FromSubagent("c1", inner))
        await surface.show(ToolEnded("c1", "ask_helpers", True, "y" * 300, 0.2))
        await until_shown(thread, "Step 3")
        assert all(call.ok for call in thread.calls("chat.appendStream"))
        await surface.finish(outcome())


async def test_text_that_is_withdrawn_disappears(thread: Thread) -> None:
    """H2: a stream takes nothing back, so the message is written anew without it."""
    async with thread.open() as surface:
        await surface.show(TurnStarted(1, 20))
        await surface.show(ResultDelta("It is three, "))
        await until_shown(thread, "It is three,")
        await surface.show(TextWithdrawn())
        await surface.show(ResultDelta("It is two, "))
        await until_shown(thread, "It is two,")
        assert "three" not in shown(thread)
        await surface.finish(outcome())


LEAKS = (
    "See https://evil.example/?d=CANARY now",
    "[click](https://evil.example/CANARY) and ![i](https://evil.example/CANARY.png) go",
    "<https://evil.example/CANARY|here it is> and <!channel> too",
    "[ref]: https://evil.example/CANARY\n\n[ref] `x` evil.example/CANARY done",
)


@pytest.mark.parametrize("text", LEAKS)
async def test_an_address_that_comes_in_pieces_is_never_a_link(thread: Thread, text: str) -> None:
    """Threat: split deltas. At no instant does the message hold half an address, or one to click."""
    seen: list[str] = []
    async with thread.open() as surface:
        for character in text:
            await surface.show(ResultDelta(character))
            await asyncio.sleep(0)
        await thread.ws.until(lambda: "evil.example" in appended(thread))
        seen += [str(call.args) for call in thread.ws.effects]
    for sent in seen:
        assert not re.search(r"https?://evil", sent)
        assert not re.search(r"(?<!`)evil\.example", sent)
        assert "<!channel" not in sent


@pytest.mark.parametrize("text", LEAKS)
def test_what_was_shown_stays_as_it_was(text: str) -> None:
    """Growing text is only ever added to, or the stream would have to end."""
    views = [streamable(text[:end]) for end in range(len(text) + 1)]
    if "|" not in text:  # an address with a label is known as such only when it is whole
        assert all(after.startswith(before) for before, after in pairwise(views))


async def test_a_beginning_whose_reply_is_lost_is_found(thread: Thread) -> None:
    """Slack began it and we did not hear: the message is adopted, and there is no second one."""
    thread.ws.faults.fail("chat.startStream", None, after_effect=True)
    async with thread.open() as surface:
        await surface.show(ToolStarted("c1", "t", "Look"))
        await until_shown(thread, "Look")
        await surface.finish(outcome())
    assert "Sales rose" in shown(thread)


async def test_an_addition_whose_reply_is_lost_is_not_made_twice(thread: Thread) -> None:
    """Nobody knows whether it was added: the message is written anew, which says it once."""
    async with thread.open() as surface:
        thread.ws.faults.fail("chat.appendStream", None, after_effect=True)
        await surface.show(ResultDelta("Only once. "))
        await thread.ws.until(lambda: thread.calls("chat.update"))
        await until_shown(thread, "Only once.")
        assert shown(thread).count("Only once.") == 1


async def test_under_a_rate_limit_what_comes_meanwhile_goes_out_together(thread: Thread) -> None:
    """429: the next addition holds all that is new."""
    async with thread.open() as surface:
        thread.ws.faults.fail("chat.appendStream", "ratelimited", retry_after=1)
        await surface.show(ResultDelta("one "))
        await thread.ws.until(lambda: thread.calls("chat.appendStream"))
        for word in ("two ", "three ", "four "):
            await surface.show(ResultDelta(word))
        await until_shown(thread, "one two three four")
        assert len(thread.calls("chat.appendStream")) == 2


async def test_after_a_crash_another_worker_ends_the_stream_and_goes_on(thread: Thread) -> None:
    """Windows 4 and 18: known by the ts that was kept, or found by the id of its button."""
    for kept in (True, False):
        thread.post = await thread.resume(f"run_{kept}")
        opened = thread.open()
        await opened.__aenter__()
        before = len(thread.replies())
        thread.post = await thread.resume(message=await thread.ts if kept else None)
        async with thread.open() as surface:
            await surface.show(ToolStarted("c1", "t", f"After {kept}"))
            await until_said(thread, f"After {kept}")
            await surface.finish(outcome())
        assert len(thread.replies()) == before
        assert "to 4.2 M€" in str(thread.replies()[-1])
        await opened.__aexit__(None, None, None)


async def test_a_long_run_does_not_outgrow_its_message(thread: Thread) -> None:
    """A stream with cards holds some 10 kB: before that it becomes an ordinary message."""
    async with thread.open() as surface:
        for number in range(60):
            await surface.show(ToolStarted(f"c{number}", "t", f"Step {number} " + "x" * 200))
            await surface.show(ToolEnded(f"c{number}", "t", True, "y" * 200, 0.1))
        await until_shown(thread, "Step 59")
        assert "48 earlier steps" in shown(thread)
        await surface.finish(outcome())
    assert "Sales rose" in shown(thread)


async def test_the_native_stop_ends_the_stream_and_the_terminal_still_comes(
    thread: Thread,
) -> None:
    """Slack has ended it: nothing is added any more, and the end of the run takes its place."""
    await thread.rig.slack.status.begin(thread.request, "…", ())
    async with thread.open() as surface:
        await thread.ws.stop_session(ADA, GENERAL, thread.request.thread)
        await surface.show(ResultDelta("not shown "))
        await thread.ws.until(lambda: thread.calls("chat.appendStream"))
        await surface.finish(outcome())
    assert "not shown" not in shown(thread)
    assert "Sales rose" in shown(thread)


async def test_the_run_does_not_read_its_own_progress(thread: Thread) -> None:
    """A streamed message has no metadata yet, and is known as the run's own all the same."""
    from bot.slack.message.message_metadata import is_of_run

    async with thread.open():
        [message] = thread.replies()
        assert not message.get("metadata")
        assert is_of_run(message, thread.post.run_id)
        assert not is_of_run(message, "run_other")
