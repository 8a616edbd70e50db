"""The feature: a result is not accepted before enough work was put into it."""

from __future__ import annotations

from functools import partial

from bot.agent.limits import Limits
from bot.core.request import RepeatReason
from bot.features import Feature
from bot.features.effort.hook import Effort
from bot.runs.run import Run
from bot.runs.run_parts import RunPart


def effort(limits: Limits) -> Feature:
    """Return the feature with the limits of a run; *Go deeper* has an amount of its own."""
    return Feature("effort", run_part=partial(_EffortPart, limits))


class _EffortPart(RunPart):
    """The effort of one run."""

    def __init__(self, limits: Limits, run: Run) -> None:
        deeper = limits.deeper if run.request.again is RepeatReason.DEEPER else 0
        if tokens := max(limits.effort or 0, deeper):
            self.hook = Effort(tokens)
