"""Channels by name or id, as far as the person who asked and the bot both see them."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from bot.core.context import current_request
from bot.core.errors import NotPermitted, ToolError
from bot.core.request import Entry
from bot.runs.policy.access import PersonKind
from bot.slack.incoming.membership import Channel
from bot.slack.transport.workspaces import Slack

_PAGE = 200
_NOBODY = (
    "A step of a workflow is asked by nobody in particular, and so it can neither read nor write in "
    "any channel. A step of Slack's own in the workflow can post the answer."
)
_NO_SUCH_CHANNEL = "There is no {name} that the bot and the person who asked are both in."
_NOT_IN = "The bot is not in {name}. Somebody there can invite it with /invite."
_INVITE = " If it is a private one, somebody in it can invite the bot with /invite."
_ID = re.compile(r"[CGD][A-Z0-9]{6,}")
_NEAR = " Similar names: {near}."
_MOST_PAGES = 5  # of a thousand public channels, looked through for a name


@dataclass(frozen=True, slots=True)
class ReachableChannels:
    """For the request of the current context; who asks is never taken from an argument."""

    slack: Slack

    async def readable(self, wanted: str | None) -> str:
        """The id of a channel that the person who asked may see, and that may be told of here; None
        means the one of the request. Raises ToolError and NotPermitted."""
        request = current_request()
        if wanted is None:
            _check_asked_by_somebody()
            return request.channel
        channel = await self._named(wanted)
        await self._check_told_of(channel)
        return channel.id

    async def readable_in_any(self, places: Sequence[str]) -> None:
        """Whether one of these, all conversations in which something is shared, is `readable`.
        Raises ToolError and NotPermitted."""
        refusal: Exception = NotPermitted(
            "The person who asked is in no channel where it is shared."
        )
        for place in sorted(places, key=lambda each: each != current_request().channel):
            channel = await self.slack.access.channel(place)
            if channel is None:
                continue
            try:
                await self._check_seen(channel)
                await self._check_told_of(channel)
            except NotPermitted:
                continue
            except ToolError as error:
                refusal = error
            else:
                return
        raise refusal

    async def writable(self, wanted: str) -> Channel:
        """A channel that the person who asked may see; bots post where they are in."""
        channel = await self._named(wanted)
        if channel.archived:
            shown = as_named(wanted, otherwise="That channel")
            raise ToolError(f"{shown} is archived: nobody can post there.")
        return channel

    async def check_read_by_ours(self) -> None:
        """Raises ToolError where people of another organisation read the answer: what is open to all
        of the workspace is not open to them."""
        request = current_request()
        if request.request.is_for_one:
            return
        here = await self.slack.access.channel(request.channel)
        if here is not None and here.shared:
            raise ToolError(
                "People of another organisation read this channel, so nothing is told here of the "
                "rest of the workspace. Say that you can when asked in a direct message."
            )

    async def _check_seen(self, channel: Channel) -> None:
        """Raises NotPermitted unless the person who asked sees it, and the bot is in it."""
        person = await self.slack.people.find(current_request().user)
        await self.slack.access.may_see(person, channel)

    async def _check_told_of(self, channel: Channel) -> None:
        """Raises ToolError where others read the answer who may not know of the channel."""
        request = current_request()
        if channel.id == request.channel:
            return
        await self.check_read_by_ours()
        if not channel.open and not request.request.is_for_one:
            raise ToolError(
                "That conversation is private, and others read this thread. Say that you can look "
                "into it when asked in a direct message."
            )

    async def _named(self, wanted: str) -> Channel:
        """The channel, if the person who asked sees it and the bot is in it: of others nobody learns
        whether they are there."""
        _check_asked_by_somebody()
        name = _bare(wanted)
        channel = await self._find(name)
        try:
            if channel is not None:
                await self._check_seen(channel)
                return channel
        except NotPermitted:
            name = channel.name if channel and channel.open else name
        raise ToolError(await self._why_not(wanted, name.lower()))

    async def _why_not(self, wanted: str, name: str) -> str:
        public = await self._public()
        if name in public:
            return _NOT_IN.format(name=f"#{name}")
        near = get_close_matches(name, [each for each, joined in public.items() if joined])
        named = as_named(wanted, otherwise="")
        said = _NO_SUCH_CHANNEL.format(name=f"channel {named}" if named else "such channel")
        return said + (
            _NEAR.format(near=", ".join(f"#{each}" for each in near)) if near else _INVITE
        )

    async def _public(self) -> dict[str, bool]:
        """Names of public channels, and whether the bot is in them; none where somebody asks or reads
        along who may not know of them."""
        person = await self.slack.people.find(current_request().user)
        try:
            await self.check_read_by_ours()
        except ToolError:
            return {}
        found: dict[str, bool] = {}
        cursor: str | None = None
        for _ in range(_MOST_PAGES if person.kind is PersonKind.MEMBER else 0):
            page = await self.slack.clients.reads.conversations_list(
                types="public_channel", exclude_archived=True, limit=1_000, cursor=cursor
            )
            found |= {str(each["name"]): bool(each["is_member"]) for each in page["channels"]}
            cursor = (page.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                break
        return found

    async def _find(self, name: str) -> Channel | None:
        if _ID.fullmatch(name):
            return await self.slack.access.channel(name)
        async with aclosing(self._joined()) as joined:
            async for channel in joined:
                if channel.get("name") == name.lower():
                    return await self.slack.access.channel(channel["id"])
        return None

    async def _joined(self) -> AsyncGenerator[dict[str, Any]]:
        """Channels that the bot is in."""
        cursor: str | None = None
        while True:
            page = await self.slack.clients.reads.users_conversations(
                types="public_channel,private_channel",
                exclude_archived=False,
                limit=_PAGE,
                cursor=cursor,
            )
            for channel in page["channels"]:
                yield channel
            cursor = (page.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                return


def as_named(wanted: str, otherwise: str) -> str:
    """A channel as it was named, for people to read: an id tells them nothing."""
    return otherwise if _ID.fullmatch(_bare(wanted)) else wanted


def _bare(wanted: str) -> str:
    return wanted.strip().removeprefix("<#").removesuffix(">").partition("|")[0].lstrip("#")


def _check_asked_by_somebody() -> None:
    """Raises ToolError in a step of a workflow."""
    if current_request().request.entry is Entry.WORKFLOW_STEP:
        raise ToolError(_NOBODY)
