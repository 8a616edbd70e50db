"""Slack's door: what a feature listens to, without Slack knowing which features there are.

The buttons that a feature puts under answers are `AnswerButton` in `bot.slack.ui.buttons`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from slack_bolt.async_app import AsyncApp

from bot.core.schedule import Schedule
from bot.runs.observers import Submit
from bot.slack.edge.background_tasks import Background
from bot.slack.edge.workspaces import Slack
from bot.slack.intake.questions import QuestionIntake
from bot.store import Stores


@dataclass(frozen=True, slots=True)
class SlackPartDeps:
    """What the listeners of a feature work with, in one workspace."""

    slack: Slack
    stores: Stores
    questions: QuestionIntake
    submit: Submit
    background: Background


class SlackPart:
    """The listeners of a feature in one workspace. Override what is needed: every method does nothing."""

    def register(self, app: AsyncApp) -> None:
        """Listen to the buttons and modals of the feature."""

    async def take_due(self, schedule: Schedule) -> bool:
        """Do what a schedule of the feature is for, as it is due. Return False for all others.

        Safe to repeat. Raises NotPermitted with a sentence for its owner.
        """
        return False


SlackPartFor = Callable[[SlackPartDeps], SlackPart]
