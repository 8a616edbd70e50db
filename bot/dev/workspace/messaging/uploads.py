"""Files: attachments of people, uploads of the app."""

from bot.dev.workspace.core import Core
from bot.dev.workspace.store.state import (
    Attachable,
    Channel,
    ClipFile,
    ExternalFile,
    FakeFile,
    File,
    Json,
)
from bot.dev.workspace.store.wire import file_object


def attach(core: Core, user: str, conversation: Channel, given: Attachable) -> Json:
    """Create a file from what a person attaches, share it in this channel, and return its object."""
    file = _file(core, user, given)
    file.channels.append(conversation.id)
    core.state.files[file.id] = file
    return file_object(file, core.state)


def new_id(core: Core) -> str:
    """Return a file id."""
    return f"F{core.store.next_ts().replace('.', '')[-10:]}"


def _file(core: Core, user: str, given: Attachable) -> File:
    key, now = new_id(core), int(core.clock.now())
    if isinstance(given, FakeFile):
        return File(key, given.name, given.size, user, now, is_fake=True)
    if isinstance(given, ExternalFile):
        return File(key, given.name, 0, user, now, external_url=given.url)
    if isinstance(given, ClipFile):
        size, content = len(given.content), given.content
        clip = File(key, given.name, size, user, now, content=content, seconds=given.seconds)
        clip.transcript = given.transcript
        return clip
    name, content = given
    return File(key, name, len(content), user, now, content=content)


def share_events(core: Core, user: str, conversation: Channel, message: Json) -> None:
    """Record where the message's files are shared, and send file_shared for each."""
    for file in message.get("files", []):
        core.state.files[file["id"]].shares.append((conversation.id, message["ts"]))
        core.changed(
            "file",
            conversation.id,
            ts=message["ts"],
            thread_ts=message.get("thread_ts"),
            user=user,
            data=file,
        )
        event = {"type": "file_shared", "file_id": file["id"], "file": {"id": file["id"]}}
        core.emit(event | {"user_id": user, "channel_id": conversation.id}, conversation)
