"""The feature: procedures that the operator wrote, which the model loads when it needs them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from typing_extensions import override

from bot.core.check import Check, ok, warning
from bot.features import Feature, OperatorPart, ServiceDeps
from bot.features.skills.library import Library
from bot.features.skills.run_part import SkillsPart
from bot.features.skills.settings import SkillSettings
from bot.store import Stores
from bot.toolkit import SkillFiles

log = logging.getLogger(__name__)

_NAME = "skills"
_FIX = "`bot skills check` names each with its folder"


def skills(
    settings: SkillSettings,
    is_taken: Callable[[str], bool],
    loads: Iterable[tuple[str, str]] = (),
) -> Feature:
    """Return the feature. `is_taken` says whether a tool has a name; `loads` are the skills that
    channels begin with, each after its channel."""
    library = Library(settings, is_taken)

    def service(_: ServiceDeps) -> SkillFiles | None:
        return library if library.has_files else None

    return Feature(
        _NAME,
        services={SkillFiles: service},
        run_part=partial(SkillsPart, library),
        operator_part=_ForOperators(library, tuple(loads)),
        may_have=library.may_have,
    )


class _ForOperators(OperatorPart):
    """Checks the paths as a process starts, and has the lines of `bot doctor`."""

    def __init__(self, library: Library, loads: Sequence[tuple[str, str]]) -> None:
        self._library = library
        self._loads = loads

    @override
    def check(self) -> None:
        loaded = self._library.loaded
        for folder, why in loaded.refused:
            log.warning("the skill in %s is not loaded: %s", folder, why)

    @override
    async def checks(self, stores: Stores | None) -> Sequence[Check]:
        loaded = self._library.loaded
        lines = [
            warning(_NAME, f"{folder} is not loaded: {why}", "correct it, then restart the bot")
            for folder, why in loaded.refused
        ]
        lines += [
            warning(_NAME, f"{channel} loads {name}, which no folder has", "correct `load`")
            for channel, name in self._loads
            if self._library.get(name) is None
        ]
        if broken := [skill.name for skill in loaded.skills if skill.warnings]:
            lines.append(warning(_NAME, f"not as the standard has it: {', '.join(broken)}", _FIX))
        if loaded.skills:
            lines.append(ok(_NAME, ", ".join(skill.name for skill in loaded.skills)))
        return lines
