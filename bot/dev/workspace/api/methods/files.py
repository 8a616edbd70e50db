"""files.*: the steps of an upload, and information about files."""

from bot.dev.workspace.api.arguments import JsonList, Strings
from bot.dev.workspace.api.methods.method import method, open_channel
from bot.dev.workspace.core import Core
from bot.dev.workspace.errors import SlackFault
from bot.dev.workspace.messaging.content import checked
from bot.dev.workspace.messaging.posting import check_thread, from_bot, post
from bot.dev.workspace.messaging.uploads import new_id, share_events
from bot.dev.workspace.store.state import Channel, File, Json
from bot.dev.workspace.store.wire import file_object

SIZE_MAX = 1024**3
ALT_MAX = 1_000
_LISTS = {"public": "channels", "private": "groups", "mpim": "groups", "im": "ims"}


@method("files.getUploadURLExternal", scope="files:write", tier=4)
async def get_upload_url(
    core: Core,
    *,
    filename: str,
    length: int,
    alt_txt: str | None = None,
    snippet_type: str | None = None,  # noqa: ARG001
) -> Json:
    """Return a URL for the bytes, the first step of an upload."""
    if not filename or length <= 0:
        raise SlackFault(
            "invalid_arguments",
            response_metadata={"messages": ["[ERROR] must be positive: length"]},
        )
    if alt_txt is not None and len(alt_txt) > ALT_MAX:
        raise SlackFault("alt_txt_too_large")
    if length > SIZE_MAX:
        raise SlackFault("file_upload_size_restricted")
    file = File(
        new_id(core), filename, length, core.bot_user_id, int(core.clock.now()), alt_txt=alt_txt
    )
    core.state.files[file.id] = file
    return {"upload_url": f"{core.url}upload/v1/{file.id}", "file_id": file.id}


@method("files.completeUploadExternal", scope="files:write", tier=4)
async def complete_upload(
    core: Core,
    *,
    files: JsonList,
    channel_id: str | None = None,
    channels: Strings | None = None,
    thread_ts: str | None = None,
    initial_comment: str | None = None,
    blocks: JsonList | None = None,
) -> Json:
    """Finish an upload and share it in channels, its third step."""
    if blocks is not None and initial_comment is not None:
        raise SlackFault("invalid_arguments")
    found = [_uploaded(core, entry) for entry in files]
    conversations = [
        open_channel(core, c) for c in (channels or ([channel_id] if channel_id else []))
    ]
    for conversation in conversations:
        check_thread(core, conversation, thread_ts)
    for entry, file in zip(files, found, strict=True):
        file.title = str(entry.get("title") or file.name)
    shown = checked(blocks) if blocks else None
    for conversation in conversations:
        _share(core, conversation, found, initial_comment or "", thread_ts, shown)
    return {"files": [file_object(file, core.state) for file in found]}


@method("files.info", scope="files:read", tier=4)
async def info(core: Core, *, file: str, limit: int = 100, cursor: str | None = None) -> Json:  # noqa: ARG001
    """Return one file."""
    found = _seen(core, file)
    return {"file": file_object(found, core.state) | _shares(core, found), "comments": []}


@method("files.list", scope="files:read")
async def list_files(
    core: Core,
    *,
    channel: str | None = None,
    user: str | None = None,
    count: int = 100,
    page: int = 1,
    ts_from: str | None = None,
    ts_to: str | None = None,
    types: str = "all",  # noqa: ARG001
) -> Json:
    """Return the files that the bot can see, newest first."""
    low, high = float(ts_from or 0), float(ts_to or "inf")
    seen = [
        f
        for f in reversed(core.state.files.values())
        if _visible(core, f)
        and channel in (None, *f.channels)
        and user in (None, f.user)
        and low <= f.created <= high
    ]
    chosen = seen[(page - 1) * count : page * count]
    pages = -(-len(seen) // count)
    paging = {"count": count, "total": len(seen), "page": page, "pages": pages}
    found = [file_object(f, core.state) | _shares(core, f) for f in chosen]
    return {"files": found, "paging": paging}


@method("files.delete", scope="files:write")
async def delete(core: Core, *, file: str) -> Json:
    """Delete one of the bot's files."""
    found = _seen(core, file)
    if found.user != core.bot_user_id:
        raise SlackFault("cant_delete_file")
    found.deleted, found.content = True, None
    core.changed("file", user=core.bot_user_id, data={"id": found.id, "deleted": True})
    return {}


def _uploaded(core: Core, entry: Json) -> File:
    file = core.state.files.get(str(entry.get("id")))
    if file is None or not file.is_there or file.user != core.bot_user_id:
        raise SlackFault("file_not_found")
    return file


def _visible(core: Core, file: File) -> bool:
    if file.deleted or not file.is_there:
        return False
    own = file.user == core.bot_user_id
    return own or any(core.bot_user_id in core.channels[c].members for c in file.channels)


def _seen(core: Core, key: str) -> File:
    file = core.state.files.get(key)
    if file is not None and file.deleted:
        raise SlackFault("file_deleted")
    if file is None or not _visible(core, file):
        raise SlackFault("file_not_found")
    return file


def _shares(core: Core, file: File) -> Json:
    shares: Json = {"public": {}, "private": {}}
    for channel, ts in file.shares:
        kind = "public" if core.channels[channel].kind == "public" else "private"
        shares[kind].setdefault(channel, []).append({"ts": ts})
    conversations: dict[str, list[str]] = {"channels": [], "groups": [], "ims": []}
    for each in file.channels:
        conversations[_LISTS[core.channels[each].kind]].append(each)
    return {"shares": {k: v for k, v in shares.items() if v}, **conversations}


def _share(
    core: Core,
    conversation: Channel,
    files: list[File],
    comment: str,
    thread_ts: str | None,
    blocks: list[Json] | None,
) -> None:
    core.rates.count_post(conversation.id)
    for file in files:
        file.channels.append(conversation.id)
    shown = [file_object(file, core.state) for file in files]
    fields = {
        "text": comment,
        "subtype": "file_share",
        "files": shown,
        "upload": True,
        "thread_ts": thread_ts,
        "blocks": blocks,
    }
    share_events(
        core, core.bot_user_id, conversation, post(core, conversation, from_bot(core.state, fields))
    )
