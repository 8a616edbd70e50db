"""The check: traces the claims of an answer to the indexed outputs of its run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from bot.core.findings import Claim as ClaimKind
from bot.core.findings import Finding, Findings, Unreadable, Verdict
from bot.evidence.claims import Claim, claims_of
from bot.evidence.derivations import derive
from bot.evidence.evidence import Evidence
from bot.evidence.fields import AnswerField
from bot.evidence.figures import trace_figure
from bot.evidence.indexing import IndexedOutput
from bot.evidence.moments import trace_clock, trace_date
from bot.evidence.tokens import Kind
from bot.evidence.words import trace_address, trace_id, trace_phone, trace_quote

_KINDS = {
    Kind.FIGURE: (trace_figure, ClaimKind.FIGURE),
    Kind.DATE: (trace_date, ClaimKind.DATE),
    Kind.CLOCK: (trace_clock, ClaimKind.DATE),
    Kind.PHONE: (trace_phone, ClaimKind.ID),
    Kind.ID: (trace_id, ClaimKind.ID),
    Kind.ADDRESS: (trace_address, ClaimKind.ADDRESS),
}


def check(
    fields: Sequence[AnswerField],
    outputs: Sequence[IndexedOutput],
    *,
    today: date | None = None,
    unreadable: Unreadable = Unreadable.NOTHING,
) -> Findings:
    """Trace every claim of the fields to the outputs, which are in the order of the run.

    `today` is the asker's date when they asked: "tomorrow" follows from it. `unreadable` says why a
    claim may have been read where code cannot see it; then nothing is untraced. Takes at most 25
    ms. Raises nothing.
    """
    if not any(each.is_output for each in outputs):
        return Findings(nothing_read=True, unreadable=unreadable)
    evidence = Evidence.of(outputs, today)
    claims = claims_of(fields)
    for claim in claims:
        if claim.quote:
            trace_quote(claim, claim.quote, evidence)
        elif claim.token:
            _KINDS[claim.token.kind][0](claim, claim.token, evidence)
    derive(claims, evidence)
    if not unreadable and any(each.is_partial for each in evidence.outputs):
        unreadable = Unreadable.LONG
    items = (_finding(each, bool(unreadable)) for each in claims if not each.is_small)
    return Findings(items=tuple(items), unreadable=unreadable)


def _finding(claim: Claim, may_be_unseen: bool) -> Finding:
    is_unknown = may_be_unseen and claim.verdict is Verdict.UNTRACED
    return Finding(
        field=claim.part.path,
        text=claim.text[:300],
        start=claim.start,
        kind=_KINDS[claim.token.kind][1] if claim.token else ClaimKind.QUOTE,
        verdict=Verdict.UNKNOWN if is_unknown else claim.verdict,
        places=tuple(claim.places),
        operation=claim.operation,
        formula=claim.formula,
        reason=claim.reason,
    )
