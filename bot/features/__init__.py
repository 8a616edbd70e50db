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
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # settings import the settings of a room, and nothing that these import
    from contextlib import AbstractAsyncContextManager

    from aiohttp.web import RouteDef
    from prometheus_client.registry import Collector

    from bot.core.check import Check
    from bot.core.request import Entry
    from bot.mcp.doors import PersonalServers, ServerQuestions
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

    Jobs = Mapping[str, Handle]
    """What does each kind of job; the kinds are stored."""
    JobsFor = Callable[[RunDeps, Slack], Jobs]
    """Returns the jobs of a feature in a workspace."""
    RunListenerFor = Callable[[Stores, Slack], ListenerFor]
    """Returns what listens to the runs of a workspace."""
    SurfaceFor = Callable[[Slack, WaitKinds], OpenSurface]
    """Makes what opens the surface of a run in a workspace."""
    ChecksFor = Callable[[Stores | None], Awaitable[Sequence[Check]]]
    """Makes the lines of a feature in `bot doctor`; the stores are missing without a Redis."""


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


class Ending(Protocol):
    """What a feature ends outside the stores before somebody's data are erased there."""

    async def end_person(self, stores: Stores, user: str) -> list[str]:
        """End what is of a person. Return what the operator is told; a line that begins with ! says
        what is left."""

    async def end_workspace(self, stores: Stores, team: str) -> None:
        """End what is of a workspace that has removed the bot."""


class Sealed(Protocol):
    """What a feature stores encrypted; `sealed` is a word for it."""

    sealed: str

    async def reseal(self, stores: Stores) -> None:
        """Encrypt everything with the first key, so that the others can be retired."""

    async def on_old_keys(self, stores: Stores) -> Sequence[str]:
        """Return the names of what is not encrypted with the first key."""


ServiceFor = Callable[[ServiceDeps], object | None]
"""Makes a service for tools; None where it cannot be had, and then no tool that needs it is offered."""


@dataclass(frozen=True, slots=True)
class Feature:
    """What one feature adds to the bot. What it does not use it leaves out.

    - `stored`: its families of keys in Redis; a person is erased from all, known or not.
    - `services`: what it offers to tools, by the type that they ask for.
    - `run_part`: what it adds to each run, such as a hook of the loop.
    - `run_listener`: listens to each run in a workspace, and may speak in Slack.
    - `jobs`: work that people start with a button, done by a worker in their name.
    - `slack_part`: what it adds to a workspace: listeners, sections of the Home tab, due schedules.
    - `buttons`: its buttons under answers.
    - `waits`: the kinds of what its hooks wait for people to decide: their cards, and what a terminal
      asks. The names are stored.
    - `check`: raises ConfigurationError where a setting is missing that it needs.
    - `process`, `intake`: contexts in which each process of the bot runs, and each that listens.
    - `pages`: its HTTP routes, on the port of the public address.
    - `ending`: what it ends before data are erased.
    - `checks`, `usage_lines`: its lines in `bot doctor` and in `bot usage`.
    - `metrics`: its metrics, made with `registry=None`.

    These are for what one of our own features does:

    - `surfaces`: where it shows runs of requests that come in by it, by their `entry`.
    - `sealed`: what it stores encrypted.
    - `personal_servers`: reaches MCP servers at which each person has an account; without stores they
      can only be looked at.
    - `server_questions`: puts questions of MCP servers to people.
    """

    name: str
    stored: tuple[Family, ...] = ()
    services: Mapping[type, ServiceFor] = field(default_factory=lambda: MappingProxyType({}))
    run_part: RunPartFor | None = None
    run_listener: RunListenerFor | None = None
    jobs: JobsFor | None = None
    slack_part: SlackPartFor | None = None
    buttons: tuple[AnswerButton, ...] = ()
    waits: Callable[[ServiceDeps], Mapping[str, WaitKind]] | None = None
    check: Callable[[], None] | None = None
    process: Callable[[ProcessDeps], AbstractAsyncContextManager[None]] | None = None
    intake: Callable[[IntakeDeps], AbstractAsyncContextManager[None]] | None = None
    pages: Sequence[RouteDef] = ()
    ending: Ending | None = None
    checks: ChecksFor | None = None
    usage_lines: Callable[[Stores], Awaitable[Sequence[str]]] | None = None
    metrics: tuple[Collector, ...] = ()
    surfaces: Mapping[Entry, SurfaceFor] = field(default_factory=lambda: MappingProxyType({}))
    sealed: Sealed | None = None
    personal_servers: Callable[[Pins, Stores | None], PersonalServers] | None = None
    server_questions: ServerQuestions | None = None
