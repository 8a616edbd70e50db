"""The feature: the operator's commands check calls of tools and the files that they made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from typing_extensions import override

from bot.core.check import Check, problem, warning
from bot.features import Feature, OperatorPart
from bot.features.commands.hook import Commands
from bot.features.commands.settings import Command, HookSettings
from bot.runs.context.artifacts import ThreadArtifacts
from bot.runs.run import Run
from bot.runs.run_parts import RunPart
from bot.store import Stores


def commands(settings: HookSettings) -> Feature:
    """Return the feature with these settings."""
    part = _CommandsOperatorPart(settings)
    return Feature("commands", run_part=partial(_CommandsPart, settings), operator_part=part)


class _CommandsOperatorPart(OperatorPart):
    """Checks that the programs are there: a call is refused when a command before it cannot start."""

    def __init__(self, settings: HookSettings) -> None:
        self._settings = settings

    @override
    async def checks(self, stores: Stores | None) -> Sequence[Check]:
        before, after = self._settings.before_tool, self._settings.after_tool
        return [
            *(_lacking("before_tool", each, problem) for each in before if _is_lacking(each)),
            *(_lacking("after_tool", each, warning) for each in after if _is_lacking(each)),
        ]


def _is_lacking(command: Command) -> bool:
    return command.enabled and command.program is None


def _lacking(table: str, command: Command, level: Callable[[str, str, str], Check]) -> Check:
    program, path = command.run[0], Path(command.run[0])
    if path.is_file():
        return level(f"hooks.{table}", f"{program} may not be run", f"chmod +x {program}")
    fix = f"correct `run` in bot.toml: it is looked for in PATH, and with a slash in {Path.cwd()}"
    return level(f"hooks.{table}", f"there is no program {program}", fix)


class _CommandsPart(RunPart):
    """The commands of one run, if there are any."""

    def __init__(self, settings: HookSettings, run: Run) -> None:
        if settings.before_tool or settings.after_tool:
            artifacts = ThreadArtifacts(run.deps.stores.artifacts)
            self.hook = Commands(settings.before_tool, settings.after_tool, artifacts)
