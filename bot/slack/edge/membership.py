"""Channel visibility: through the bot nobody sees more than Slack itself shows them."""

from __future__ import annotations

from dataclasses import dataclass

from cachetools import TTLCache
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.core.errors import NotPermitted
from bot.runs.policy.access import Person, PersonKind
from bot.slack.edge.client import TRANSPORT_ERRORS, error_code
from bot.slack.edge.text import one_line

_INVISIBLE = {"channel_not_found", "not_in_channel", "missing_scope", "no_permission"}

_MOST, _SECONDS = 5_000, 600.0  # channels whose names are remembered, and for how long


@dataclass(frozen=True, slots=True)
class Channel:
    """A conversation as the bot sees it.

    `open` means public in the workspace; `shared` means that people of other organisations are
    members or invited.
    """

    id: str
    name: str
    open: bool
    direct: bool
    bot_is_in: bool
    archived: bool
    shared: bool

    @property
    def takes_answers(self) -> bool:
        """Whether the bot can write in the channel."""
        return self.bot_is_in and not self.archived


class ChannelMembership:
    """Look-ups of channels and members, uncached because a person may just have left a channel.

    Only names are cached, for ten minutes.
    """

    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client
        self._places: TTLCache[str, Channel] = TTLCache(_MOST, _SECONDS)

    async def channel(self, channel: str) -> Channel | None:
        """Return the channel; None when the bot cannot see it. Raises SlackApiError."""
        try:
            found = (await self._client.conversations_info(channel=channel))["channel"]
        except SlackApiError as error:
            if error_code(error) in _INVISIBLE:
                return None
            raise
        direct = bool(found.get("is_im") or found.get("is_mpim"))
        return Channel(
            id=str(found["id"]),
            name=one_line(str(found.get("name") or "")),
            open=not (found.get("is_private") or direct),
            direct=direct,
            bot_is_in=bool(found.get("is_member") or direct),
            archived=bool(found.get("is_archived")),
            shared=bool(found.get("is_ext_shared") or found.get("is_pending_ext_shared")),
        )

    async def place(self, channel: str, otherwise: str = "a channel") -> str:
        """Return the channel's name for a sentence; `otherwise` where the bot cannot see it."""
        found = await self._remembered(channel)
        if found is None:
            return otherwise
        return "a direct message" if found.direct else f"#{found.name}"

    async def open_name(self, channel: str) -> str:
        """Return the name of a public channel; the id of any other channel."""
        found = await self._remembered(channel)
        return found.name if found and found.open else channel

    async def _remembered(self, channel: str) -> Channel | None:
        if known := self._places.get(channel):
            return known
        try:
            found = await self.channel(channel)
        except (SlackApiError, *TRANSPORT_ERRORS):
            return None
        if found:
            self._places[channel] = found
        return found

    async def is_member(self, user: str, channel: str) -> bool:
        """Return whether `user` is a member of `channel`."""
        cursor: str | None = None
        while True:
            page = await self._client.conversations_members(
                channel=channel, cursor=cursor, limit=1000
            )
            if user in page["members"]:
                return True
            cursor = (page.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                return False

    async def may_see(self, person: Person, channel: Channel) -> None:
        """Raise NotPermitted unless `person` can see `channel` and the bot is in it."""
        if not channel.bot_is_in:
            raise NotPermitted("I am not in that channel.")
        if channel.open and person.kind is PersonKind.MEMBER:
            return
        if not await self.is_member(person.id, channel.id):
            raise NotPermitted("The person who asked is not in that channel.")
