"""Features: what the bot can do beside answering, each in a room of its own.

A room has all of its feature: what it adds to a run, what Slack shows of it, its jobs, words and
settings. The bot knows no feature; `bot.app.features` lists them, and they come in by two doors:

- **A run** (`bot.runs.run_parts`): the part that a feature adds to one run, with a hook if it needs
  one. Its `jobs` are done by workers too, by the kind of a request's `Job`.
- **Slack** (`bot.slack.intake.slack_part`): what it listens to, the schedules that it takes
  when they are due, and the buttons under answers (`AnswerButton` in `bot.slack.ui.buttons`).

What is stored of a feature and read by the bot (its fields of an outcome) belongs to `bot.core`. A
room imports no other: what two of them need belongs below. A bot without a feature reads what is
stored of it and shows no button; its schedules end with a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # settings import the settings of a room, and nothing that these import
    from bot.runs.queue.engine import Handle
    from bot.runs.run_deps import RunDeps
    from bot.runs.run_parts import RunPartFor
    from bot.slack.edge.workspaces import Slack
    from bot.slack.intake.slack_part import SlackPartFor
    from bot.slack.ui.buttons import AnswerButton

    JobsFor = Callable[[RunDeps, Slack], Mapping[str, Handle]]
    """Returns what does each kind of job of a feature in a workspace."""


@dataclass(frozen=True, slots=True)
class Feature:
    """What one feature adds to the bot. What it does not use it leaves out."""

    name: str
    run_part: RunPartFor | None = None
    jobs: JobsFor | None = None
    slack_part: SlackPartFor | None = None
    buttons: tuple[AnswerButton, ...] = ()
