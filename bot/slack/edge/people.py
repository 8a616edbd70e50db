"""Look-ups of people with users.info, cached for ten minutes."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from cachetools import TTLCache
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.core.errors import SlackUnavailable
from bot.runs.policy.access import Person, PersonKind
from bot.slack.edge.client import TRANSPORT_ERRORS, Identity, error_code
from bot.slack.edge.message_events import SLACKBOT
from bot.slack.edge.text import one_line
from bot.text.translation import load_catalogue

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
