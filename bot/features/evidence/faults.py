"""What code is sure is wrong in a result: it comes back to the model once, and then loses its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from bot.features.evidence.check import RunEvidence
from bot.library.tracing.findings import Claim, Reason, Unreadable, Verdict
from bot.library.tracing.references import MISSING
from bot.text.redaction import each_text
from bot.text.source_marks import marks_rewritten
from bot.text.translation import Text

_MARKED = ("summary", "key_points")
"""Fields that name sources by their numbers."""
_MISSING = Text("(figure missing)")
_GAP = Text("A figure is missing: what I meant to show was not in the results.")


@dataclass(frozen=True, slots=True)
class Faults:
    """`sentences` are for the model. `charts`, `addresses` and `quotes` are what stands nowhere."""

    sentences: tuple[str, ...] = ()
    charts: frozenset[str] = frozenset()
    addresses: frozenset[str] = frozenset()
    quotes: frozenset[str] = frozenset()


def faults_of(result: BaseModel, evidence: RunEvidence) -> Faults:
    """Return what is wrong in a result. Where something was read that code cannot see, only its
    references can be."""
    references = evidence.references
    sentences = list(references.faults)
    if not evidence.is_shown:
        return Faults(tuple(sentences))
    charts = {*getattr(result, "charts", ())}
    if charts and evidence.unreadable is Unreadable.NOTHING:
        charts -= references.known_handles()
    else:
        charts = set()
    sentences += (f"charts: there is no {handle}" for handle in sorted(charts))
    traced = evidence.findings(result, references.filled)
    addresses, quotes = set[str](), set[str]()
    for claim in traced.of(Verdict.UNTRACED) if traced else ():
        in_source = claim.field.startswith("sources.")
        if in_source and claim.kind is Claim.ADDRESS:
            addresses.add(claim.text)
            sentences.append(f"{claim.field}: no tool gave the address {claim.text}")
        elif in_source and claim.kind is Claim.QUOTE and claim.reason is Reason.NOT_FOUND:
            quotes.add(claim.text)
            sentences.append(f"{claim.field}: nothing that was read says “{claim.text}”")
    return Faults(tuple(sentences), frozenset(charts), frozenset(addresses), frozenset(quotes))


def without(result: BaseModel, faults: Faults) -> BaseModel:
    """Return a result without the charts and sources that do not exist; a missing figure is said."""
    fields: dict[str, Any] = each_text(
        result.model_dump(mode="json"), lambda text: text.replace(MISSING, _MISSING())
    )
    if not isinstance(fields, dict):
        return result
    if faults.charts:
        fields["charts"] = [handle for handle in fields["charts"] if handle not in faults.charts]
    if isinstance(sources := fields.get("sources"), list):
        stays = [
            number
            for number, source in enumerate(sources, 1)
            if source.get("url") not in faults.addresses
        ]
        fields["sources"] = [
            {**source, "quote": None} if source.get("quote") in faults.quotes else source
            for source in (sources[number - 1] for number in stays)
        ]
        if len(stays) < len(sources):
            numbers = {number: f"[{place}]" for place, number in enumerate(stays, 1)}
            for name in (name for name in _MARKED if name in fields):
                fields[name] = each_text(
                    fields[name],
                    lambda text: marks_rewritten(
                        text, len(sources), lambda number: numbers.get(number, "")
                    ),
                )
    if _MISSING() in str(fields) and isinstance(gaps := fields.get("gaps"), list):
        fields["gaps"] = [*gaps, _GAP()]
    return type(result).model_validate(fields)
