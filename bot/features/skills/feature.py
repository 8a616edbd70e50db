"""The feature: procedures that the operator wrote, which the model loads when it needs them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from typing_extensions import override

from bot.core.check import Check, ok, problem, warning
from bot.core.errors import ConfigurationError
from bot.features import Feature, OperatorPart, ServiceDeps
from bot.features.skills.home import KIND, SkillsHome
from bot.features.skills.jobs import skill_trial
from bot.features.skills.library import Library
from bot.features.skills.run_part import SkillsPart
from bot.features.skills.settings import SkillSettings
from bot.features.skills.uses import USES, SkillMetric, use_lines
from bot.features.skills.written import STORED, WrittenSkills
from bot.runs.queue.engine import Handle
from bot.runs.run_deps import RunDeps
from bot.runs.trials import RunCase, Trials
from bot.slack.edge.workspaces import Slack
from bot.slack.intake.trial_jobs import TrialJobs
from bot.store import Stores
from bot.toolkit import SkillFiles

log = logging.getLogger(__name__)

_NAME = "skills"
_FIX = "`bot skills check` names each with its folder"


def skills(
    settings: SkillSettings,
    is_taken: Callable[[str], bool],
    loads: Iterable[tuple[str, str]] = (),
    run_case: RunCase | None = None,
) -> Feature:
    """Return the feature. `is_taken` says whether a tool has a name; `loads` are the skills that
    channels begin with, each after its channel. `run_case` runs the cases on which admins try skills."""
    library = Library(settings, is_taken)
    metric = SkillMetric(library)

    def service(_: ServiceDeps) -> SkillFiles | None:
        return library if library.has_files else None

    def off() -> Mapping[type, str]:
        return {} if library.has_files else {SkillFiles: "no skill has files"}

    return Feature(
        _NAME,
        services={SkillFiles: service},
        stored=(*STORED, USES),
        run_part=partial(SkillsPart, library, metric),
        jobs={KIND: partial(_trials, run_case)},
        slack_part=partial(SkillsHome, library, is_taken),
        operator_part=_ForOperators(library, tuple(loads), metric),
        off=off,
        may_have=library.may_have,
    )


def _trials(run_case: RunCase | None, deps: RunDeps, slack: Slack) -> Handle:
    return TrialJobs(Trials(deps, run_case), slack.clients, skill_trial).run


class _ForOperators(OperatorPart):
    """Checks the paths as a process starts, and has the lines of `bot doctor` and `bot usage`."""

    def __init__(
        self, library: Library, loads: Sequence[tuple[str, str]], metric: SkillMetric
    ) -> None:
        self._library = library
        self._loads = loads
        self.metrics = (metric.counter,)

    @override
    async def usage_lines(self, stores: Stores) -> Sequence[str]:
        return await use_lines(stores, self._library)

    @override
    def check(self) -> None:
        loaded = self._library.loaded
        for folder, why in loaded.refused:
            log.warning("the skill in %s is not loaded: %s", folder, why)

    @override
    async def checks(self, stores: Stores | None) -> Sequence[Check]:
        try:
            loaded = self._library.loaded
        except ConfigurationError as error:
            return [problem(_NAME, str(error), "correct `paths` in [skills] of bot.toml")]
        lines = [
            warning(_NAME, f"{folder} is not loaded: {why}", "correct it, then restart the bot")
            for folder, why in loaded.refused
        ]
        written = await WrittenSkills.of(stores).names() if stores else frozenset()
        lines += [
            warning(_NAME, f"{channel} loads {name}, which is no skill", "correct `load`")
            for channel, name in self._loads
            if self._library.get(name) is None and name not in written
        ]
        if broken := [skill.name for skill in loaded.skills if skill.warnings]:
            lines.append(warning(_NAME, f"not as the standard has it: {', '.join(broken)}", _FIX))
        if loaded.skills:
            lines.append(ok(_NAME, ", ".join(skill.name for skill in loaded.skills)))
        return lines
