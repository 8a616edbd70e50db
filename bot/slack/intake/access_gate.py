"""Permission checks from a person's role in Slack: who may ask, decide, and administer."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from bot.core.errors import NotPermitted, SlackUnavailable
from bot.core.request import Request
from bot.runs.policy.access import Person, PersonKind, Policy
from bot.runs.policy.channels import Channels, ChannelSettings
from bot.slack.edge.people_and_channels import People
from bot.text.translation import reader


@dataclass(frozen=True, slots=True)
class AccessGate:
    """The permission checks of one workspace, `team`."""

    team: str
    people: People
    policy: Policy
    channels: Channels

    async def settings(self, channel: str) -> ChannelSettings:
        """Return the bot's settings in a channel."""
        return await self.channels.of(self.team, channel)

    async def asker(self, user: str, channel: str) -> Person:
        """Return the person, if they may ask in the channel. Raises NotPermitted with a sentence."""
        person = await self.people.find(user)
        settings = await self.settings(channel)
        with reader(person.locale):
            self.policy.may_ask(person, settings)
        return person

    async def asker_somewhere(self, user: str) -> Person:
        """Return the person, if they may ask in direct messages or in any channel.

        Raises NotPermitted with a sentence for the person.
        """
        try:
            return await self.asker(user, "")
        except NotPermitted:
            for channel in await self.channels.special(self.team):
                with suppress(NotPermitted):
                    return await self.asker(user, channel)
            raise

    async def admin(self, user: str) -> Person:
        """Return the person, if Slack now says that they are an admin. Raises NotPermitted."""
        person = await self.people.find_now(user)
        with reader(person.locale):
            self.policy.may_administer(person)
        return person


async def may_decide(people: People, user: str, *, now: bool = False) -> bool:
    """Return whether `user` is a full member of the workspace.

    `now` asks Slack even when a recent answer is cached. False when Slack cannot be reached.
    """
    find = people.find_now if now else people.find
    try:
        return (await find(user)).kind is PersonKind.MEMBER
    except SlackUnavailable:
        return False


async def may_administer(people: People, policy: Policy, user: str) -> bool:
    """Return whether `user` is an admin, which Slack is asked each time."""
    try:
        policy.may_administer(await people.find_now(user))
    except (NotPermitted, SlackUnavailable):
        return False
    return True


async def may_ask(
    people: People, policy: Policy, request: Request, settings: ChannelSettings
) -> bool:
    """Return whether the asker may still ask in the channel, which Slack is asked each time.

    True where no person asks.
    """
    if not request.has_asker:
        return True
    try:
        policy.may_ask(await people.find_now(request.user), settings)
    except (NotPermitted, SlackUnavailable):
        return False
    return True
