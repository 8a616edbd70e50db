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
    from prometheus_client.registry import Collector

    from bot.core.check import Check
    from bot.runs.queue.engine import Handle
    from bot.runs.run_deps import RunDeps
    from bot.runs.run_parts import RunPartFor
    from bot.slack.edge.workspaces import Slack
    from bot.slack.intake.slack_part import SlackPartFor
    from bot.slack.ui.buttons import AnswerButton
    from bot.store import Stores

    Jobs = Mapping[str, Handle]
    """What does each kind of job; the kinds are stored."""
    JobsFor = Callable[[RunDeps, Slack], Jobs]
    """Returns the jobs of a feature in a workspace."""
    ChecksFor = Callable[[Stores | None], Awaitable[Sequence[Check]]]
    """Makes the lines of a feature in `bot doctor`; the stores are missing without a Redis."""


@dataclass(frozen=True, slots=True)
class ServiceDeps:
    """What services for tools work with; `slack` is None outside Slack, as at a terminal."""

    stores: Stores
    slack: Slack | None = None


ServiceFor = Callable[[ServiceDeps], object | None]
"""Makes a service for tools; None where it cannot be had, and then no tool that needs it is offered."""


@dataclass(frozen=True, slots=True)
class Feature:
    """What one feature adds to the bot. What it does not use it leaves out.

    - `services`: what it offers to tools, by the type that they ask for.
    - `run_part`: what it adds to each run, such as a hook of the loop.
    - `jobs`: work that people start with a button, done by a worker in their name.
    - `slack_part`: what it adds to a workspace: listeners, sections of the Home tab, due schedules.
    - `buttons`: its buttons under answers.
    - `checks`: its lines in `bot doctor`.
    - `metrics`: its metrics, made with `registry=None`.
    """

    name: str
    services: Mapping[type, ServiceFor] = field(default_factory=lambda: MappingProxyType({}))
    run_part: RunPartFor | None = None
    jobs: JobsFor | None = None
    slack_part: SlackPartFor | None = None
    buttons: tuple[AnswerButton, ...] = ()
    checks: ChecksFor | None = None
    metrics: tuple[Collector, ...] = ()
