"""chat.*: posting, changing, deleting and scheduling messages."""

from bot.dev.workspace.api.arguments import JsonList, JsonObject
from bot.dev.workspace.api.methods.method import joined_channel, method, open_channel, own_message
from bot.dev.workspace.api.paging import page
from bot.dev.workspace.core import Core
from bot.dev.workspace.errors import SlackFault
from bot.dev.workspace.messaging.content import checked_metadata, content
from bot.dev.workspace.messaging.posting import (
    change,
    check_thread,
    delete,
    from_bot,
    post,
    post_ephemeral,
)
from bot.dev.workspace.messaging.status import clear_text
from bot.dev.workspace.messaging.streaming import is_live
from bot.dev.workspace.store.messages import without_metadata
from bot.dev.workspace.store.state import Json

UPDATE_TEXT_MAX = 4_000
SCHEDULE_MAX = 120 * 86_400
CANCEL_MIN = 60  # seconds before posting; cancelling is too late then


@method("chat.postMessage", scope="chat:write", tier=4)
async def post_message(
    core: Core,
    *,
    channel: str,
    text: str | None = None,
    blocks: JsonList | None = None,
    attachments: JsonList | None = None,
    markdown_text: str | None = None,
    thread_ts: str | None = None,
    reply_broadcast: bool = False,
    metadata: JsonObject | None = None,
    username: str | None = None,
    icon_emoji: str | None = None,
    icon_url: str | None = None,
    unfurl_links: bool | None = None,  # noqa: ARG001 - nothing is unfurled here
    unfurl_media: bool | None = None,  # noqa: ARG001
    mrkdwn: bool = True,  # noqa: ARG001
    parse: str | None = None,  # noqa: ARG001
    link_names: bool | None = None,  # noqa: ARG001
) -> Json:
    """Post a message."""
    conversation = open_channel(core, channel)
    body = content(text, blocks, attachments, markdown_text)
    check_thread(core, conversation, thread_ts)
    core.rates.count_post(conversation.id)
    appearance = {"username": username, "icon_emoji": icon_emoji, "icon_url": icon_url}
    more = {
        "thread_ts": thread_ts,
        "subtype": "thread_broadcast" if reply_broadcast and thread_ts else None,
        "metadata": checked_metadata(metadata),
    }
    posted = post(core, conversation, from_bot(core.state, {**body, **appearance, **more}))
    clear_text(core, conversation.id, thread_ts)
    return {"channel": conversation.id, "ts": posted["ts"], "message": without_metadata(posted)}


@method("chat.update", scope="chat:write")
async def update(
    core: Core,
    *,
    channel: str,
    ts: str,
    text: str | None = None,
    blocks: JsonList | None = None,
    attachments: JsonList | None = None,
    markdown_text: str | None = None,
    metadata: JsonObject | None = None,
    parse: str | None = None,  # noqa: ARG001
    link_names: bool | None = None,  # noqa: ARG001
    reply_broadcast: bool | None = None,  # noqa: ARG001
    unfurl_links: bool | None = None,  # noqa: ARG001
    unfurl_media: bool | None = None,  # noqa: ARG001
) -> Json:
    """Change one of the bot's messages; blocks and attachments that are not given stay."""
    conversation = joined_channel(core, channel)
    message = own_message(core, conversation, ts, "cant_update_message")
    if conversation.archived:
        raise SlackFault("is_inactive")
    if is_live(core, conversation.id, ts):
        raise SlackFault("streaming_state_conflict")
    window = core.state.edit_window
    if window is not None and core.clock.now() - float(ts) > window:
        raise SlackFault("edit_window_closed")
    if text is not None and len(text) > UPDATE_TEXT_MAX:
        raise SlackFault("msg_too_long")
    fields = content(text, blocks, attachments, markdown_text)
    if metadata is not None:
        fields["metadata"] = checked_metadata(metadata)
    change(core, conversation, message, edited_by=core.bot_user_id, **fields)
    return {
        "channel": conversation.id,
        "ts": ts,
        "text": message["text"],
        "message": without_metadata(message),
    }


@method("chat.delete", scope="chat:write")
async def delete_message(core: Core, *, channel: str, ts: str) -> Json:
    """Delete one of the bot's messages."""
    conversation = joined_channel(core, channel)
    message = own_message(core, conversation, ts, "cant_delete_message")
    if not core.state.may_delete:
        raise SlackFault("cant_delete_message")
    delete(core, conversation, message)
    return {"channel": conversation.id, "ts": ts}


@method("chat.postEphemeral", scope="chat:write", tier=4)
async def ephemeral(
    core: Core,
    *,
    channel: str,
    user: str,
    text: str | None = None,
    blocks: JsonList | None = None,
    attachments: JsonList | None = None,
    markdown_text: str | None = None,
    thread_ts: str | None = None,
    username: str | None = None,
    icon_emoji: str | None = None,
    icon_url: str | None = None,
    parse: str | None = None,  # noqa: ARG001
    link_names: bool | None = None,  # noqa: ARG001
) -> Json:
    """Show a message to one member of a channel."""
    conversation = open_channel(core, channel)
    if user not in conversation.members:
        raise SlackFault("user_not_in_channel")
    body = content(text, blocks, attachments, markdown_text)
    appearance = {"username": username, "icon_emoji": icon_emoji, "icon_url": icon_url}
    message = from_bot(core.state, {**body, **appearance, "thread_ts": thread_ts})
    if thread_ts and len(core.store.thread(channel, thread_ts)) < 2:
        # Slack answers ok and shows it to nobody when the thread has no replies yet.
        return {"message_ts": core.store.next_ts()}
    return {"message_ts": post_ephemeral(core, conversation, user, message)}


@method("chat.scheduleMessage", scope="chat:write")
async def schedule(
    core: Core,
    *,
    channel: str,
    post_at: int,
    text: str | None = None,
    blocks: JsonList | None = None,
    attachments: JsonList | None = None,
    markdown_text: str | None = None,
    thread_ts: str | None = None,
    metadata: JsonObject | None = None,
    reply_broadcast: bool = False,  # noqa: ARG001
    link_names: bool | None = None,  # noqa: ARG001
    parse: str | None = None,  # noqa: ARG001
    unfurl_links: bool | None = None,  # noqa: ARG001
    unfurl_media: bool | None = None,  # noqa: ARG001
) -> Json:
    """Post a message later, within 120 days."""
    conversation = open_channel(core, channel)
    wait = post_at - core.clock.now()
    if wait <= 0:
        raise SlackFault("time_in_past")
    if wait > SCHEDULE_MAX:
        raise SlackFault("time_too_far")
    check_thread(core, conversation, thread_ts)
    body = content(text, blocks, attachments, markdown_text)
    more = {"thread_ts": thread_ts, "metadata": checked_metadata(metadata)}
    message = from_bot(core.state, {**body, **more})
    key = f"Q{core.store.next_ts().replace('.', '')}"
    core.state.scheduled[key] = {
        "channel_id": conversation.id,
        "post_at": post_at,
        "date_created": int(core.clock.now()),
        "text": message["text"],
    }
    core.delivery.spawn(_post_later(core, key, message, post_at))
    return {
        "channel": conversation.id,
        "scheduled_message_id": key,
        "post_at": post_at,
        "message": message,
    }


@method("chat.scheduledMessages.list")
async def scheduled(
    core: Core, *, channel: str | None = None, limit: int = 100, cursor: str | None = None
) -> Json:
    """Return the scheduled messages."""
    waiting = [
        {"id": key, **message}
        for key, message in core.state.scheduled.items()
        if channel in (None, message["channel_id"])
    ]
    found, more = page(waiting, limit, cursor)
    return {"scheduled_messages": found, "response_metadata": more["response_metadata"]}


@method("chat.deleteScheduledMessage", scope="chat:write")
async def unschedule(core: Core, *, channel: str, scheduled_message_id: str) -> Json:
    """Cancel a scheduled message."""
    waiting = core.state.scheduled.get(scheduled_message_id)
    if waiting is None or waiting["channel_id"] != channel:
        raise SlackFault("invalid_scheduled_message_id")
    if waiting["post_at"] - core.clock.now() < CANCEL_MIN:
        raise SlackFault("invalid_scheduled_message_id")
    del core.state.scheduled[scheduled_message_id]
    return {}


async def _post_later(core: Core, key: str, message: Json, post_at: int) -> None:
    await core.clock.sleep_until(post_at)
    waiting = core.state.scheduled.pop(key, None)
    if waiting is not None:
        post(core, core.channels[waiting["channel_id"]], message)
