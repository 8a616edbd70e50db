"""chat.startStream, appendStream, stopStream."""

from typing import Literal

from bot.dev.workspace.api.arguments import JsonList, JsonObject
from bot.dev.workspace.api.methods.method import joined_channel, method, open_channel
from bot.dev.workspace.core import Core
from bot.dev.workspace.errors import SlackFault
from bot.dev.workspace.messaging.chunks import checked_chunks
from bot.dev.workspace.messaging.content import checked, checked_metadata
from bot.dev.workspace.messaging.posting import check_thread, from_bot, post
from bot.dev.workspace.messaging.status import clear_text, set_session
from bot.dev.workspace.messaging.streaming import (
    add,
    check_mode,
    check_size,
    finish,
    live_stream,
    show,
)
from bot.dev.workspace.store.messages import without_metadata
from bot.dev.workspace.store.state import Channel, Json, Stream


@method("chat.startStream", scope="chat:write", tier=2)
async def start(
    core: Core,
    *,
    channel: str,
    thread_ts: str | None = None,
    markdown_text: str | None = None,
    chunks: JsonList | None = None,
    recipient_team_id: str | None = None,
    recipient_user_id: str | None = None,
    task_display_mode: Literal["timeline", "plan", "dense"] = "timeline",
    username: str | None = None,
    icon_emoji: str | None = None,
    icon_url: str | None = None,
) -> Json:
    """Start a streamed message."""
    conversation = open_channel(core, channel)
    _check_recipient(core, conversation, recipient_team_id, recipient_user_id)
    if conversation.is_direct and thread_ts is None:
        raise SlackFault(
            "invalid_arguments", response_metadata={"messages": ["[ERROR] missing: thread_ts"]}
        )
    check_thread(core, conversation, thread_ts)
    given = checked_chunks(markdown_text, chunks)
    core.rates.count_post(conversation.id)
    appearance = {"username": username, "icon_emoji": icon_emoji, "icon_url": icon_url}
    more: Json = {"thread_ts": thread_ts, "streaming_state": "in_progress", "blocks": []}
    message = from_bot(core.state, {**appearance, **more})
    posted = post(core, conversation, message)
    stream = Stream(
        conversation.id, posted["ts"], thread_ts, core.clock.now(), task_display_mode == "plan"
    )
    core.state.streams[conversation.id, posted["ts"]] = stream
    check_mode(stream, markdown_text, chunks)
    add(stream, given)
    show(core, stream)
    clear_text(core, conversation.id, thread_ts)
    return {"channel": conversation.id, "ts": posted["ts"]}


@method("chat.appendStream", scope="chat:write", tier=4)
async def append(
    core: Core,
    *,
    channel: str,
    ts: str,
    markdown_text: str | None = None,
    chunks: JsonList | None = None,
) -> Json:
    """Add to a streamed message."""
    conversation = joined_channel(core, channel)
    stream = live_stream(core, conversation.id, ts)
    given = checked_chunks(markdown_text, chunks)
    if not given:
        raise SlackFault("markdown_text_or_chunks_required")
    check_mode(stream, markdown_text, chunks)
    add(stream, given)
    show(core, stream)
    return {"channel": conversation.id, "ts": ts}


@method("chat.stopStream", scope="chat:write", tier=2)
async def stop(
    core: Core,
    *,
    channel: str,
    ts: str,
    markdown_text: str | None = None,
    chunks: JsonList | None = None,
    blocks: JsonList | None = None,
    metadata: JsonObject | None = None,
    session_status: Literal["processing", "active", "suspended", "closed"] = "active",
) -> Json:
    """Finish a streamed message, which then is an ordinary one.

    The session of its thread becomes active unless another status is given.
    """
    conversation = joined_channel(core, channel)
    stream = live_stream(core, conversation.id, ts)
    given = checked_chunks(markdown_text, chunks)
    extra = checked(blocks) if blocks else []
    more = {"metadata": checked_metadata(metadata)} if metadata is not None else {}
    check_mode(stream, markdown_text, chunks)
    add(stream, given)
    check_size(stream)
    finish(core, stream, "stopped", extra, **more)
    if core.state.status(conversation.id, stream.thread_ts).session is not None:
        set_session(core, conversation.id, stream.thread_ts, session_status)
    message = core.store.get(conversation.id, ts) or {}
    return {"channel": conversation.id, "ts": ts, "message": without_metadata(message)}


def _check_recipient(core: Core, conversation: Channel, team: str | None, user: str | None) -> None:
    if conversation.is_direct:
        return
    if team is None:
        raise SlackFault("missing_recipient_team_id")
    if user is None:
        raise SlackFault("missing_recipient_user_id")
    if user not in core.people:
        raise SlackFault("user_not_found")
