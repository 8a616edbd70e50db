"""Who may do what in a workspace, decided from who they are there."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from bot.core.errors import NotPermitted
from bot.runs.policy.access import Person, Policy
from bot.runs.policy.channels import Channels, ChannelSettings
from bot.slack.incoming.people import People


@dataclass(frozen=True, slots=True)
class AccessGate:
    """Of one workspace, `team`."""

    team: str
    people: People
    policy: Policy
    channels: Channels

    async def settings(self, channel: str) -> ChannelSettings:
        """How the bot behaves in a channel."""
        return await self.channels.of(self.team, channel)

    async def asker(self, user: str, channel: str) -> Person:
        """Who asks in a channel. Raises NotPermitted with a sentence for them when they may not."""
        person = await self.people.find(user)
        self.policy.may_ask(person, await self.settings(channel))
        return person

    async def asker_somewhere(self, user: str) -> Person:
        """Who asks in direct messages or in some channel. Raises NotPermitted with a sentence for
        them when there is no place in which they may."""
        try:
            return await self.asker(user, "")
        except NotPermitted:
            for channel in await self.channels.special(self.team):
                with suppress(NotPermitted):
                    return await self.asker(user, channel)
            raise

    async def admin(self, user: str) -> Person:
        """Who administers, as Slack knows them now. Raises NotPermitted with a sentence for
        everybody else."""
        person = await self.people.find_now(user)
        self.policy.may_administer(person)
        return person
