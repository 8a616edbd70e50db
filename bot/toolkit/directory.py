"""Who and what there is in the workspace, as tools see it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.core.request import FileRef
from bot.toolkit.conversation import ThreadMessage


@dataclass(frozen=True, slots=True)
class PersonEntry:
    """Somebody with an account. `kind` is "member", "guest", "external" or "bot"."""

    id: str
    name: str
    real_name: str
    title: str
    time_zone: str
    kind: str


@dataclass(frozen=True, slots=True)
class ChannelEntry:
    """A channel; `members` is how many there are, None where that was not asked."""

    id: str
    name: str
    topic: str
    purpose: str
    private: bool
    archived: bool
    members: int | None = None


@dataclass(frozen=True, slots=True)
class FoundMessage:
    """A message in a public channel; `channel` is its name, `url` a link to the message."""

    channel: str
    at: datetime
    author: str
    text: str
    url: str


@dataclass(frozen=True, slots=True)
class SearchResults:
    """What a search found, the best first; `searched` says where was looked, for people."""

    messages: list[FoundMessage]
    searched: str


@dataclass(frozen=True, slots=True)
class SharedFile:
    """A file or canvas in a channel; `author` is who made it, `url` opens it."""

    file: FileRef
    at: datetime
    author: str
    url: str | None
    is_canvas: bool


class Directory(Protocol):
    """Looks up on behalf of the current request's user, within what that person and the bot may both
    see. Every method raises ToolError with a sentence the model can act on."""

    async def people(self) -> list[PersonEntry]:
        """Everybody with an account in use, people before bots, by name."""

    async def channels(self) -> list[ChannelEntry]:
        """The public channels that are in use, by name."""

    async def channel(self, channel: str) -> ChannelEntry:
        """One channel by its name or id."""

    async def members(self, channel: str, *, limit: int) -> list[PersonEntry]:
        """Who is in a channel (name or id): the first `limit`."""

    async def search(
        self,
        query: str,
        *,
        limit: int,
        after: datetime | None = None,
        before: datetime | None = None,
    ) -> SearchResults:
        """At most `limit` (up to 20) messages of public channels."""

    async def pins(self, channel: str | None) -> list[ThreadMessage]:
        """Messages that are pinned in a channel (name or id; None: this one), the latest pin first."""

    async def files(
        self, channel: str | None, *, after: datetime | None, before: datetime | None
    ) -> list[SharedFile]:
        """Files and canvases in a channel, the newest first."""
