"""Streams, statuses and sessions behave as Slack's, also at their end."""

import pytest

from bot.dev.workspace import ADA, CannotDo
from bot.dev.workspace.store.state import Json
from tests.unit.dev.refusals import error_of

GENERAL, DM = "C0GENERAL1", "D0ADA00001"


@pytest.fixture
async def root(ws):
    return (await ws.say(ADA, GENERAL, "question"))["ts"]


@pytest.fixture
def begin(ws, client, root):
    async def start(**more) -> str:
        to = {"recipient_team_id": ws.team_id, "recipient_user_id": ADA}
        return str(
            (await client.chat_startStream(channel=GENERAL, thread_ts=root, **to, **more))["ts"]
        )

    return start


def task(status: str, title: str = "Reading", **more) -> Json:
    return {"type": "task_update", "id": "1", "title": title, "status": status, **more}


def text(words: str) -> Json:
    return {"type": "markdown_text", "text": words}


async def test_a_stream_grows_and_becomes_a_message(ws, client, root, begin):
    ts = await begin(chunks=[text("Hello")])
    await client.chat_appendStream(channel=GENERAL, ts=ts, chunks=[text(" world")])
    assert ws.messages(GENERAL, root)[1]["streaming_state"] == "in_progress"
    await client.chat_appendStream(channel=GENERAL, ts=ts, chunks=[task("in_progress")])
    await client.chat_appendStream(
        channel=GENERAL, ts=ts, chunks=[task("complete", details="3 files")]
    )
    await client.chat_stopStream(channel=GENERAL, ts=ts, blocks=[{"type": "divider"}])
    message = ws.messages(GENERAL, root)[1]
    assert (message["text"], message["streaming_state"]) == ("Hello world", "completed")
    assert [b["type"] for b in message["blocks"]] == ["markdown", "task_card", "divider"]
    assert message["blocks"][1]["status"] == "complete"
    await client.chat_update(channel=GENERAL, ts=ts, text="an ordinary message now")


async def test_a_plan_holds_its_tasks(ws, client, root, begin):
    ts = await begin(
        task_display_mode="plan",
        chunks=[{"type": "plan_update", "title": "The plan"}, task("pending")],
    )
    plan = ws.messages(GENERAL, root)[1]["blocks"][0]
    assert (plan["title"], plan["tasks"][0]["status"]) == ("The plan", "pending")
    await client.chat_stopStream(channel=GENERAL, ts=ts)


async def test_the_sdks_own_helper_streams(ws, client, root):
    stream = await client.chat_stream(
        channel=GENERAL,
        thread_ts=root,
        recipient_team_id=ws.team_id,
        recipient_user_id=ADA,
        buffer_size=2,
    )
    await stream.append(markdown_text="abc")
    await stream.append(markdown_text="def")
    await stream.stop()
    assert ws.messages(GENERAL, root)[1]["text"] == "abcdef"


async def test_recipients_are_needed_in_channels_only(ws, client, root):
    start = client.chat_startStream
    assert await error_of(start(channel=GENERAL, thread_ts=root)) == "missing_recipient_team_id"
    half = start(channel=GENERAL, thread_ts=root, recipient_team_id=ws.team_id)
    assert await error_of(half) == "missing_recipient_user_id"
    direct = await ws.say(ADA, DM, "hi")
    await start(channel=DM, thread_ts=direct["ts"])


async def test_wrong_appends_are_refused(client, begin):
    ts = await begin(markdown_text="a")
    append = client.chat_appendStream
    both = append(channel=GENERAL, ts=ts, markdown_text="a", chunks=[task("pending")])
    assert await error_of(both) == "cannot_provide_both_markdown_text_and_chunks"
    other = append(channel=GENERAL, ts=ts, chunks=[text("b")])
    assert await error_of(other) == "streaming_mode_mismatch"
    long = append(channel=GENERAL, ts=ts, chunks=[task("complete", details="x" * 257)])
    assert await error_of(long) == "invalid_chunks"
    unknown = append(channel=GENERAL, ts=ts, chunks=[task("complete", colour="red")])
    assert await error_of(unknown) == "invalid_chunks"
    assert (
        await error_of(append(channel=GENERAL, ts=ts, markdown_text="a" * 12_001)) == "msg_too_long"
    )
    assert await error_of(append(channel=GENERAL, ts=ts, chunks=[task("done")])) == "invalid_chunks"
    assert (
        await error_of(append(channel=GENERAL, ts="1.000001", markdown_text="a"))
        == "message_not_found"
    )
    update = client.chat_update(channel=GENERAL, ts=ts, text="x")
    assert await error_of(update) == "streaming_state_conflict"
    await client.chat_stopStream(channel=GENERAL, ts=ts)
    assert (
        await error_of(append(channel=GENERAL, ts=ts, markdown_text="a"))
        == "message_not_in_streaming_state"
    )


async def test_a_stream_lives_five_minutes(ws, client, root, begin):
    ts = await begin(markdown_text="so far")
    ws.clock.advance(301)
    late = client.chat_appendStream(channel=GENERAL, ts=ts, markdown_text="a")
    assert await error_of(late) == "message_not_in_streaming_state"
    await client.chat_update(channel=GENERAL, ts=ts, text="repaired")
    assert ws.messages(GENERAL, root)[1]["text"] == "repaired"


async def test_task_cards_count_against_the_length_at_the_end(client, begin):
    ts = await begin(chunks=[text("a" * 11_000)])
    await client.chat_appendStream(channel=GENERAL, ts=ts, chunks=[task("complete")])
    assert await error_of(client.chat_stopStream(channel=GENERAL, ts=ts)) == "msg_too_long"


async def test_the_stop_button_ends_the_stream_and_tells_the_app(ws, client, app, root, begin):
    with pytest.raises(CannotDo):
        await ws.stop_session(ADA, GENERAL, root)
    await client.agents_sessions_setStatus(channel_id=GENERAL, thread_ts=root, status="processing")
    ts = await begin(markdown_text="a")
    await ws.stop_session(ADA, GENERAL, root)
    events: list[Json] = []
    while not events or events[-1]["type"] != "agent_session_stopped":
        events.append((await app.next())["event"])
    assert events[-1]["streaming_message_ts"] == [ts]
    assert (events[-1]["user"], events[-1]["thread_ts"]) == (ADA, root)
    late = client.chat_appendStream(channel=GENERAL, ts=ts, markdown_text="b")
    assert await error_of(late) == "stopped_by_user"
    assert ws.status(GENERAL, root).session == "processing"  # moving it on is the app's part


async def test_a_status_goes_with_the_next_message_or_after_two_minutes(ws, client, root):
    set_status = client.assistant_threads_setStatus
    await set_status(
        channel_id=GENERAL, thread_ts=root, status="is reading…", loading_messages=["a", "b"]
    )
    assert ws.status(GENERAL, root).text == "is reading…"
    await client.chat_postMessage(channel=GENERAL, thread_ts=root, text="done")
    assert ws.status(GENERAL, root).text == ""
    await set_status(channel_id=GENERAL, thread_ts=root, status="is reading…")
    ws.clock.advance(121)
    assert ws.status(GENERAL, root).text == ""
    many = set_status(channel_id=GENERAL, thread_ts=root, status="x", loading_messages=["a"] * 11)
    assert await error_of(many) == "invalid_arguments"


async def test_a_session_is_named_when_it_begins(ws, client, root):
    session = client.agents_sessions_setStatus
    await session(channel_id=GENERAL, thread_ts=root, status="processing", title="First")
    await session(channel_id=GENERAL, thread_ts=root, status="active", title="Second")
    assert (ws.status(GENERAL, root).session, ws.status(GENERAL, root).title) == ("active", "First")
    assert (
        await error_of(session(channel_id=GENERAL, thread_ts=root, status="busy"))
        == "invalid_status"
    )


async def test_a_session_is_at_work_no_more_once_a_stream_ended(ws, client, root, begin):
    """Ending a stream removes the Stop button, unless the app says that it goes on."""
    await client.agents_sessions_setStatus(channel_id=GENERAL, thread_ts=root, status="processing")
    ts = await begin(markdown_text="a")
    await client.chat_stopStream(channel=GENERAL, ts=ts, session_status="processing")
    assert ws.status(GENERAL, root).session == "processing"
    await client.chat_stopStream(channel=GENERAL, ts=await begin(markdown_text="a"))
    assert ws.status(GENERAL, root).session == "active"


async def test_at_most_four_prompts(ws, client):
    prompts = [{"title": str(n), "message": "m"} for n in range(5)]
    offer = client.assistant_threads_setSuggestedPrompts
    await offer(channel_id=DM, prompts=prompts[:4])
    assert len(ws.status(DM, None).prompts) == 4
    assert await error_of(offer(channel_id=DM, prompts=prompts)) == "invalid_arguments"


async def test_changes_are_told_in_order(ws, client, root):
    async with ws.subscribe() as changes:
        await client.assistant_threads_setStatus(
            channel_id=GENERAL, thread_ts=root, status="thinks"
        )
        await client.chat_postMessage(channel=GENERAL, thread_ts=root, text="done")
        kinds = [(await anext(changes)).kind for _ in range(3)]
    assert kinds == ["status", "message", "status"]
