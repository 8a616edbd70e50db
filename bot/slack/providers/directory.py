"""People and channels of the workspace for tools."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from bot.core.context import current_request
from bot.core.errors import ToolError
from bot.runs.policy.access import PersonKind
from bot.slack.edge.people_and_channels import person_from
from bot.slack.edge.text import one_line
from bot.slack.edge.workspaces import Slack
from bot.slack.providers.channel_access import ReachableChannels, for_the_model
from bot.slack.providers.messages import ChannelItems, MessageReader, MessageSearch
from bot.toolkit.provided.conversation import SharedFile, ThreadMessage
from bot.toolkit.provided.directory import ChannelEntry, PersonEntry, SearchResults

_PAGE = 200
_MAX_PAGES = 25  # 5,000 people or channels; more would take minutes at Slack's rate limit
_CACHE_SECONDS = 600.0
_MEMBERS_ONLY = "Guests and people from outside cannot look through the workspace. Say so."


class SlackDirectory:
    """The directory of a workspace. See `bot.toolkit.provided.directory.Directory`.

    Lists of people and channels are cached for ten minutes, because Slack returns only one page of
    them every three seconds.
    """

    def __init__(
        self,
        slack: Slack,
        channels: ReachableChannels,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clients = slack.clients
        self._identity = slack.identity
        self._people = slack.people
        self._channels = channels
        self._search = MessageSearch(slack)
        self._items = ChannelItems(slack.clients, channels, MessageReader(slack))
        self._clock = clock
        self._cache: dict[str, tuple[float, list[dict[str, Any]]]] = {}

    async def people(self) -> list[PersonEntry]:
        """Return all active accounts, people before bots, by name."""
        await self._check_member()
        async with for_the_model():
            members = await self._list_all("users_list", "members")
        entries = [self._person(each) for each in members if not each.get("deleted")]
        return sorted(entries, key=lambda each: (each.kind == "bot", each.name.casefold()))

    async def channels(self) -> list[ChannelEntry]:
        """Return the public channels that are not archived, by name."""
        await self._check_member()
        async with for_the_model():
            only = {"types": "public_channel", "exclude_archived": True}
            listed = await self._list_all("conversations_list", "channels", **only)
        return sorted((_channel(each) for each in listed), key=lambda each: each.name)

    async def channel(self, channel: str) -> ChannelEntry:
        """Return a channel by its name or id."""
        async with for_the_model():
            facts = await self._channels.readable(channel)
            info = await self._clients.reads.conversations_info(
                channel=facts, include_num_members=True
            )
        return _channel(info["channel"])

    async def members(self, channel: str, *, limit: int) -> list[PersonEntry]:
        """Return the first `limit` members of a channel."""
        async with for_the_model():
            found = await self._channels.readable(channel)
            page = await self._clients.reads.conversations_members(channel=found, limit=limit)
            facts = [
                await self._clients.reads.users_info(user=member) for member in page["members"]
            ]
        return [self._person(fact["user"]) for fact in facts]

    async def search(
        self,
        query: str,
        *,
        limit: int,
        after: datetime | None = None,
        before: datetime | None = None,
    ) -> SearchResults:
        """Return at most `limit` messages of public channels; never of private ones."""
        await self._check_member()
        async with for_the_model():
            return await self._search.find(query, limit=limit, after=after, before=before)

    async def pins(self, channel: str | None) -> list[ThreadMessage]:
        """Return the messages pinned in a channel."""
        async with for_the_model():
            return await self._items.pins(channel)

    async def files(
        self, channel: str | None, *, after: datetime | None, before: datetime | None
    ) -> list[SharedFile]:
        """Return the files and canvases in a channel."""
        async with for_the_model():
            return await self._items.files(channel, after=after, before=before)

    async def _check_member(self) -> None:
        async with for_the_model():
            person = await self._people.find(current_request().user)
        if person.kind is not PersonKind.MEMBER:
            raise ToolError(_MEMBERS_ONLY)
        async with for_the_model():
            await self._channels.check_no_outside_readers()

    async def _list_all(self, method: str, name: str, **only: Any) -> list[dict[str, Any]]:
        cached = self._cache.get(method)
        if cached and cached[0] > self._clock():
            return cached[1]
        items: list[dict[str, Any]] = []
        cursor: str | None = None
        for _ in range(_MAX_PAGES):
            call = getattr(self._clients.reads, method)
            page = await call(limit=_PAGE, cursor=cursor, **only)
            items += page[name]
            cursor = (page.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                break
        self._cache[method] = (self._clock() + _CACHE_SECONDS, items)
        return items

    def _person(self, facts: Mapping[str, Any]) -> PersonEntry:
        person = person_from(facts, self._identity)
        profile: Mapping[str, Any] = facts.get("profile") or {}
        return PersonEntry(
            id=person.id,
            name=person.name,
            real_name=one_line(str(profile.get("real_name") or facts.get("real_name") or "")),
            title=one_line(str(profile.get("title") or "")),
            time_zone=person.time_zone,
            kind=person.kind.value,
        )


def _channel(facts: Mapping[str, Any]) -> ChannelEntry:
    return ChannelEntry(
        id=str(facts["id"]),
        name=one_line(str(facts.get("name") or "")),
        topic=one_line(str((facts.get("topic") or {}).get("value") or "")),
        purpose=one_line(str((facts.get("purpose") or {}).get("value") or "")),
        private=bool(facts.get("is_private")),
        archived=bool(facts.get("is_archived")),
        members=facts.get("num_members"),
    )
