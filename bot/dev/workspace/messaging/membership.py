"""Members of a channel and its end: the change, the event for the app, and the line in the channel."""

from bot.dev.workspace.core import Core
from bot.dev.workspace.errors import CannotDo
from bot.dev.workspace.messaging.posting import post
from bot.dev.workspace.store.state import Channel, Json
from bot.dev.workspace.store.wire import user_object


def join(core: Core, conversation: Channel, user: str, inviter: str) -> None:
    """Add a person or the bot to a channel. Raises CannotDo for a member."""
    if user in conversation.members:
        name = core.state.everyone()[user].real_name
        raise CannotDo("{name} is already in #{channel}", name=name, channel=conversation.name)
    conversation.members.append(user)
    core.changed("members", conversation.id, user=user)
    kind = "C" if conversation.kind == "public" else "G"
    event = {"type": "member_joined_channel", "user": user, "channel": conversation.id}
    about = {"channel_type": kind, "team": core.team_id, "inviter": inviter}
    core.emit(event | about, conversation)
    _post_line(core, conversation, "channel_join", user, "has joined the channel", inviter=inviter)


def leave(core: Core, conversation: Channel, user: str, remover: str) -> None:
    """Take a person or the bot out of a channel; `remover` is the same person when they leave.

    Raises CannotDo for somebody who is not a member.
    """
    if user not in conversation.members:
        name = core.state.everyone()[user].real_name
        raise CannotDo("{name} is not in #{channel}", name=name, channel=conversation.name)
    conversation.members.remove(user)
    core.changed("members", conversation.id, user=user)
    if user == core.bot_user_id:
        core.emit({"type": "channel_left", "channel": conversation.id})
    _post_line(core, conversation, "channel_leave", user, "has left the channel", remover=remover)


def deactivate(core: Core, user: str, admin: str) -> None:
    """End a person's account and take them out of all channels, which leaves no line there.

    The app gets a `user_change`. Raises CannotDo unless an admin
    ends the account of somebody else.
    """
    if not core.people[admin].is_admin or user not in core.people or admin == user:
        raise CannotDo("Admins end the accounts of other people")
    core.people[user].is_deactivated = True
    core.changed("people", user=user)
    announce_change(core, user)
    for conversation in core.channels.values():
        if user in conversation.members and not conversation.is_direct:
            conversation.members.remove(user)
            core.changed("members", conversation.id, user=user)


def announce_change(core: Core, user: str) -> None:
    """Tell the app that something about a person has changed."""
    core.emit(
        {"type": "user_change", "user": user_object(core.people[user], core.state), "cache_ts": 0}
    )


def archive(core: Core, conversation: Channel, by: str) -> None:
    """Archive a channel: it can be read, but not written in."""
    conversation.archived = True
    core.changed("members", conversation.id)
    core.emit({"type": "channel_archive", "channel": conversation.id, "user": by}, conversation)
    _post_line(core, conversation, "channel_archive", by, "has archived the channel")


def _post_line(
    core: Core, conversation: Channel, subtype: str, user: str, what: str, **about: str
) -> None:
    message: Json = {"type": "message", "subtype": subtype, "user": user}
    post(core, conversation, message | {"text": f"<@{user}> {what}"} | about)
