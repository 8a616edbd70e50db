"""Slack's door: what a feature listens to, without Slack knowing which features there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from slack_bolt.async_app import AsyncApp

from bot.runs.observers import Submit
from bot.slack.actions.questions import QuestionIntake
from bot.slack.transport.background_tasks import Background
from bot.slack.transport.workspaces import Slack
from bot.store import Stores


@dataclass(frozen=True, slots=True)
class ListenerDeps:
    """What the listeners of a feature work with, in one workspace."""

    slack: Slack
    stores: Stores
    questions: QuestionIntake
    submit: Submit
    background: Background


class FeatureListeners(Protocol):
    """The listeners of a feature in one workspace."""

    def register(self, app: AsyncApp) -> None:
        """Listen to the buttons and modals of the feature."""


ListenersFor = Callable[[ListenerDeps], FeatureListeners]
