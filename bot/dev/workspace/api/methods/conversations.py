"""conversations.*: channels, their members and their messages."""

import secrets

from bot.dev.workspace.api.arguments import Strings
from bot.dev.workspace.api.methods.method import find_channel, joined_channel, method
from bot.dev.workspace.api.paging import between, page
from bot.dev.workspace.core import Core
from bot.dev.workspace.errors import SlackFault
from bot.dev.workspace.store.copying import copied
from bot.dev.workspace.store.messages import is_reply, without_metadata
from bot.dev.workspace.store.state import Channel, Json
from bot.dev.workspace.store.wire import channel_object

KINDS = {"public_channel": "public", "private_channel": "private", "im": "im", "mpim": "mpim"}


@method("conversations.info", scope="channels:read")
async def info(
    core: Core, *, channel: str, include_locale: bool = False, include_num_members: bool = False
) -> Json:
    """Return one channel."""
    found = channel_object(find_channel(core, channel), core.state)
    if not include_num_members:
        found.pop("num_members", None)
    return {"channel": found | ({"locale": "en-GB"} if include_locale else {})}


@method("conversations.list", scope="channels:read", tier=2)
async def list_channels(
    core: Core,
    *,
    types: Strings | None = None,
    exclude_archived: bool = False,
    limit: int = 100,
    cursor: str | None = None,
) -> Json:
    """Return the channels that the bot can see."""
    kinds = _kinds(types)
    seen = [
        c
        for c in core.channels.values()
        if c.kind in kinds
        and (c.kind == "public" or core.bot_user_id in c.members)
        and not (exclude_archived and c.archived)
    ]
    return _channels(core, seen, limit, cursor)


@method("users.conversations", scope="channels:read")
async def of_user(
    core: Core,
    *,
    user: str | None = None,
    types: Strings | None = None,
    exclude_archived: bool = False,
    limit: int = 100,
    cursor: str | None = None,
) -> Json:
    """Return the channels of a person (without `user`, of the bot) that the bot can see."""
    kinds, member = _kinds(types), user or core.bot_user_id
    if member not in core.state.everyone():
        raise SlackFault("user_not_found")
    seen = [
        c
        for c in core.channels.values()
        if c.kind in kinds
        and member in c.members
        and (c.kind == "public" or core.bot_user_id in c.members)
        and not (exclude_archived and c.archived)
    ]
    return _channels(core, seen, limit, cursor)


@method("conversations.members", scope="channels:read", tier=4)
async def members(core: Core, *, channel: str, limit: int = 100, cursor: str | None = None) -> Json:
    """Return the members of a channel."""
    found, more = page(find_channel(core, channel).members, limit, cursor)
    return {"members": found, "response_metadata": more["response_metadata"]}


@method("conversations.open", scope="im:write")
async def open_direct(
    core: Core,
    *,
    users: Strings | None = None,
    channel: str | None = None,
    return_im: bool = False,
    prevent_creation: bool = False,
) -> Json:
    """Return the direct message with a person or with several."""
    if channel is not None:
        found = find_channel(core, channel)
    elif not users:
        raise SlackFault("users_list_not_supplied")
    else:
        found = _direct(core, users, create=not prevent_creation)
    shown = channel_object(found, core.state) if return_im else {"id": found.id}
    return {"channel": shown}


@method("conversations.history", scope="channels:history")
async def history(
    core: Core,
    *,
    channel: str,
    oldest: str = "0",
    latest: str | None = None,
    inclusive: bool = False,
    limit: int = 100,
    cursor: str | None = None,
    include_all_metadata: bool = False,
) -> Json:
    """Return the messages a channel shows, newest first; of replies only the broadcast ones."""
    conversation = joined_channel(core, channel)
    messages = between(core.store.top_level(conversation.id), oldest, latest, inclusive)
    found, more = page(messages[::-1], limit, cursor)
    return {"messages": _shown(found, include_all_metadata), "pin_count": 0, **more}


@method("conversations.replies", scope="channels:history")
async def replies(
    core: Core,
    *,
    channel: str,
    ts: str,
    oldest: str = "0",
    latest: str | None = None,
    inclusive: bool = False,
    limit: int = 1000,
    cursor: str | None = None,
    include_all_metadata: bool = False,
) -> Json:
    """Return a thread, oldest first; every page begins with the root."""
    conversation = joined_channel(core, channel)
    root = core.store.get(conversation.id, ts)
    if root is None:
        raise SlackFault("thread_not_found")
    if is_reply(root):
        return {"messages": _shown([root], include_all_metadata), "has_more": False}
    answers = [m for m in core.store.thread(conversation.id, ts) if is_reply(m)]
    found, more = page(between(answers, oldest, latest, inclusive), limit, cursor)
    return {"messages": _shown([root, *found], include_all_metadata), **more}


def _shown(messages: list[Json], with_metadata: bool) -> list[Json]:
    return [copied(m) if with_metadata else without_metadata(m) for m in messages]


def _kinds(types: list[str] | None) -> set[str]:
    wanted = types or ["public_channel"]
    if set(wanted) - set(KINDS):
        raise SlackFault("invalid_types")
    return {KINDS[name] for name in wanted}


def _channels(core: Core, channels: list[Channel], limit: int, cursor: str | None) -> Json:
    found, more = page(channels, limit, cursor)
    shown = [channel_object(c, core.state) for c in found]
    return {"channels": shown, "response_metadata": more["response_metadata"]}


def _direct(core: Core, users: list[str], *, create: bool) -> Channel:
    if any(user not in core.people for user in users):
        raise SlackFault("user_not_found")
    if any(core.people[user].is_deactivated for user in users):
        raise SlackFault("user_disabled")
    wanted = {*users, core.bot_user_id}
    for channel in core.channels.values():
        if channel.is_direct and set(channel.members) == wanted:
            return channel
    if not create:
        raise SlackFault("channel_not_found")
    names = "--".join(sorted(core.people[user].name for user in users))
    made = Channel(
        f"G{secrets.token_hex(5).upper()}", f"mpdm-{names}-1", "mpim", [*users, core.bot_user_id]
    )
    core.channels[made.id] = made
    return made
