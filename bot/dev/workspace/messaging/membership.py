"""Who is in a channel, and whether it goes on: what changes, what is told, and the line it leaves."""

from bot.dev.workspace.core import Core
from bot.dev.workspace.errors import CannotDo
from bot.dev.workspace.messaging.posting import post
from bot.dev.workspace.store.state import Channel, Json


def join(core: Core, place: Channel, user: str, inviter: str) -> None:
    """Add somebody, or the bot. CannotDo for one who is there."""
    if user in place.members:
        raise CannotDo(f"{core.state.everyone()[user].real_name} is already in #{place.name}")
    place.members.append(user)
    core.changed("members", place.id, user=user)
    kind = "C" if place.kind == "public" else "G"
    event = {"type": "member_joined_channel", "user": user, "channel": place.id}
    about = {"channel_type": kind, "team": core.team_id, "inviter": inviter}
    core.emit(event | about, place)
    _line(core, place, "channel_join", user, "has joined the channel", inviter=inviter)


def leave(core: Core, place: Channel, user: str, remover: str) -> None:
    """Take somebody, or the bot, out; `remover` is the same person when they leave. CannotDo for
    one who is not there."""
    if user not in place.members:
        raise CannotDo(f"{core.state.everyone()[user].real_name} is not in #{place.name}")
    place.members.remove(user)
    core.changed("members", place.id, user=user)
    if user == core.bot_user_id:
        core.emit({"type": "channel_left", "channel": place.id})
    _line(core, place, "channel_leave", user, "has left the channel", remover=remover)


def deactivate(core: Core, user: str, admin: str) -> None:
    """End somebody's account: they are in no channel any more, which leaves no line. An app that has
    not subscribed to `user_change` hears nothing of it. CannotDo for who is no admin, and oneself."""
    if not core.people[admin].is_admin or user not in core.people or admin == user:
        raise CannotDo("Admins end the accounts of other people")
    core.people[user].is_deactivated = True
    core.changed("people", user=user)
    for place in core.channels.values():
        if user in place.members and not place.is_direct:
            place.members.remove(user)
            core.changed("members", place.id, user=user)


def archive(core: Core, place: Channel, by: str) -> None:
    """End a channel, so that it can be read from now on and not be written in."""
    place.archived = True
    core.changed("members", place.id)
    core.emit({"type": "channel_archive", "channel": place.id, "user": by}, place)
    _line(core, place, "channel_archive", by, "has archived the channel")


def _line(core: Core, place: Channel, subtype: str, user: str, what: str, **about: str) -> None:
    message: Json = {"type": "message", "subtype": subtype, "user": user}
    post(core, place, message | {"text": f"<@{user}> {what}"} | about)
