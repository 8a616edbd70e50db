"""People and channels: what the bot knows of them, and who may see what."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Any

from cachetools import TTLCache
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.core.errors import NotPermitted, SlackUnavailable
from bot.runs.policy.access import Person, PersonKind
from bot.slack.edge.client import TRANSPORT_ERRORS, Identity, error_code
from bot.slack.edge.payloads import SLACKBOT
from bot.slack.edge.text import NameOf, one_line
from bot.text.translation import load_catalogue

_MOST_PAGES, _PAGE = 20, 200  # of people

log = logging.getLogger(__name__)

_NOBODY = {"user_not_found", "user_not_visible", "users_not_found"}


_MOST, _SECONDS = 5_000, 600.0  # size and lifetime of the cache


class People:
    """A cache of people in one workspace; a changed role counts after ten minutes at most, and at
    once where Slack tells of it."""

    def __init__(self, client: AsyncWebClient, identity: Identity) -> None:
        self._client = client
        self._identity = identity
        self._known: TTLCache[str, Person] = TTLCache(_MOST, _SECONDS)

    async def find(self, user: str) -> Person:
        """Return the person; of kind UNKNOWN when Slack does not know the id.

        Raises SlackUnavailable when Slack cannot be asked, so that access never rests on a guess.
        """
        return self._known.get(user) or await self.find_now(user)

    async def find_now(self, user: str) -> Person:
        """Return the person without the cache, for actions where a changed role counts at once."""
        person = self._known[user] = await self._ask(user)
        return person

    def forget(self, user: str) -> None:
        """Drop what is cached about a person, who has changed."""
        self._known.pop(user, None)

    async def name(self, user: str) -> str:
        """Return the display name; the id when Slack cannot be asked."""
        try:
            return (await self.find(user)).name
        except SlackUnavailable:
            return user

    async def locale(self, user: str) -> str:
        """Return the locale; "en-US" when Slack cannot be asked."""
        try:
            return (await self.find(user)).locale
        except SlackUnavailable:
            return "en-US"

    async def _ask(self, user: str) -> Person:
        try:
            answer = await self._client.users_info(user=user, include_locale=True)
        except SlackApiError as error:
            if error_code(error) in _NOBODY:
                return Person(id=user, name=user, kind=PersonKind.UNKNOWN)
            raise SlackUnavailable(f"users.info failed: {error_code(error)}") from error
        except TRANSPORT_ERRORS as error:
            raise SlackUnavailable("Slack did not say who somebody is") from error
        person = person_from(answer["user"], self._identity)
        await load_catalogue(person.locale)  # the bot is about to speak to them
        return person


async def people_of(reads: AsyncWebClient, identity: Identity) -> AsyncGenerator[Person]:
    """Yield the people of the workspace, up to 4,000. Raises SlackApiError and TRANSPORT_ERRORS."""
    cursor = ""
    for _ in range(_MOST_PAGES):
        page = await reads.users_list(limit=_PAGE, cursor=cursor, include_locale=True)
        for facts in page["members"]:
            yield person_from(facts, identity)
        cursor = str((page.get("response_metadata") or {}).get("next_cursor") or "")
        if not cursor:
            return


def person_from(facts: Mapping[str, Any], identity: Identity) -> Person:
    """Return the person that a user object of Slack's API describes."""
    profile: Mapping[str, Any] = facts.get("profile") or {}
    given = (profile.get("display_name"), profile.get("real_name"), facts.get("real_name"))
    names = (one_line(str(name)) for name in (*given, facts.get("name")) if name)
    kind = _kind(facts, identity)
    is_admin = bool(facts.get("is_admin") or facts.get("is_owner"))
    return Person(
        id=str(facts["id"]),
        name=next(filter(None, names), str(facts["id"])),
        kind=kind,
        locale=one_line(str(facts.get("locale") or "en-US")),
        time_zone=one_line(str(facts.get("tz") or "UTC")),
        is_admin=is_admin and kind is PersonKind.MEMBER,  # admins elsewhere are none here
    )


def _kind(facts: Mapping[str, Any], identity: Identity) -> PersonKind:
    if facts.get("deleted"):
        return PersonKind.UNKNOWN
    if facts.get("is_bot") or facts["id"] == SLACKBOT:
        return PersonKind.BOT
    if facts.get("is_stranger") or not _is_ours(facts, identity):
        return PersonKind.EXTERNAL
    if facts.get("is_restricted") or facts.get("is_ultra_restricted"):
        return PersonKind.GUEST
    return PersonKind.MEMBER


def _is_ours(facts: Mapping[str, Any], identity: Identity) -> bool:
    """Return whether the user belongs to the bot's workspace.

    A user of Enterprise Grid has one home workspace and may belong to others. Those who belong only
    to other workspaces of the same organisation are strangers here.
    """
    enterprise = facts.get("enterprise_user")
    teams = enterprise.get("teams") if isinstance(enterprise, Mapping) else None
    others = teams if isinstance(teams, list | tuple) else ()
    return identity.team in (facts.get("team_id"), *others)


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
            facts = (await self._client.conversations_info(channel=channel))["channel"]
        except SlackApiError as error:
            if error_code(error) in _INVISIBLE:
                return None
            raise
        direct = bool(facts.get("is_im") or facts.get("is_mpim"))
        return Channel(
            id=str(facts["id"]),
            name=one_line(str(facts.get("name") or "")),
            open=not (facts.get("is_private") or direct),
            direct=direct,
            bot_is_in=bool(facts.get("is_member") or direct),
            archived=bool(facts.get("is_archived")),
            shared=bool(facts.get("is_ext_shared") or facts.get("is_pending_ext_shared")),
        )

    async def place(self, channel: str, otherwise: str = "a channel") -> str:
        """Return the channel's name for a sentence; `otherwise` where the bot cannot see it."""
        channel_facts = await self._remembered(channel)
        if channel_facts is None:
            return otherwise
        return "a direct message" if channel_facts.direct else f"#{channel_facts.name}"

    async def open_name(self, channel: str) -> str:
        """Return the name of a public channel; the id of any other channel."""
        channel_facts = await self._remembered(channel)
        return channel_facts.name if channel_facts and channel_facts.open else channel

    async def _remembered(self, channel: str) -> Channel | None:
        if known := self._places.get(channel):
            return known
        try:
            channel_facts = await self.channel(channel)
        except (SlackApiError, *TRANSPORT_ERRORS):
            return None
        if channel_facts:
            self._places[channel] = channel_facts
        return channel_facts

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


_ID = re.compile(r"[#@]?\b([CGUW](?=[A-Z]*\d)[A-Z0-9]{8,})\b")


def naming(people: People, access: ChannelMembership) -> NameOf:
    """Return a function that names people and public channels.

    A private channel keeps its id, because its name is for its members only.
    """

    async def name_of(entity: str) -> str:
        if entity.startswith(("C", "G")):
            return await access.open_name(entity)
        return await people.name(entity)

    return name_of


async def with_names(text: str, name_of: NameOf) -> str:
    """Return `text` with names instead of ids, and "a channel" for a private channel."""
    for entity in list(_ID.finditer(text)):
        name, of_channel = await name_of(entity[1]), entity[1][0] in "CG"
        if name == entity[1]:
            name = "a channel" if of_channel else "somebody"
        else:
            name = f"#{name}" if of_channel else name
        text = text.replace(entity[0], name, 1)
    return text
