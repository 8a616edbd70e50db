"""What tracing adds to a run: its references are filled in, and its outcome says what was found."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel
from typing_extensions import override

from bot.agent.events import Event, Recorded, RunEnded
from bot.agent.loop_deps import Reported
from bot.core.chain import LedgerEntry
from bot.core.findings import FigureCounts, Findings
from bot.core.outcome import Outcome
from bot.features.evidence.check import RunEvidence
from bot.features.evidence.figures import FigureStore, FindingsMetric
from bot.features.evidence.filling import References
from bot.features.evidence.hook import EvidenceHook, filled_in
from bot.features.evidence.settings import EvidenceSettings
from bot.library.tracing.cldr import words_for
from bot.runs.context.ledger_reader import LedgerReader
from bot.runs.run import Run
from bot.runs.run_parts import RunPart
from bot.store.values import Command

_INSTRUCTIONS = """\
Figures
- Refer to figures instead of typing them, in any text: {{tbl_k3x8a2qd.revenue[region=West]}}, or
  [2] for row 2, {{fig_3f9c2a1b}}; with |0.0 for decimals, |% or |compact. Code fills them in.
"""


class EvidencePart(RunPart):
    """The part of one run. The channel's mode counts before that of the settings."""

    instructions = _INSTRUCTIONS

    def __init__(self, settings: EvidenceSettings, metric: FindingsMetric, run: Run) -> None:
        self._metric, self._redis = metric, run.deps.stores.redis
        mode = run.channel.evidence or settings.mode
        reader = LedgerReader(run.deps.toolbox.catalogue.get)
        self._request = request = run.request
        self._evidence = RunEvidence(request, mode, reader, References.of(request))
        self.hook = EvidenceHook(self._evidence)

    @override
    def begin(self, ledger: Sequence[LedgerEntry], is_cut: bool, run_id: str) -> None:
        words_for(self._request.text)  # loads them in the first run, not when its answer is ready
        self._evidence.begin(ledger, is_cut, run_id)

    @override
    def on_event(self, event: Event) -> None:
        if isinstance(event, Recorded):
            self._evidence.note(event.entry)

    @override
    def trace_report(self, report: BaseModel, conversation: Sequence[LedgerEntry]) -> Reported:
        filled = self._evidence.report_filled(report, conversation)
        if not self._evidence.is_on:
            return Reported(filled)
        return Reported(filled, self._evidence.check_report(filled, conversation))

    @override
    def complete(self, outcome: Outcome, ended: RunEnded) -> Outcome:
        traced = None
        if ended.result:
            traced = self._evidence.findings(ended.result, filled_in(ended.state))
        return _with_findings(outcome, traced, is_shown=self._evidence.is_shown)

    @override
    def saving(self, outcome: Outcome) -> Sequence[Command]:
        if outcome.traced is None:
            return ()
        counts = FigureCounts.of(outcome.traced)
        return FigureStore(self._redis).counting(outcome.totals.model, counts)

    @override
    async def on_end(self, outcome: Outcome) -> None:
        self._metric.count(outcome)


def _with_findings(outcome: Outcome, traced: Findings | None, *, is_shown: bool) -> Outcome:
    """Return `outcome` with where its claims come from.

    A deep link that code found may be posted where its page may.
    """
    places = [place for item in (traced.items if traced else ()) for place in item.places]
    deep = {place.link for place in places if place.link.partition("#")[0] in outcome.links}
    changes = {"traced": traced, "traced_shown": is_shown, "links": outcome.links | deep}
    return outcome.model_copy(update=changes)
