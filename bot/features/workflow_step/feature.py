"""The feature: a step of Workflow Builder that asks the bot a question."""

from __future__ import annotations

from bot.core.request import Entry
from bot.features import Feature
from bot.features.workflow_step.step import StepPart, step_surface


def workflow_step() -> Feature:
    """Return the feature."""
    return Feature(
        "workflow_step", slack_part=StepPart, surfaces={Entry.WORKFLOW_STEP: step_surface}
    )
