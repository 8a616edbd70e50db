"""What tracing adds to a run: its references are filled in, and its outcome says what was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel
from typing_extensions import override

from bot.agent.events import Event, Recorded, RunEnded
from bot.agent.loop_deps import Reported
from bot.core.chain import LedgerEntry
from bot.core.outcome import Outcome, Trust
from bot.features.evidence.check import RunEvidence
from bot.features.evidence.figures import FigureStore, FindingsMetric
from bot.features.evidence.filling import References
from bot.features.evidence.hook import EvidenceHook, filled_in
from bot.features.evidence.settings import ChannelEvidence, EvidenceSettings
from bot.features.evidence.trust import distinct, trust_of
from bot.library.tracing.cldr import words_for
from bot.library.tracing.findings import FigureCounts, Findings, Verdict
from bot.runs.context.ledger_reader import LedgerReader
from bot.runs.run import Run
from bot.runs.run_parts import RunPart
from bot.store.values import Command

_INSTRUCTIONS = """\
Figures
- Refer to figures instead of typing them, in any text: {{tbl_k3x8a2qd.revenue[region=West]}}, or
  [2] for row 2, [*] for all shown rows, {{fig_3f9c2a1b}}; with |0.0 for decimals, |% or |compact.
  Code fills them in.
"""


class EvidencePart(RunPart):
    """The part of one run. The channel's mode counts before that of the settings."""

    instructions = _INSTRUCTIONS

    def __init__(self, settings: EvidenceSettings, metric: FindingsMetric, run: Run) -> None:
        self._metric, self._redis = metric, run.deps.stores.redis
        own = run.channel.evidence if isinstance(run.channel, ChannelEvidence) else None
        catalogue = run.deps.toolbox.catalogue
        reader = LedgerReader(lambda name: catalogue.get(catalogue.now(name)))
        self._request = request = run.request
        self._evidence = RunEvidence(request, own or settings.mode, reader, References.of(request))
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
        return with_findings(outcome, traced, is_shown=self._evidence.is_shown)

    @override
    def audit_facts(self, outcome: Outcome) -> Mapping[str, int]:
        claims = distinct(outcome.traced.items) if outcome.traced else []
        untraced = sum(claim.verdict is Verdict.UNTRACED for claim in claims)
        return {"claims": len(claims), "untraced": untraced}

    @override
    def saving(self, outcome: Outcome) -> Sequence[Command]:
        if outcome.traced is None:
            return ()
        counts = FigureCounts.of(outcome.traced)
        return FigureStore(self._redis).counting(outcome.totals.model, counts)

    @override
    async def on_end(self, outcome: Outcome) -> None:
        self._metric.count(outcome)


def with_findings(outcome: Outcome, traced: Findings | None, *, is_shown: bool) -> Outcome:
    """Return `outcome` with where its claims come from.

    A deep link that code found may be posted where its page may.
    """
    places = [place for item in (traced.items if traced else ()) for place in item.places]
    deep = {place.link for place in places if place.link.partition("#")[0] in outcome.links}
    trust = trust_of(traced, outcome) if traced and is_shown else Trust()
    return outcome.model_copy(
        update={
            "traced": traced,
            "traced_shown": is_shown,
            "trust": trust,
            "links": outcome.links | deep,
        }
    )
