"""The directory service for tools: people, channels, files and messages of the workspace."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.toolkit.provided.conversation import SharedFile, ThreadMessage


@dataclass(frozen=True, slots=True)
class PersonEntry:
    """A person or bot with an account. `kind` is "member", "guest", "external" or "bot"."""

    id: str
    name: str
    real_name: str
    title: str
    time_zone: str
    kind: str


@dataclass(frozen=True, slots=True)
class ChannelEntry:
    """A channel. `members` is the number of members, None if it was not requested."""

    id: str
    name: str
    topic: str
    purpose: str
    private: bool
    archived: bool
    members: int | None = None


@dataclass(frozen=True, slots=True)
class FoundMessage:
    """A search hit in a public channel. `channel` is a name, `url` a link to the message."""

    channel: str
    at: datetime
    author: str
    text: str
    url: str


@dataclass(frozen=True, slots=True)
class SearchResults:
    """The results of a search, best first. `searched` tells people which channels were searched."""

    messages: list[FoundMessage]
    searched: str


class Directory(Protocol):
    """Looks up people, channels, files and messages on behalf of the current request's user.

    Every method returns only entries that both this user and the bot may see, and raises ToolError
    with a sentence that the model can act on.
    """

    async def people(self) -> list[PersonEntry]:
        """Return all active accounts, people before bots, sorted by name."""

    async def channels(self) -> list[ChannelEntry]:
        """Return the public channels that are not archived, sorted by name."""

    async def channel(self, channel: str) -> ChannelEntry:
        """Return the channel with that name or id."""

    async def members(self, channel: str, *, limit: int) -> list[PersonEntry]:
        """Return the first `limit` members of a channel (name or id)."""

    async def search(
        self,
        query: str,
        *,
        limit: int,
        after: datetime | None = None,
        before: datetime | None = None,
    ) -> SearchResults:
        """Search public channels. Return at most `limit` messages (up to 20)."""

    async def pins(self, channel: str | None) -> list[ThreadMessage]:
        """Return the pinned messages of a channel, the latest pin first.

        `channel` is a name or id; None selects the current channel.
        """

    async def files(
        self, channel: str | None, *, after: datetime | None, before: datetime | None
    ) -> list[SharedFile]:
        """Return the files and canvases in a channel, newest first."""
