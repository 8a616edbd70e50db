"""The feature: another call of the model judges each result, and sends it back or marks it partial."""

from __future__ import annotations

from functools import partial
from typing import Literal

from bot.features import Feature
from bot.features.evaluation.hook import Evaluation
from bot.runs.run import Run
from bot.runs.run_parts import RunPart

_TRIES = 2  # how often "full" sends a result back

Mode = Literal["off", "basic", "full"]


def evaluation(mode: Mode) -> Feature:
    """Return the feature in this mode."""
    return Feature("evaluation", run_part=partial(_EvaluationPart, mode))


class _EvaluationPart(RunPart):
    """The judge of one run."""

    def __init__(self, mode: Mode, run: Run) -> None:
        if mode != "off":
            tries = _TRIES if mode == "full" else 0
            self.hook = Evaluation(run.steering.asked, run.model, run.models.names[0], tries=tries)
