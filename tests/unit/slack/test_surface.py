"""A run in its thread: one message that changes, and exactly one terminal (reliability 1, 4)."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp
import pytest

from bot.agent.events import ReasoningDelta, TextDelta, ToolEnded, ToolStarted, TurnStarted
from bot.core.answers import Table
from bot.core.errors import LeaseLost
from bot.core.outcome import RunStatus
from bot.dev.workspace import ADA, BEN
from bot.slack.ui import words
from tests.unit.slack.samples import CHART, answer, outcome
from tests.unit.slack.scene import GENERAL, refuse_streams


def blocks_of(message: dict[str, Any]) -> list[str]:
    return [b["type"] for b in message["blocks"]]


async def test_a_placeholder_with_a_stop_button_becomes_the_answer(thread):
    async with thread.open() as surface:
        [message] = thread.replies()
        assert blocks_of(message) == ["plan", "actions"]
        assert await thread.ts == message["ts"]
        await surface.finish(outcome())
    [message] = thread.replies()
    assert message["ts"] == await thread.ts
    assert message["blocks"][0]["text"].startswith("Sales rose")
    assert thread.ws.status(GENERAL, thread.request.thread).text == ""
    assert thread.ws.status(GENERAL, thread.request.thread).session == "active"


async def test_steps_name_channels_that_everybody_may_read_of_and_tick_nothing_that_was_not_allowed(
    thread,
):
    refuse_streams(thread.ws)
    async with thread.open() as surface:
        for call, channel in (("c1", "#C0SALES001"), ("c2", "C0FINANCE1")):
            await surface.show(ToolStarted(call, "read_channel", f"Read {channel}"))
        await surface.show(
            ToolEnded("c2", "post", False, "Not done: Ben denied it.\nLeave it.", 0.2)
        )
        await thread.ws.until(lambda: "Not done" in str(thread.replies()[0]["blocks"]))
        [plan, *_] = thread.replies()[0]["blocks"]
        cards = [(task["title"], task["status"]) for task in plan["tasks"]]
        assert cards == [("Read #sales", "in_progress"), ("Not done: Read a channel", "pending")]
        assert "Ben denied it" in str(plan["tasks"][1]["details"])


async def test_a_status_that_the_answer_replaces_at_once_is_not_sent(thread):
    """Its steps are in the message at once; the line above the input waits for the pace."""
    async with thread.open(pace=60.0) as surface:
        await surface.show(ToolStarted("c1", "query", "Query sales.csv"))
        await thread.ws.until(lambda: "Query sales.csv" in str(thread.replies()[0]["blocks"]))
        await surface.finish(outcome())
    assert [each.args["status"] for each in thread.calls("assistant.threads.setStatus")] == [""]


async def test_a_quick_run_posts_its_answer_alone(thread):
    """Also where the reply is lost: the thread is looked at before, and then again."""
    thread.ws.faults.fail("chat.postMessage", None, after_effect=True)
    async with thread.open(is_quick=True) as surface:
        await surface.show(ToolStarted("c1", "query", "Query sales.csv"))
        await surface.finish(outcome())
    [message] = thread.replies()
    assert message["ts"] == await thread.ts
    assert not thread.calls("chat.startStream")
    assert len(thread.calls("conversations.replies")) == 2


async def test_an_answer_finds_the_message_that_was_on_its_way(thread):
    """However long Slack takes for it: else it would stay behind, with its Stop button."""
    thread.ws.faults.delay("chat.startStream", 0.3)
    async with thread.open(is_quick=True) as surface:
        posting = asyncio.create_task(surface.begin())
        await asyncio.sleep(0.1)
        await surface.finish(outcome())
        await posting
    [message] = thread.replies()
    assert message["ts"] == await thread.ts


async def test_a_run_that_waited_for_another_has_slacks_stop_button_again(thread):
    """The end of that other one took it away."""
    waited = datetime.now(UTC) - timedelta(seconds=9)
    async with thread.open(received_at=waited) as surface:
        status = thread.ws.status(GENERAL, thread.request.thread)
        await thread.ws.until(lambda: status.session == "processing")
        await surface.finish(outcome())
    assert status.session == "active"


async def test_cards_and_status_follow_the_tools(thread):
    refuse_streams(thread.ws)
    async with thread.open() as surface:
        await surface.show(TurnStarted(1, 20))
        await surface.show(ToolStarted("c1", "query_table", "Query sales.csv"))
        await thread.ws.until(lambda: "Query sales.csv" in str(thread.replies()[0]["blocks"]))
        status = await thread.ws.until(
            lambda: thread.ws.status(GENERAL, thread.request.thread).text
        )
        assert "Query sales.csv" in status
        await surface.show(ToolEnded("c1", "query_table", True, "12 rows", 0.2))
        await surface.show(ReasoningDelta("Let me <compare> them"))
        await thread.ws.until(lambda: "12 rows" in str(thread.replies()[0]["blocks"]))
        [plan, thought, _] = thread.replies()[0]["blocks"]
        assert plan["tasks"][0]["status"] == "complete"
        assert "Let me &lt;compare&gt; them" in thought["elements"][0]["text"]


async def test_a_burst_of_events_is_shown_in_few_updates_and_none_after_the_end(thread):
    refuse_streams(thread.ws)
    async with thread.open() as surface:
        for i in range(500):
            await surface.show(TextDelta(f"word{i} "))
        await surface.finish(outcome())
        updates = len(thread.calls("chat.update"))
        assert updates <= 3
        for i in range(50):
            await surface.show(TextDelta(f"late{i} "))
        await asyncio.sleep(0.1)
        assert len(thread.calls("chat.update")) == updates
    assert "Sales rose" in thread.replies()[0]["blocks"][0]["text"]


async def test_progress_that_cannot_be_shown_never_harms_the_run(thread):
    refuse_streams(thread.ws)
    async with thread.open() as surface:
        thread.ws.faults.fail("chat.update", "ratelimited", retry_after=1)
        thread.ws.faults.fail("chat.update", None)
        await surface.show(ToolStarted("c1", "t", "one"))
        await thread.ws.until(lambda: thread.calls("chat.update"))
        await surface.finish(outcome())
    assert "Sales rose" in thread.replies()[0]["blocks"][0]["text"]


async def test_finishing_twice_or_in_another_process_posts_once(thread):
    long = answer(summary="\n\n".join(f"{i} " + "word " * 150 for i in range(28)))
    async with thread.open() as surface:
        await surface.finish(outcome(long))
        await surface.finish(outcome(long))
    first = thread.replies()
    assert 2 <= len(first) <= 4
    async with thread.open() as surface:
        await surface.finish(outcome(long))
    assert [m["ts"] for m in thread.replies()] == [m["ts"] for m in first]


async def test_a_post_whose_reply_is_lost_is_found_and_not_repeated(thread):
    refuse_streams(thread.ws)
    thread.ws.faults.fail("chat.postMessage", None, after_effect=True)
    async with thread.open() as surface:
        await surface.finish(outcome())
    assert len(thread.replies()) == 1


@pytest.mark.parametrize("saved", [0, 1])
async def test_after_a_crash_between_post_and_save_the_message_is_adopted(thread, saved):
    long = answer(summary="\n\n".join(f"{i} " + "word " * 150 for i in range(28)))
    async with thread.open() as surface:
        await surface.finish(outcome(long))
    before = [m["ts"] for m in thread.replies()]
    thread.post = await thread.resume(message=await thread.ts if saved else None, parts=saved)
    async with thread.open() as surface:
        await surface.finish(outcome(long))
    assert [m["ts"] for m in thread.replies()] == before


async def test_a_file_whose_upload_was_not_saved_is_not_shared_again(thread):
    wide = Table(caption="All", columns=["a"], rows=[[str(i)] for i in range(300)])
    async with thread.open() as surface:
        await surface.finish(outcome(answer(table=wide)))
    thread.post = await thread.resume(message=await thread.ts, parts=1)
    async with thread.open() as surface:
        await surface.finish(outcome(answer(table=wide)))
    assert thread.file_names() == ["all.csv"]


async def test_an_image_of_a_chart_is_attached(thread):
    chart = CHART.model_copy(update={"labels": ["same", "same"]})
    async with thread.open() as surface:
        await surface.finish(outcome(charts={"chart_1": chart}))
    assert thread.file_names() == ["sales-by-region.png"]
    [file] = [f for m in thread.replies() for f in m.get("files", ())]
    assert file["alt_txt"] == "Bar chart “Sales by region”. 2026: same 10, same 12.5."


async def test_a_file_that_slack_does_not_take_is_missed_in_a_private_answer_as_well(thread):
    """(R4) The person alone is told which file is missing, once, and the run is over."""
    chart = CHART.model_copy(update={"labels": ["same", "same"]})
    thread.ws.faults.fail("files.getUploadURLExternal", "file_uploads_disabled", times=2)
    await thread.ws.say(BEN, GENERAL, "so?", thread_ts=thread.request.thread)
    async with thread.open(private=True) as surface:
        await surface.finish(outcome(charts={"chart_1": chart}))
        await surface.finish(outcome(charts={"chart_1": chart}))
    _, answer, said = thread.replies(ADA)
    assert "Sales rose" in answer["text"]
    reason = words.NO_FILE_REASONS["file_uploads_disabled"]()
    assert said["text"] == words.NO_FILE(name="sales-by-region.png", reason=reason)


async def test_an_image_that_is_gone_does_not_stop_the_answer(thread):
    thread.artifacts.clear()
    chart = CHART.model_copy(update={"labels": ["same", "same"]})
    async with thread.open() as surface:
        await surface.finish(outcome(charts={"chart_1": chart}))
    assert thread.file_names() == []
    assert words.NO_FILE_GONE() in thread.replies()[-1]["text"]


@pytest.mark.parametrize("code", ["invalid_blocks", "msg_too_long"])
async def test_an_answer_that_slack_refuses_is_posted_as_text(thread, caplog, code):
    async with thread.open() as surface:
        thread.ws.faults.fail("chat.update", code)
        await surface.finish(outcome())
    message = thread.replies()[0]
    assert "Sales rose" in message["text"]
    assert not message.get("blocks")
    assert "refuses message" in caplog.text
    assert (thread.file_names() == ["answer.md"]) is (code == "msg_too_long")


@pytest.mark.parametrize("what", ["archived", "removed"])
async def test_when_its_place_is_gone_the_person_is_told_once(thread, what):
    async with thread.open() as surface:
        if what == "archived":
            await thread.ws.archive(ADA, GENERAL)
        else:
            await thread.ws.remove(ADA, GENERAL, thread.ws.bot_user_id)
        await surface.finish(outcome())
        await surface.finish(outcome())
    direct = thread.ws.messages(thread.rig.direct(ADA))
    assert len(direct) == 1
    assert "could not post" in direct[0]["text"]


@pytest.mark.parametrize("code", ["restricted_action_thread_locked", "cannot_reply_to_message"])
async def test_where_slack_takes_no_posts_any_more_the_person_is_told(thread, code):
    """Every way in which Slack says so: an answer that has no place is not tried for an hour."""
    async with thread.open() as surface:
        thread.ws.faults.fail("chat.update", "cant_update_message")
        thread.ws.faults.fail("chat.postMessage", code)
        await surface.finish(outcome())
    [told] = thread.ws.messages(thread.rig.direct(ADA))
    assert words.GONE_REASONS.get(code, words.GONE_OTHERWISE)() in told["text"]


async def test_a_worker_that_lost_the_thread_writes_nothing(thread):
    async with thread.open() as surface:
        await thread.rig.stores.leases.take(thread.request.thread_key)
        await surface.show(ToolStarted("c1", "t", "one"))
        with pytest.raises(LeaseLost):
            await surface.finish(outcome())
    assert thread.calls("chat.update") == []


async def test_without_a_placeholder_the_answer_is_posted(thread):
    thread.ws.faults.fail("chat.startStream", 503, times=1)
    async with thread.open() as surface:
        assert thread.replies() == []
        await surface.finish(outcome())
    [message] = thread.replies()
    assert message["ts"] == await thread.ts


async def test_when_slack_is_down_finishing_raises_and_works_later(thread):
    async with thread.open() as surface:
        thread.ws.faults.fail("chat.update", times=3)  # as often as the client tries
        with pytest.raises(aiohttp.ClientError):
            await surface.finish(outcome())
        await surface.finish(outcome())
    assert "Sales rose" in str(thread.replies())


async def test_a_private_answer_in_a_thread_without_replies_stands_beside_it(thread):
    """Slack shows it nowhere else: in a thread that nobody replied in it would be lost."""
    async with thread.open(private=True) as surface:
        await surface.finish(outcome())
    assert thread.replies(viewer=ADA) == []
    beside = thread.ws.messages(GENERAL, viewer=ADA)[-1]
    assert "Sales rose" in str(beside["blocks"])
    assert "Sales rose" not in str(thread.ws.messages(GENERAL, viewer=BEN))


async def test_a_private_answer_is_seen_by_nobody_else(thread):
    await thread.ws.say(BEN, GENERAL, "Hm.", thread_ts=thread.request.thread)
    before = thread.replies(viewer=ADA)
    wide = Table(caption="All", columns=["a"], rows=[[str(i)] for i in range(300)])
    async with thread.open(private=True) as surface:
        assert thread.replies(viewer=ADA) == before
        await surface.show(ToolStarted("c1", "t", "Looking at salaries"))
        await thread.ws.until(lambda: thread.ws.status(GENERAL, thread.request.thread).text)
        await surface.finish(outcome(answer(table=wide)))
    assert "salaries" not in str(thread.ws.effects)
    assert thread.replies(viewer=BEN) == before
    message = thread.replies(viewer=ADA)[-1]
    assert "Sales rose" in str(message["blocks"])
    [shared] = thread.ws.messages(thread.rig.direct(ADA))
    assert shared["files"][0]["name"] == "all.csv"


async def test_nothing_is_unfurled(thread):
    refuse_streams(thread.ws)
    async with thread.open() as surface:
        await surface.finish(outcome())
    for call in thread.calls("chat.postMessage"):
        assert call.args["unfurl_links"] in (False, "false", "0")
        assert call.args["unfurl_media"] in (False, "false", "0")


async def test_a_failure_offers_to_retry(thread):
    failed = outcome(status=RunStatus.FAILED, note="The model is down. Try again soon.")
    async with thread.open() as surface:
        await surface.finish(failed.model_copy(update={"result": None}))
    [message] = thread.replies()
    assert message["blocks"][0]["text"] == "The model is down. Try again soon."
    assert message["blocks"][1]["elements"][0]["text"]["text"] == words.RETRY()


@pytest.mark.parametrize("how", ["streamed", "posted"])
async def test_the_answer_to_an_old_message_is_a_new_one(thread, how):
    """Slack notifies nobody of an edit: after a long wait the answer is posted below, once, and the
    message that said that it waits is gone."""
    if how == "posted":
        refuse_streams(thread.ws)
    for _ in range(2):
        async with thread.open(edit_seconds=0) as surface:
            begun = await thread.ts
            await surface.finish(outcome())
    [message] = thread.replies()
    assert message["ts"] == await thread.ts
    assert "Sales rose" in str(message["blocks"])
    [removed] = thread.calls("chat.delete")
    assert removed.args["ts"] != message["ts"] == begun


async def test_a_revised_answer_stays_where_the_old_one_was(thread):
    async with thread.open(edit_seconds=0, replaces=("run_0",)) as surface:
        begun = await thread.ts
        await surface.finish(outcome())
    assert [m["ts"] for m in thread.replies()] == [begun]


async def test_an_old_message_that_somebody_removed_is_posted_anew(thread):
    """(R3) As a young one is: the question was not taken back."""
    async with thread.open(edit_seconds=0) as surface:
        await thread.ws.delete(ADA, GENERAL, await thread.ts)
        await surface.finish(outcome())
    [message] = thread.replies()
    assert message["ts"] == await thread.ts
    assert "Sales rose" in str(message["blocks"])


async def test_an_old_message_that_slack_keeps_becomes_the_answer(thread):
    """Where it may not be deleted, one that changes is better than two."""
    thread.ws.faults.fail("chat.delete", "cant_delete_message")
    async with thread.open(edit_seconds=0) as surface:
        begun = await thread.ts
        await surface.finish(outcome())
    [message] = thread.replies()
    assert message["ts"] == begun == await thread.ts
    assert "Sales rose" in str(message["blocks"])


@pytest.mark.parametrize("gone", [True, False])
async def test_a_worker_that_died_over_an_old_message_is_followed_by_one_answer(thread, gone):
    """Before or after the message went: whoever goes on finds it, or none."""
    async with thread.open():
        begun = await thread.ts
    thread.post = await thread.resume()
    if gone:
        await thread.rig.clients.updates.chat_delete(channel=GENERAL, ts=begun)
    async with thread.open(edit_seconds=0) as surface:
        await surface.finish(outcome())
    [message] = thread.replies()
    assert message["ts"] == await thread.ts != begun
    assert "Sales rose" in str(message["blocks"])
