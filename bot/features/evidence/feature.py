"""The feature: answers are traced, and *Show evidence* shows to what."""

from __future__ import annotations

from functools import partial

from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.features import Feature
from bot.features.evidence import words
from bot.features.evidence.dialog import EvidenceListeners
from bot.features.evidence.figures import FiguresForOperators, FindingsMetric
from bot.features.evidence.modal import SHOW
from bot.features.evidence.run_part import EvidencePart
from bot.features.evidence.settings import EvidenceSettings
from bot.features.evidence.trust import trust_of
from bot.runs.results.result_trust import fill_trust_by
from bot.slack.ui.buttons import AnswerButton


def evidence(settings: EvidenceSettings) -> Feature:
    """Return the feature with these settings."""
    fill_trust_by(trust_of)
    metric = FindingsMetric()
    return Feature(
        "evidence",
        run_part=partial(EvidencePart, settings, metric),
        slack_part=partial(EvidenceListeners.of, settings),
        buttons=(SHOW_EVIDENCE,),
        operator_part=FiguresForOperators(metric),
    )


def _traced_run(outcome: Outcome, _request: Request) -> str | None:
    """Return the id of a run whose answer was traced in something that was read and that readers may see."""
    traced = outcome.traced if outcome.traced_shown else None
    return outcome.run_id if traced and traced.items and not traced.nothing_read else None


SHOW_EVIDENCE = AnswerButton(words.SHOW, SHOW, _traced_run, alone=True)
