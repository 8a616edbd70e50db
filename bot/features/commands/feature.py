"""The feature: the operator's commands check calls of tools and the files that they made."""

from __future__ import annotations

from functools import partial

from bot.features import Feature
from bot.features.commands.hook import Commands
from bot.features.commands.settings import HookSettings
from bot.runs.context.artifacts import ThreadArtifacts
from bot.runs.run import Run
from bot.runs.run_parts import RunPart


def commands(settings: HookSettings) -> Feature:
    """Return the feature with these settings."""
    return Feature("commands", run_part=partial(_CommandsPart, settings))


class _CommandsPart(RunPart):
    """The commands of one run, if there are any."""

    def __init__(self, settings: HookSettings, run: Run) -> None:
        if settings.before_tool or settings.after_tool:
            artifacts = ThreadArtifacts(run.deps.stores.artifacts)
            self.hook = Commands(settings.before_tool, settings.after_tool, artifacts)
