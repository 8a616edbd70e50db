"""Streamed messages: the chunks that arrive, how the message looks meanwhile, and its end.

Limits: https://docs.slack.dev/reference/methods/chat.appendStream; the total sizes and the lifetime
of five minutes are not documented and come from measurements of the community.
"""

from typing import Any

from bot.dev.workspace.core import Core
from bot.dev.workspace.errors import CannotDo, SlackFault
from bot.dev.workspace.messaging.posting import change, new_block_id
from bot.dev.workspace.store.state import Channel, Json, Stream

BLOCKS_MAX = 50
TEXT_ONLY_MAX = 40_000  # characters in total
WITH_TASKS_MAX = 10_600  # bytes in total


def is_live(core: Core, channel: str, ts: str) -> bool:
    """Whether this message is being streamed right now."""
    stream = core.state.streams.get((channel, ts))
    if stream is None:
        return False
    _expire(core, stream)
    return stream.state == "live"


def live_stream(core: Core, channel: str, ts: str) -> Stream:
    """Return the stream to add to.

    Raises SlackFault message_not_found, stopped_by_user, message_not_in_streaming_state.
    """
    stream = core.state.streams.get((channel, ts))
    if stream is None:
        known = core.store.get(channel, ts) is not None
        raise SlackFault("message_not_in_streaming_state" if known else "message_not_found")
    if core.store.get(channel, ts) is None:
        raise SlackFault("message_not_found")
    _expire(core, stream)
    if stream.state == "stopped_by_user":
        raise SlackFault("stopped_by_user")
    if stream.state != "live":
        raise SlackFault("message_not_in_streaming_state")
    return stream


def check_mode(stream: Stream, markdown_text: str | None, chunks: list[Json] | None) -> None:
    """Check that a stream goes on as it began, with text or with chunks.

    Raises SlackFault streaming_mode_mismatch.
    """
    mode = "text" if markdown_text is not None else "chunks" if chunks else stream.mode
    if stream.mode not in (None, mode):
        raise SlackFault("streaming_mode_mismatch")
    stream.mode = mode


def add(stream: Stream, chunks: list[Json]) -> None:
    """Add chunks: text continues the text before it, a task replaces its earlier state."""
    for chunk in chunks:
        match chunk["type"]:
            case "markdown_text":
                _add_text(stream, chunk["text"])
            case "task_update":
                _add_task(stream, chunk)
            case "plan_update":
                stream.plan_title = chunk["title"]
                _add_plan(stream)
            case _:
                stream.parts.append({"kind": "blocks", "blocks": chunk["blocks"]})
    blocks = sum(len(p["blocks"]) for p in stream.parts if p["kind"] == "blocks")
    if blocks > BLOCKS_MAX:
        raise SlackFault("msg_blocks_too_many")


def text_of(stream: Stream) -> str:
    """Return all text so far."""
    return "".join(part["text"] for part in stream.parts if part["kind"] == "text")


def blocks_of(stream: Stream) -> list[Json]:
    """Return the blocks of the message as it looks now."""
    blocks: list[Json] = []
    for part in stream.parts:
        match part["kind"]:
            case "text":
                blocks.append(
                    {"type": "markdown", "block_id": part["block_id"], "text": part["text"]}
                )
            case "task":
                blocks.append({"block_id": part["block_id"], **_card(stream.tasks[part["id"]])})
            case "plan":
                blocks.append(_plan(stream, part["block_id"]))
            case _:
                blocks += [{"block_id": new_block_id(), **block} for block in part["blocks"]]
    return blocks


def check_size(stream: Stream) -> None:
    """Check the total size, which is far smaller with task cards. Raises SlackFault msg_too_long."""
    if not stream.tasks:
        if len(text_of(stream)) > TEXT_ONLY_MAX:
            raise SlackFault("msg_too_long")
        return
    cards = "".join(str(v) for task in stream.tasks.values() for v in task.values())
    if len((text_of(stream) + cards).encode(errors="replace")) > WITH_TASKS_MAX:
        raise SlackFault("msg_too_long")


def show(core: Core, stream: Stream, extra: list[Json] | None = None, **fields: Any) -> None:
    """Update the message and notify people; the app gets no event while it streams."""
    message = core.store.get(stream.channel, stream.ts)
    if message is None:
        return
    message |= {"text": text_of(stream), "blocks": [*blocks_of(stream), *(extra or [])], **fields}
    core.changed(
        "stream",
        stream.channel,
        ts=stream.ts,
        thread_ts=stream.thread_ts,
        user=message["user"],
        data=message,
    )


def finish(
    core: Core, stream: Stream, state: Any, extra: list[Json] | None = None, **fields: Any
) -> None:
    """Turn the stream into an ordinary message."""
    stream.state = state
    stream.ended = core.store.next_ts()
    message = core.store.get(stream.channel, stream.ts)
    if message is None:
        return
    shown = "completed" if state == "stopped" else "errored"
    blocks = [*blocks_of(stream), *(extra or [])]
    change(
        core,
        core.channels[stream.channel],
        message,
        edited_by=None,
        text=text_of(stream),
        blocks=blocks,
        streaming_state=shown,
        **fields,
    )


def stop_by_user(core: Core, user: str, conversation: Channel, thread_ts: str | None) -> None:
    """Press Stop: end the thread's streams and notify the app.

    Raises CannotDo when the app is not working there.
    """
    status = core.state.status(conversation.id, thread_ts)
    if status.session != "processing":
        raise CannotDo("there is nothing to stop here")
    stopped = []
    for stream in core.state.streams.values():
        if (stream.channel, stream.thread_ts) == (conversation.id, thread_ts) and is_live(
            core, conversation.id, stream.ts
        ):
            finish(core, stream, "stopped_by_user")
            stopped.append(stream.ts)
    event = {
        "type": "agent_session_stopped",
        "channel": conversation.id,
        "user": user,
        "thread_ts": thread_ts,
    }
    core.emit(event | {"streaming_message_ts": stopped}, conversation)


def _expire(core: Core, stream: Stream) -> None:
    if stream.state == "live" and core.clock.now() > stream.started + core.stream_lifetime:
        finish(core, stream, "expired")


def _add_text(stream: Stream, text: str) -> None:
    if stream.parts and stream.parts[-1]["kind"] == "text":
        stream.parts[-1]["text"] += text
    else:
        stream.parts.append({"kind": "text", "text": text, "block_id": new_block_id()})


def _add_task(stream: Stream, chunk: Json) -> None:
    known = stream.tasks.get(chunk["id"])
    task = {k: v for k, v in chunk.items() if k != "type" and v is not None}
    stream.tasks[chunk["id"]] = {**(known or {}), **task}
    if stream.plan_mode:
        _add_plan(stream)
    elif known is None:
        stream.parts.append({"kind": "task", "id": chunk["id"], "block_id": new_block_id()})


def _add_plan(stream: Stream) -> None:
    if not any(part["kind"] == "plan" for part in stream.parts):
        stream.parts.append({"kind": "plan", "block_id": new_block_id()})


def _card(task: Json) -> Json:
    card: Json = {
        "type": "task_card",
        "task_id": task["id"],
        "title": task["title"],
        "status": task["status"],
    }
    for key in ("details", "output"):
        if task.get(key):
            section = {
                "type": "rich_text_section",
                "elements": [{"type": "text", "text": task[key]}],
            }
            card[key] = {"type": "rich_text", "elements": [section]}
    if task.get("sources"):
        card["sources"] = task["sources"]
    return card


def _plan(stream: Stream, block_id: str) -> Json:
    cards = [_card(task) for task in stream.tasks.values()]
    return {
        "type": "plan",
        "block_id": block_id,
        "title": stream.plan_title or "Plan",
        "tasks": cards,
    }
