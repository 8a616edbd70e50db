"""Posting, changing and deleting messages, with the events and changes that follow."""

import secrets
from typing import Any

from bot.dev.workspace.core import Core
from bot.dev.workspace.errors import SlackFault
from bot.dev.workspace.messaging.text import mentions
from bot.dev.workspace.store.messages import SERVICE_SUBTYPES, is_reply, without_metadata
from bot.dev.workspace.store.state import SLACKBOT, Channel, Json, Person, State
from bot.dev.workspace.store.wire import LABELS

TEXT_MAX = (
    40_000  # longer text is truncated, https://docs.slack.dev/reference/methods/chat.postMessage
)


def check_thread(core: Core, channel: Channel, thread_ts: str | None) -> None:
    """Check that a thread's root exists and is no reply itself. Raises SlackFault."""
    if thread_ts is None:
        return
    root = core.store.get(channel.id, thread_ts)
    if root is None:
        raise SlackFault("thread_not_found")
    if is_reply(root):
        raise SlackFault("cannot_reply_to_message")


def from_bot(state: State, fields: Json) -> Json:
    """Return a message of the app without a ts; None fields are left out, overlong text is cut."""
    given = {k: v for k, v in fields.items() if v is not None}
    return {
        "type": "message",
        "user": state.bot_user_id,
        "bot_id": state.bot_id,
        "app_id": state.app_id,
        "team": state.team_id,
        "bot_profile": {
            "id": state.bot_id,
            "app_id": state.app_id,
            "name": state.app_name,
            "team_id": state.team_id,
            "deleted": False,
        },
        **given,
        "text": given.get("text", "")[:TEXT_MAX],
    }


def of_app(person: Person) -> Json:
    """Return the fields that a message of another app has; none for a person."""
    if not person.app_id:
        return {}
    ids = {"app_id": person.app_id, "team_id": person.team_id, "deleted": False}
    profile = {"id": person.bot_id, "name": person.real_name, **ids}
    return {"bot_id": person.bot_id, "app_id": person.app_id, "bot_profile": profile}


def post(core: Core, channel: Channel, message: Json) -> Json:
    """Post a message to a channel: give it a ts, store it, and notify people and the app."""
    message = {**message, "ts": core.store.next_ts()}
    if message.get("thread_ts"):
        message |= _parent(core, channel, message["thread_ts"])
    core.store.add(channel.id, message)
    _notify(core, "message", channel, message)
    shown = without_metadata(message)
    in_channel = {"channel": channel.id, "event_ts": message["ts"]}
    if _mentions_bot(core, channel, message):
        mention = {k: v for k, v in shown.items() if k not in ("subtype", "parent_user_id")}
        searching = _search_fields(core, message)
        core.emit(mention | in_channel | searching | {"type": "app_mention"}, channel)
    direct = channel.kind == "im" and "bot_id" not in message
    searching = _search_fields(core, message) if direct else {}
    core.emit(shown | in_channel | searching | {"channel_type": LABELS[channel.kind]}, channel)
    return message


def change(
    core: Core, channel: Channel, message: Json, *, edited_by: str | None, **fields: Any
) -> None:
    """Replace fields of a message; the value None removes a field."""
    previous = without_metadata(message)
    for key, value in fields.items():
        if value is None:
            message.pop(key, None)
        else:
            message[key] = value
    if edited_by:
        message["edited"] = {"user": edited_by, "ts": core.store.next_ts()}
    _notify(core, "message_changed", channel, message)
    event = {
        "type": "message",
        "subtype": "message_changed",
        "hidden": True,
        "channel": channel.id,
        "channel_type": LABELS[channel.kind],
        "ts": core.store.next_ts(),
        "message": without_metadata(message),
        "previous_message": previous,
    }
    core.emit(event, channel)


def delete(core: Core, channel: Channel, message: Json) -> None:
    """Delete a message."""
    previous = without_metadata(message)
    thread = previous.get("thread_ts")
    tombstone_went = core.store.remove(channel.id, message)
    core.changed("message_deleted", channel.id, ts=previous["ts"], thread_ts=thread, data=previous)
    if tombstone_went:
        core.changed("message_deleted", channel.id, ts=thread)
    event = {
        "type": "message",
        "subtype": "message_deleted",
        "hidden": True,
        "channel": channel.id,
        "channel_type": LABELS[channel.kind],
        "ts": core.store.next_ts(),
        "deleted_ts": previous["ts"],
        "previous_message": previous,
    }
    core.emit(event, channel)


def post_ephemeral(core: Core, channel: Channel, viewer: str, message: Json) -> str:
    """Show a message to one person, without an event, and return its ts."""
    ts = core.store.next_ts()
    shown = {**message, "ts": ts, "is_ephemeral": True}
    core.store.add_ephemeral(channel.id, viewer, shown)
    core.changed(
        "ephemeral", channel.id, ts=ts, thread_ts=message.get("thread_ts"), user=viewer, data=shown
    )
    return ts


def hint_at_absence(core: Core, channel: Channel, message: Json) -> None:
    """Tell the author, as Slackbot does, that the mentioned bot is not in the channel."""
    bot = core.bot_user_id
    if bot in channel.members or not mentions(message["text"], bot):
        return
    name = core.state.everyone()[bot].real_name
    text = f"<@{bot}> is not in this channel and did not see this. To bring it in, write `/invite @{name}`."
    if channel.kind in ("im", "mpim"):  # nobody can be invited there
        text = f"<@{bot}> is not in this conversation and did not see this. Write to it directly, or in a channel."
    hint: Json = {"type": "message", "user": SLACKBOT, "text": text}
    if thread_ts := message.get("thread_ts"):
        hint["thread_ts"] = thread_ts
    post_ephemeral(core, channel, message["user"], hint)


def new_block_id() -> str:
    """Return a block_id for a block that the app gave none."""
    return secrets.token_urlsafe(4)[:5]


def _parent(core: Core, channel: Channel, thread_ts: str) -> Json:
    root = core.store.get(channel.id, thread_ts)
    return {"thread_ts": thread_ts, "parent_user_id": root["user"] if root else ""}


def _search_fields(core: Core, message: Json) -> Json:
    """Return the fields that let the app search as the author of a mention or direct message."""
    return {"assistant_thread": {"action_token": core.new_action_token(message["user"])}}


def _mentions_bot(core: Core, channel: Channel, message: Json) -> bool:
    from_person = "bot_id" not in message and message.get("subtype") not in SERVICE_SUBTYPES
    return from_person and not channel.is_direct and mentions(message["text"], core.bot_user_id)


def _notify(core: Core, kind: str, channel: Channel, message: Json) -> None:
    core.changed(
        kind,
        channel.id,
        ts=message["ts"],
        thread_ts=message.get("thread_ts"),
        user=message.get("user"),
        data=message,
    )
