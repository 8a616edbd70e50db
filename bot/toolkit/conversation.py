"""The place a request came from, as tools see it: Slack, or the terminal."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Protocol

from bot.core.errors import ToolError
from bot.core.request import FileRef
from bot.core.text.mentions import Mention


@dataclass(frozen=True, slots=True)
class ThreadMessage:
    """A message somebody wrote, the bot itself if `own`. `author` is a display name; `url` a link to
    it, if it has one."""

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
    """A file's content. `url` is where a person can open it, if anywhere; `own` are files that the
    bot has shared."""

    file: FileRef
    data: bytes
    url: str | None = None
    own: bool = False


class Conversation(Protocol):
    """Reads, shares and posts on behalf of the current request's user, within what that person and the
    bot may both see. Every method raises ToolError with a sentence the model can act on."""

    async def thread(self, *, limit: int, before: str | None = None) -> list[ThreadMessage]:
        """The last `limit` messages of the current thread, oldest first, before ts `before`."""

    async def history(
        self,
        channel: str | None,
        *,
        limit: int,
        oldest: datetime | None = None,
        latest: datetime | None = None,
    ) -> list[ThreadMessage]:
        """The last `limit` messages of a channel (name or id; None: this one), oldest first."""

    async def download(self, file_id: str, *, max_bytes: int) -> Download:
        """A file attached in the current thread. Too large: refused before it is fetched."""

    async def share(self, data: bytes, *, name: str, comment: str = "") -> str | None:
        """Post a file to the current thread; returns a link to it, if it has one."""

    async def check_place(self, channel: str, *, thread: str | None = None) -> str:
        """Return the id of a channel (name or id) in which the person and the bot may write, and in a
        thread there."""

    async def channel_name(self, channel: str) -> str:
        """Return what people call the channel with that id: "#general"."""

    def mentioned_in(self, text: str) -> tuple[Mention, ...]:
        """Whom, and which channels, `post` would mention with that text."""

    async def post(self, text: str, *, channel: str, thread: str | None = None) -> str:
        """Post Markdown in a channel (name or id), or in a thread there; returns a link to it."""

    async def linked(self, url: str, *, limit: int) -> list[ThreadMessage]:
        """The first `limit` messages of the thread that a link to a message leads to."""

    async def react(self, url: str, emoji: str) -> None:
        """Put a reaction on the message that a link leads to."""


class OutsideSlack:
    """The part of `Conversation` that takes Slack, for a place that is outside it: every method
    refuses with `refusal`."""

    refusal: ClassVar[str]

    async def linked(self, url: str, *, limit: int) -> list[ThreadMessage]:  # noqa: ARG002 - the protocol's
        """Nothing is behind a link."""
        raise ToolError(self.refusal)

    async def react(self, url: str, emoji: str) -> None:  # noqa: ARG002 - the protocol's
        """There is nothing to react to."""
        raise ToolError(self.refusal)

    async def check_place(self, channel: str, *, thread: str | None = None) -> str:  # noqa: ARG002 - the protocol's
        """There is nowhere to write."""
        raise ToolError(self.refusal)

    async def channel_name(self, channel: str) -> str:
        """There is no other name than the one given."""
        return channel

    def mentioned_in(self, text: str) -> tuple[Mention, ...]:  # noqa: ARG002 - the protocol's
        """There is nobody to mention."""
        return ()

    async def post(self, text: str, *, channel: str, thread: str | None = None) -> str:  # noqa: ARG002 - the protocol's
        """There is nowhere to post."""
        raise ToolError(self.refusal)
