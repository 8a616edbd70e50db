"""Features: what the bot can do beside answering, each in a room of its own.

A room has all of its feature: what it stores, what it adds to a run, what Slack shows of it, its
jobs, words and settings. The bot knows no feature; `bot.app.features` lists them. A room imports no
other: what two of them need belongs below.

A bot without a feature reads what is stored of it, erases it with the rest, and shows no button; its
schedules, jobs and buttons end with a sentence.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # settings import the settings of a room, and nothing that these import
    from contextlib import AbstractAsyncContextManager

    from aiohttp.web import RouteDef
    from prometheus_client.registry import Collector

    from bot.core.check import Check
    from bot.core.request import Entry
    from bot.mcp.doors import McpDoors
    from bot.mcp.pins import Pins
    from bot.runs.policy.access import Policy
    from bot.runs.queue.engine import Handle
    from bot.runs.run_deps import RunDeps
    from bot.runs.run_parts import RunPartFor
    from bot.runs.surface import OpenSurface
    from bot.runs.watching import ListenerFor
    from bot.slack.edge.installs import InstallableApp
    from bot.slack.edge.workspaces import Slack, Workspaces
    from bot.slack.intake.slack_part import SlackPart, SlackPartFor
    from bot.slack.ui.approval_kinds import WaitKind, WaitKinds
    from bot.slack.ui.buttons import AnswerButton
    from bot.store import Stores
    from bot.store.families import Family

    JobFor = Callable[[RunDeps, Slack], Handle]
    """Returns what does a kind of job in a workspace."""
    RunListenerFor = Callable[[Stores, Slack], ListenerFor]
    """Returns what listens to the runs of a workspace."""
    SurfaceFor = Callable[[Slack, WaitKinds], OpenSurface]
    """Makes what opens the surface of a run in a workspace."""
    McpDoorsFor = Callable[[Pins, Stores | None], McpDoors]
    """Returns what a feature adds to MCP servers; without stores they can only be looked at."""


@dataclass(frozen=True, slots=True)
class ServiceDeps:
    """What services for tools work with; `slack` is None outside Slack, as at a terminal."""

    stores: Stores
    slack: Slack | None = None


@dataclass(frozen=True, slots=True)
class ProcessDeps:
    """What features work with in a process of the bot.

    `app` is the app that many workspaces install, None where the bot serves one.
    """

    stores: Stores
    workspaces: Workspaces
    policy: Policy
    app: InstallableApp | None


@dataclass(frozen=True, slots=True)
class IntakeDeps:
    """What features work with in a process that listens to Slack; `parts_in` returns what features
    add to a workspace."""

    stores: Stores
    parts_in: Callable[[str], Awaitable[Sequence[SlackPart]]]


class OperatorPart:
    """What a feature adds for operators. Override what is needed: every method does nothing.

    - `metrics`: made with `registry=None`.
    - `sealed`: a word for what the feature stores encrypted, "" for nothing.
    - `hint`: a line for people who try the bot with `bot dev`, on what they could add; "" for none.
    """

    metrics: tuple[Collector, ...] = ()
    sealed: str = ""
    hint: str = ""

    def check(self) -> None:
        """Raise ConfigurationError where a setting is missing, before a process opens anything."""

    async def checks(self, stores: Stores | None) -> Sequence[Check]:
        """Return the lines of `bot doctor`; the stores are missing without a Redis."""
        return ()

    async def usage_lines(self, stores: Stores) -> Sequence[str]:
        """Return the lines of `bot usage`."""
        return ()

    async def end_person(self, stores: Stores, user: str) -> Sequence[str]:
        """End what is elsewhere of a person, before it is erased here. Return what the operator is
        told; a line that begins with ! says what is left."""
        return ()

    async def end_workspace(self, stores: Stores, team: str) -> None:
        """End what is elsewhere of a workspace that has removed the bot, before it is erased here."""

    async def reseal(self, stores: Stores) -> None:
        """Encrypt everything with the first key, so that the others can be retired."""

    async def on_old_keys(self, stores: Stores) -> Sequence[str]:
        """Return the names of what is not encrypted with the first key."""
        return ()


ServiceFor = Callable[[ServiceDeps], object | None]
"""Makes a service for tools; None where it cannot be had, and then no tool that needs it is offered."""


WaitFor = Callable[[ServiceDeps], "WaitKind"]
"""Makes a kind of wait."""


@dataclass(frozen=True, slots=True)
class Feature:
    """What one feature adds to the bot. What it does not use it leaves out.

    - `stored`: its families of keys in Redis; a person is erased from all, known or not.
    - `services`: what it offers to tools, by the type that they ask for.
    - `run_part`: what it adds to each run, such as a hook of the loop.
    - `run_listener`: listens to each run in a workspace, and may speak in Slack.
    - `jobs`: work that people start with a button, done by a worker in their name. The kinds are
      stored.
    - `slack_part`: what it adds to a workspace: listeners, sections of the Home tab, due schedules.
    - `buttons`: its buttons under answers.
    - `waits`: the kinds of what its hooks wait for people to decide: their cards, and what a terminal
      asks. The names are stored.
    - `operator_part`: what it adds for operators: checks, metrics, what ends when data are erased.
    - `process`, `intake`: contexts in which each process of the bot runs, and each that listens.
    - `pages`: its HTTP routes, on the port of the public address.

    These are for what one of our own features does:

    - `surfaces`: where it shows runs of requests that come in by it, by their `entry`.
    - `mcp_doors`: what it adds to MCP servers: each person's account there, questions to people.
    - `off`: says which of its `services` cannot be had with these settings, and why, for operators.
    - `may_have`: says whether a name, group or pattern in the `tools` of a channel fits a skill of it.
    """

    name: str
    stored: tuple[Family, ...] = ()
    services: Mapping[type, ServiceFor] = field(default_factory=lambda: MappingProxyType({}))
    run_part: RunPartFor | None = None
    run_listener: RunListenerFor | None = None
    jobs: Mapping[str, JobFor] = field(default_factory=lambda: MappingProxyType({}))
    slack_part: SlackPartFor | None = None
    buttons: tuple[AnswerButton, ...] = ()
    waits: Mapping[str, WaitFor] = field(default_factory=lambda: MappingProxyType({}))
    operator_part: OperatorPart | None = None
    process: Callable[[ProcessDeps], AbstractAsyncContextManager[None]] | None = None
    intake: Callable[[IntakeDeps], AbstractAsyncContextManager[None]] | None = None
    pages: Sequence[RouteDef] = ()
    surfaces: Mapping[Entry, SurfaceFor] = field(default_factory=lambda: MappingProxyType({}))
    mcp_doors: McpDoorsFor | None = None
    off: Callable[[], Mapping[type, str]] | None = None
    may_have: Callable[[str], bool] | None = None
