"""The conversation service for tools: the thread and channel of a request, or the terminal."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.core.request import FileRef
from bot.core.text.mentions import Mention


@dataclass(frozen=True, slots=True)
class ThreadMessage:
    """A message. `author` is a display name, `replies` the number of replies in its thread, `url` a
    link to the message if there is one. `own` marks messages of the bot."""

    ts: str
    at: datetime
    author: str
    text: str
    files: tuple[FileRef, ...] = ()
    replies: int = 0
    url: str | None = None
    own: bool = False


@dataclass(frozen=True, slots=True)
class Download:
    """A downloaded file. `url` opens it for a person, None if nothing does; `own` marks files that
    the bot shared."""

    file: FileRef
    data: bytes
    url: str | None = None
    own: bool = False


class Conversation(Protocol):
    """Reads, shares and posts on behalf of the current request's user.

    Every method can use only channels that both this user and the bot may see, and raises ToolError
    with a sentence that the model can act on.
    """

    async def thread(self, *, limit: int, before: str | None = None) -> list[ThreadMessage]:
        """Return the last `limit` messages of the thread before ts `before`, oldest first."""

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
