"""Workspaces that the bot serves, each with its own clients, identity and caches.

An object that talks to Slack belongs to one workspace. A process that serves several workspaces
builds one set of such objects for each.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from bot.core.errors import BotError
from bot.slack.edge.client import Clients, Identity
from bot.slack.edge.people_and_channels import ChannelMembership, People
from bot.slack.edge.status import ThreadStatus

log = logging.getLogger(__name__)

T = TypeVar("T")

LOOK_SECONDS = 15.0
"""Seconds between checks for new and removed workspaces."""


@dataclass(frozen=True, slots=True)
class Slack:
    """One workspace: the clients, identity and caches that intake and runs share."""

    clients: Clients
    identity: Identity
    people: People
    access: ChannelMembership
    status: ThreadStatus

    @classmethod
    def with_clients(cls, clients: Clients, identity: Identity) -> Slack:
        """Return the workspace of `clients`, with empty caches."""
        return cls(
            clients=clients,
            identity=identity,
            people=People(clients.reads, identity),
            access=ChannelMembership(clients.reads),
            status=ThreadStatus(clients.live),
        )


class Workspaces(Protocol):
    """The workspaces in which the bot is installed."""

    async def of(self, team: str, enterprise: str | None = None) -> Slack | None:
        """Return the workspace `team`; None when the bot is not, or no longer, installed there.

        `enterprise` is the id of its organisation, if any. Raises SlackUnavailable or StoreError
        when Slack or Redis cannot be reached.
        """

    async def teams(self) -> list[str]:
        """Return the ids of all known workspaces."""


@dataclass(frozen=True, slots=True)
class OneWorkspace:
    """The workspace that SLACK_BOT_TOKEN belongs to; implements `Workspaces`.

    Slack sends the bot no events from other workspaces.
    """

    slack: Slack

    async def of(self, _team: str, _enterprise: str | None = None) -> Slack | None:
        """Return the only workspace, whatever `_team` is."""
        return self.slack

    async def teams(self) -> list[str]:
        """Return the id of the only workspace."""
        return [self.slack.identity.team]


class PerWorkspace(Generic[T]):
    """A cache of one object per workspace, built by `build` on first use.

    The object is built again after a reinstallation. Objects of removed workspaces are evicted when
    the next one is built.
    """

    def __init__(self, workspaces: Workspaces, build: Callable[[Slack], T]) -> None:
        self._workspaces = workspaces
        self._build = build
        self._built: dict[str, tuple[Slack, T]] = {}

    async def of(self, team: str, enterprise: str | None = None) -> T | None:
        """Return the object of a workspace; None without an installation. See `Workspaces.of`."""
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


async def run_in_each(
    teams: Callable[[], Awaitable[list[str]]], work: Callable[[str], Coroutine[None, None, None]]
) -> None:
    """Run `work` in each of `teams` until cancelled, as workspaces are added and removed.

    Work that ends or fails starts again at the next check, after LOOK_SECONDS.
    """

    async def run(team: str) -> None:
        try:
            await work(team)
        except BotError as error:
            log.warning("Work for workspace %s failed, and starts again soon: %s", team, error)

    async with asyncio.TaskGroup() as group:
        running: dict[str, asyncio.Task[None]] = {}
        while True:
            try:
                current = set(await teams())
            except BotError as error:
                log.warning("The list of workspaces could not be loaded: %s", error)
                current = set(running)
            for team, task in list(running.items()):
                if task.done() or team not in current:
                    task.cancel()
                    del running[team]
            for team in current - running.keys():
                running[team] = group.create_task(run(team), name=f"workspace {team}")
            await asyncio.sleep(LOOK_SECONDS)
