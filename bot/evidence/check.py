"""The check: traces the claims of an answer to the indexed outputs of its run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from math import isclose

from bot.core.findings import Claim as ClaimKind
from bot.core.findings import Finding, Findings, Operand, Operation, Place, Unreadable, Verdict
from bot.evidence.arithmetic import repeated
from bot.evidence.claims import Claim, claims_of
from bot.evidence.derivations import derive
from bot.evidence.evidence import Evidence
from bot.evidence.fields import AnswerField
from bot.evidence.figures import trace_figure
from bot.evidence.indexing import IndexedOutput
from bot.evidence.moments import trace_clock, trace_date
from bot.evidence.operands import Result, Term
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
    results = derive(claims, evidence)
    if not unreadable and any(each.is_partial for each in evidence.outputs):
        unreadable = Unreadable.LONG
    told = [number for number, each in enumerate(claims) if not each.is_small]
    derived = {id(claims[n]): told.index(n) for n in results if n in told}
    items = (_finding(claims[n], results.get(n), derived, bool(unreadable)) for n in told)
    return Findings(items=tuple(items), unreadable=unreadable)


def _finding(
    claim: Claim, result: Result | None, derived: Mapping[int, int], may_be_unseen: bool
) -> Finding:
    """Return what was found of a claim. `derived` has the numbers of findings that are worked out."""
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
        operands=_operands(claim, result, derived),
        pattern=result.pattern if result else "",
        reason=claim.reason,
    )


def _operands(
    claim: Claim, result: Result | None, derived: Mapping[int, int]
) -> tuple[Operand, ...]:
    """Return the operands of a claim that is worked out; () if they do not give its value."""
    if claim.operation is Operation.CONVERSION and claim.value is not None:
        return (Operand(value=abs(claim.value), place=0),)
    if result is None:
        return ()
    value = repeated(result.operation, result.pattern, [each.value for each in result.terms])
    if value is None or not isclose(abs(value), abs(result.value), rel_tol=1e-9):
        return ()
    found = [_operand(each, result, claim.places, derived) for each in result.terms]
    return tuple(each for each in found if each) if all(found) else ()


def _operand(
    term: Term, result: Result, places: Sequence[Place], derived: Mapping[int, int]
) -> Operand | None:
    """Return an operand as the finding that it is, or with its place; None if that is not stored."""
    item = derived.get(id(term.operand.claim))
    if item is not None:
        return Operand(value=term.value, item=item)
    at = next((n for n, each in enumerate(result.operands) if each is term.operand), len(places))
    if at >= len(places):
        return None
    is_constant = not places[at].tool
    return Operand(value=term.value, place=None if is_constant else at, is_column=term.is_column)
