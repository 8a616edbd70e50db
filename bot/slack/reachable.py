"""Channels by name or id, as far as the person who asked and the bot both see them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.core.context import current_request
from bot.core.errors import NotPermitted, ToolError
from bot.slack.access import Channel
from bot.slack.workspaces import Slack

_PAGE = 200
_NO_SUCH_CHANNEL = (
    "The bot sees no channel {name}. It must be in it: somebody there can invite it with /invite."
)


@dataclass(frozen=True, slots=True)
class ReachableChannels:
    """For the request of the current context; who asks is never taken from an argument."""

    slack: Slack

    async def readable(self, wanted: str | None) -> str:
        """The id of a channel that the person who asked may see, and that may be told of here; None
        means the one of the request. Raises ToolError and NotPermitted."""
        request = current_request()
        if wanted is None:
            return request.channel
        channel = await self._named(wanted)
        await self._check_readable(channel)
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
                await self._check_readable(channel)
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
            raise ToolError(f"{wanted} is archived: nobody can post there.")
        await self.slack.access.may_see(
            await self.slack.people.find(current_request().user), channel
        )
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

    async def _check_readable(self, channel: Channel) -> None:
        request = current_request()
        if channel.id == request.channel:
            return
        await self.check_read_by_ours()
        await self.slack.access.may_see(await self.slack.people.find(request.user), channel)
        if not channel.open and not request.request.is_for_one:
            raise ToolError(
                "That conversation is private, and others read this thread. Say that you can look "
                "into it when asked in a direct message."
            )

    async def _named(self, wanted: str) -> Channel:
        channel = await self._find(wanted)
        if channel is None:
            raise ToolError(_NO_SUCH_CHANNEL.format(name=wanted))
        return channel

    async def _find(self, wanted: str) -> Channel | None:
        name = wanted.strip().removeprefix("<#").removesuffix(">").partition("|")[0].lstrip("#")
        if re.fullmatch(r"[CGD][A-Z0-9]{6,}", name):
            return await self.slack.access.channel(name)
        cursor: str | None = None
        while True:
            page = await self.slack.clients.reads.users_conversations(
                types="public_channel,private_channel",
                exclude_archived=False,
                limit=_PAGE,
                cursor=cursor,
            )
            for channel in page["channels"]:
                if channel.get("name") == name.lower():
                    return await self.slack.access.channel(channel["id"])
            cursor = (page.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                return None
