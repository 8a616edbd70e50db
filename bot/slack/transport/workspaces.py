"""Which workspace something belongs to: everything that talks to Slack holds one workspace's clients,
and whoever serves several has a set of such things for each.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from bot.core.errors import BotError
from bot.slack.incoming.membership import ChannelMembership
from bot.slack.incoming.people import People
from bot.slack.reply.status import ThreadStatus
from bot.slack.transport.client import Clients, Identity

log = logging.getLogger(__name__)

T = TypeVar("T")

LOOK_SECONDS = 15.0
"""How often it is looked whether a workspace came or went."""


@dataclass(frozen=True, slots=True)
class Slack:
    """A workspace as the bot reaches it, shared by intake and runs."""

    clients: Clients
    identity: Identity
    people: People
    access: ChannelMembership
    status: ThreadStatus

    @classmethod
    def reached_by(cls, clients: Clients, identity: Identity) -> Slack:
        """With everything that is remembered of it."""
        return cls(
            clients=clients,
            identity=identity,
            people=People(clients.reads, identity),
            access=ChannelMembership(clients.reads),
            status=ThreadStatus(clients.live),
        )


class Workspaces(Protocol):
    """Those the bot was installed in."""

    async def of(self, team: str, enterprise: str | None = None) -> Slack | None:
        """The workspace `team`, which may belong to an organisation; None when the bot is not
        there (any more).

        Raises SlackUnavailable and StoreError when nobody can say now.
        """

    async def teams(self) -> list[str]:
        """The ids of all that are known."""


@dataclass(frozen=True, slots=True)
class OneWorkspace:
    """The one that SLACK_BOT_TOKEN is for; Slack sends nothing of others."""

    slack: Slack

    async def of(self, _team: str, _enterprise: str | None = None) -> Slack | None:
        """That one."""
        return self.slack

    async def teams(self) -> list[str]:
        """That one."""
        return [self.slack.identity.team]


class PerWorkspace(Generic[T]):
    """What `build` makes of each workspace, made when it is first needed, and again for one that
    was installed anew. Of those that have gone nothing stays once something new is made."""

    def __init__(self, workspaces: Workspaces, build: Callable[[Slack], T]) -> None:
        self._workspaces = workspaces
        self._build = build
        self._built: dict[str, tuple[Slack, T]] = {}

    async def of(self, team: str, enterprise: str | None = None) -> T | None:
        """What is there for a workspace. See `Workspaces.of`."""
        slack = await self._workspaces.of(team, enterprise)
        if slack is None:
            self._built.pop(team, None)
            return None
        built = self._built.get(team)
        if built is None or built[0] is not slack:
            built = self._built[team] = (slack, self._build(slack))
            for gone in self._built.keys() - {team, *await self._workspaces.teams()}:
                self._built.pop(gone, None)
        return built[1]


async def in_each(
    teams: Callable[[], Awaitable[list[str]]], work: Callable[[str], Coroutine[None, None, None]]
) -> None:
    """Do `work` in each workspace for as long as it is one of `teams`, until cancelled. Work that
    ends, or has trouble, is begun again at the next look."""

    async def worked(team: str) -> None:
        try:
            await work(team)
        except BotError as error:
            log.warning("Nothing goes on in %s for now: %s", team, error)

    async with asyncio.TaskGroup() as group:
        running: dict[str, asyncio.Task[None]] = {}
        while True:
            try:
                there = set(await teams())
            except BotError as error:
                log.warning("It is not known now which workspaces there are: %s", error)
                there = set(running)
            for team, task in list(running.items()):
                if task.done() or team not in there:
                    task.cancel()
                    del running[team]
            for team in there - running.keys():
                running[team] = group.create_task(worked(team), name=f"workspace {team}")
            await asyncio.sleep(LOOK_SECONDS)
