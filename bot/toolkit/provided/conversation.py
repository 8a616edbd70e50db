"""The conversation service for tools: the thread and channel of a request, or the terminal."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Protocol

from bot.core.request import FileRef
from bot.text.mentions import Mention


@dataclass(frozen=True, slots=True)
class ThreadMessage:
    """A message. `author` is a display name, `replies` the number of replies in its thread, `url` a
    link to the message if there is one, `reactions` emoji with how many people used each. `own` marks messages of the bot, and `run` is the id of the
    run that posted one, if any. `edited` is the ts of the last edit, "" without one."""

    ts: str
    at: datetime
    author: str
    text: str
    files: tuple[FileRef, ...] = ()
    replies: int = 0
    url: str | None = None
    own: bool = False
    run: str = ""
    edited: str = ""
    reactions: tuple[tuple[str, int], ...] = ()


OWN = " (you)"
"""After the author of the bot's own messages, for the model: what it said before is no source."""


def message_line(message: ThreadMessage, zone: tzinfo) -> str:
    """Format a message on one line for the model; line breaks within its text are kept and indented."""
    text = "\n  ".join(message.text.splitlines())
    author = f"{message.author}{OWN}" if message.own else message.author
    parts = [f"[{message_time(message, zone)}] {author}: {text}"]
    if message.files:
        files = ", ".join(f"{file.name} {file.id}" for file in message.files)
        parts.append(f"(files: {files})")
    if message.replies:
        parts.append(f"({message.replies} replies)")
    if message.reactions:
        given = ", ".join(f"{emoji} {times}" for emoji, times in message.reactions)
        parts.append(f"(reactions: {given})")
    if message.url:
        parts.append(f"(link: {message.url})")
    return " ".join(parts)


def message_time(message: ThreadMessage, zone: tzinfo) -> str:
    """Format the time of a message: 2026-11-23 09:30."""
    return f"{message.at.astimezone(zone):%Y-%m-%d %H:%M}"


@dataclass(frozen=True, slots=True)
class NewMessages:
    """The latest `messages` of a span of a thread, oldest first; `left_out` counts those before them."""

    messages: list[ThreadMessage]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Download:
    """A downloaded file. `url` opens it for a person, None if nothing does; `own` marks files that
    the bot shared."""

    file: FileRef
    data: bytes
    url: str | None = None
    own: bool = False


@dataclass(frozen=True, slots=True)
class Clip:
    """What a voice or video clip's host knows of it without its content.

    `by` is the id of the person who shared it, "" if unknown, `seconds` its length, `url` opens it
    for a person. `said` is the whole of what is said in it, in WebVTT or as plain text, "" where its
    host does not say that; `is_pending` while its host is still writing it down.
    """

    file: FileRef
    by: str = ""
    seconds: float | None = None
    url: str | None = None
    said: str = ""
    is_pending: bool = False


@dataclass(frozen=True, slots=True)
class SharedFile:
    """A file or canvas in a channel. `author` is a display name, `url` opens the file; `place` is the
    name of a public channel that it is in, "" for other places; `is_here` tells whether it is in the
    request's channel."""

    file: FileRef
    at: datetime
    author: str
    url: str | None
    is_canvas: bool
    place: str = ""
    is_here: bool = False


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """The files that fit a search, the newest first; if none does, those with `near` names.

    `searched` tells people where was looked.
    """

    files: list[SharedFile]
    searched: str
    near: list[SharedFile] = field(default_factory=list)


class Conversation(Protocol):
    """Reads, shares and posts on behalf of the current request's user.

    Every method can use only channels that both this user and the bot may see, and raises ToolError
    with a sentence that the model can act on.
    """

    async def thread(self, *, limit: int, before: str | None = None) -> list[ThreadMessage]:
        """Return the last `limit` messages of the thread before ts `before`, oldest first."""

    async def new_in_thread(self, since: str, *, before: str, limit: int) -> NewMessages:
        """Return the last `limit` messages of the thread that were written or edited after ts `since`
        and written before ts `before`. With "" as `since`, all of the thread is new."""

    async def history(
        self,
        channel: str | None,
        *,
        limit: int,
        oldest: datetime | None = None,
        latest: datetime | None = None,
    ) -> list[ThreadMessage]:
        """Return the last `limit` messages of a channel, oldest first.

        `channel` is a name or id; None selects the current channel.
        """

    async def download(self, file_id: str, *, max_bytes: int) -> Download:
        """Download a file of the current thread. A file that is too large is not fetched at all."""

    async def clip(self, file_id: str) -> Clip:
        """Return what the host of a clip knows of it, by the rules of `download`."""

    async def find_files(
        self,
        query: str,
        *,
        limit: int,
        after: datetime | None = None,
        before: datetime | None = None,
    ) -> FoundFiles:
        """Find files in all places that the asker, the bot and the readers of the answer may see, by
        words in their names and titles."""

    async def share(self, data: bytes, *, name: str, comment: str = "") -> str | None:
        """Post a file to the current thread. Return a link to the file, if there is one."""

    async def check_place(self, channel: str, *, thread: str | None = None) -> str:
        """Check that the user and the bot may both write to a channel (name or id).

        `thread` is checked too, if given. Return the id of the channel.
        """

    async def channel_name(self, channel: str) -> str:
        """Return the name of the channel with that id, as people write it: "#general"."""

    def mentioned_in(self, text: str) -> tuple[Mention, ...]:
        """Return the people and channels that `post` would mention for that text."""

    async def post(self, text: str, *, channel: str, thread: str | None = None) -> str:
        """Post Markdown in a channel (name or id), or in a thread of it. Return a link to it."""

    async def linked(self, url: str, *, limit: int) -> list[ThreadMessage]:
        """Return the first `limit` messages of the thread of the message that `url` links to."""

    async def react(self, url: str, emoji: str) -> None:
        """Add a reaction to the message that `url` links to."""
