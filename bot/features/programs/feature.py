"""The feature: the model computes with programs of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec

from typing_extensions import override

from bot.core.check import Check, ok, warning
from bot.features import Feature, OperatorPart, ServiceDeps
from bot.features.programs.service import IsolatedPrograms
from bot.features.programs.settings import ProgramSettings
from bot.library.isolated.confinement import landlock_version, missing
from bot.library.isolated.seccomp import is_supported
from bot.store import Stores
from bot.toolkit import Programs

_PACKAGES = ("pandas", "scipy", "sklearn", "statsmodels", "matplotlib")
_INSTALL = "pip install pandas scikit-learn scipy statsmodels"
"""The extra `code`, by its packages: nobody has published one of the bot's name, and anybody could."""
_NAME = "programs"
_TRUNCATE_IS_KNOWN = 3
"""From this version on Landlock covers all that changes files; the rest the filter of calls refuses."""


def programs(settings: ProgramSettings) -> Feature:
    """Return the feature. Where programs cannot run its tool is not offered, and `bot doctor` says
    why."""
    service = None if _lacks(settings) else IsolatedPrograms(settings)

    def service_for(_: ServiceDeps) -> Programs | None:
        return service

    def off() -> Mapping[type, str]:
        lacks = _lacks(settings)
        return {Programs: lacks[0]} if lacks else {}

    return Feature(
        "programs",
        services={Programs: service_for},
        operator_part=_ForOperators(settings),
        off=off,
    )


class _ForOperators(OperatorPart):
    """The line of `bot doctor`."""

    def __init__(self, settings: ProgramSettings) -> None:
        self._settings = settings
        if settings.enabled and not _open_kernel() and (absent := _absent()):
            self.hint = (
                f"Without {', '.join(absent)} the model writes no programs. To add them: {_INSTALL}"
            )

    @override
    async def checks(self, stores: Stores | None) -> Sequence[Check]:
        if not self._settings.enabled:
            return [ok(_NAME, "are switched off in bot.toml")]
        if lacks := _lacks(self._settings):
            why, fix = lacks
            return [warning(_NAME, f"run_python is not offered: {why}", fix)]
        return [ok(_NAME, "run in a closed process")]


def _lacks(settings: ProgramSettings) -> tuple[str, str] | None:
    """Return what is missing to run programs, and what to do about it; None if nothing is."""
    if not settings.enabled:
        return "they are switched off", "set enabled = true in [programs]"
    if lacking := _open_kernel():
        return "; ".join(
            lacking
        ), "run the bot on Linux 6.2 or later with Landlock (x86_64 or aarch64)"
    if absent := _absent():
        return f"there is no {', '.join(absent)}", _INSTALL
    return None


def _absent() -> list[str]:
    return [name for name in _PACKAGES if find_spec(name) is None]


@cache
def _open_kernel() -> tuple[str, ...]:
    """Return what this machine lacks to close a process, nothing if it can. Each process proves itself,
    too, before it gets data."""
    is_closed = is_supported() and landlock_version() >= _TRUNCATE_IS_KNOWN
    return () if is_closed else tuple(missing())
