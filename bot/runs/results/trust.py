"""How far people may trust an answer: the line under it, and warnings about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.core.answers import Answer, stored_name
from bot.core.findings import Claim, Finding, Findings, Reason, Unreadable, Verdict
from bot.core.outcome import Outcome
from bot.text.translation import Plural, Text

_SUMMARY = Text("{total}: {parts}.")
_COMMA = Text(", ")
_QUOTED = Text("“{text}”")
_MORE = Text("and {count} more")
_FIGURES = Plural("{count} figure", "{count} figures")
_QUOTES = Plural("{count} quote", "{count} quotes")
_BOTH = Plural("{count} figure or quote", "{count} figures and quotes")


class _Part(StrEnum):
    """Where a claim comes from, in the order of the line."""

    FILLED_IN = "filled_in"
    FOUND = "found"
    NEAR_QUOTE = "near_quote"
    WORKED_OUT = "worked_out"
    IMAGE = "image"


_PARTS = {
    Verdict.READ: _Part.FOUND,
    Verdict.NEAR_QUOTE: _Part.NEAR_QUOTE,
    Verdict.WORKED_OUT: _Part.WORKED_OUT,
}
_ALL = {
    _Part.FILLED_IN: Text("filled in from results"),
    _Part.FOUND: Text("found in the sources"),
    _Part.NEAR_QUOTE: Text("not word for word"),
    _Part.WORKED_OUT: Text("worked out from what was read"),
    _Part.IMAGE: Text("from the image, not checked"),
}
_SOME = {
    _Part.FILLED_IN: Text("{count} filled in from results"),
    _Part.FOUND: Text("{count} found in the sources"),
    _Part.NEAR_QUOTE: Text("{count} not word for word"),
    _Part.WORKED_OUT: Text("{count} worked out from these"),
    _Part.IMAGE: Text("{count} from the image, not checked"),
}

_WRONG_QUOTES = Plural(
    "This quote is in no source that I read: {claims}.",
    "These quotes are in no source that I read: {claims}.",
)
_OTHER_SOURCE = Text("Quoted from another source than the one named: {claims}.")
_NOT_GIVEN = Text("No source gave this: {claims}.")
_NOTHING_READ = Plural(
    "Nothing was looked up for this figure: {claims}.",
    "Nothing was looked up for these figures: {claims}.",
)
_OTHER_ROW = Text("In the results, {claim} belongs to {row}: check the name beside it.")
_OTHER_ROW_UNNAMED = Text(
    "In the results, {claim} belongs to another row: check the name beside it."
)

_MOST_NAMED = 3
_LONGEST = 80  # characters of a claim
_WORST_FIRST = (
    Verdict.UNTRACED,
    Verdict.UNKNOWN,
    Verdict.NEAR_QUOTE,
    Verdict.WORKED_OUT,
    Verdict.READ,
)


def evidence_line(findings: Findings) -> str:
    """Return where the figures and quotes come from that could be found; "" without any.

    A claim that the answer repeats counts once. Figures that people wrote, addresses, and what was
    not found are not mentioned.
    """
    parts = dict[_Part, list[Finding]]()
    for claim in distinct(findings.items):
        if part := _part(claim, findings.unreadable):
            parts.setdefault(part, []).append(claim)
    present = [part for part in _Part if part in parts]
    if not present:
        return ""
    total = _total([claim for claims in parts.values() for claim in claims])
    if len(present) == 1:
        return _SUMMARY(total=total, parts=_ALL[present[0]]())
    texts = [_SOME[part](count=len(parts[part])) for part in present]
    return _SUMMARY(total=total, parts=_COMMA().join(texts))


def warnings(findings: Findings, *, names_rows: bool) -> list[str]:
    """Return a sentence for each kind of claim that code is sure is wrong or comes from nowhere.

    With `names_rows` the row that a figure belongs to is named.
    """
    warned = [claim for claim in distinct(findings.items) if claim.warned]
    rows = [claim for claim in warned if claim.reason is Reason.OTHER_ROW]
    unread = [claim for claim in warned if claim.reason is Reason.NOTHING_READ]
    rest = [claim for claim in warned if claim not in rows and claim not in unread]
    misplaced = [claim for claim in rest if claim.reason is Reason.OTHER_SOURCE]
    quotes = [claim for claim in rest if claim.kind is Claim.QUOTE and claim not in misplaced]
    others = [claim for claim in rest if claim.kind is not Claim.QUOTE]
    sentences = [_other_row(claim, names_rows=names_rows) for claim in rows[:_MOST_NAMED]]
    if quotes:
        sentences.append(_WRONG_QUOTES(len(quotes), claims=_named(quotes)))
    if misplaced:
        sentences.append(_OTHER_SOURCE(claims=_named(misplaced)))
    if others:
        sentences.append(_NOT_GIVEN(claims=_named(others)))
    if unread:
        sentences.append(_NOTHING_READ(len(unread), claims=_named(unread)))
    return sentences


def distinct(items: Iterable[Finding]) -> list[Finding]:
    """Return one finding for each claim, in order: what was filled in, else the worst.

    A cell that is filled in twice counts once, though a sentence and a table write it otherwise. A
    claim of which readers are warned is one of its own. Addresses count only where none was found.
    """
    claims = dict[tuple[str, bool, bool], Finding]()
    for item in items:
        if item.kind is Claim.ADDRESS and item.verdict is not Verdict.UNTRACED:
            continue
        cell = next((place for place in item.places if item.reference and place.handle), None)
        text = f"{cell.handle}:{cell.line}:{cell.column}" if cell else item.text.casefold()
        key = (" ".join(text.split()), item.kind is Claim.QUOTE, item.warned)
        known = claims.get(key)
        if known is None or _rank(item) < _rank(known):
            claims[key] = item
    return list(claims.values())


def _rank(item: Finding) -> tuple[bool, int]:
    return not item.reference, _WORST_FIRST.index(item.verdict)


def _part(claim: Finding, unreadable: Unreadable) -> _Part | None:
    """Return the part of the line that a claim belongs to, None if the line does not mention it."""
    if claim.warned or _is_from_people(claim):
        return None
    if claim.verdict is Verdict.UNKNOWN:
        return _Part.IMAGE if unreadable is Unreadable.IMAGES else None
    return _Part.FILLED_IN if claim.reference else _PARTS.get(claim.verdict)


def _is_from_people(claim: Finding) -> bool:
    """Return whether the claim only repeats what somebody asked or told the bot."""
    is_read = claim.verdict in (Verdict.READ, Verdict.NEAR_QUOTE) and bool(claim.places)
    return is_read and not any(place.tool or place.call_id for place in claim.places)


def _total(claims: Sequence[Finding]) -> str:
    quotes = sum(claim.kind is Claim.QUOTE for claim in claims)
    if 0 < quotes < len(claims):
        return _BOTH(len(claims))
    return (_QUOTES if quotes else _FIGURES)(len(claims))


def _other_row(claim: Finding, *, names_rows: bool) -> str:
    row = claim.places[0].row if claim.places else ""
    if not (row and names_rows):
        return _OTHER_ROW_UNNAMED(claim=_name(claim))
    return _OTHER_ROW(claim=_name(claim), row=_shortened(row))


def _named(claims: Sequence[Finding]) -> str:
    return "; ".join(_names(claims))


def _names(claims: Sequence[Finding]) -> Iterator[str]:
    yield from map(_name, claims[:_MOST_NAMED])
    if len(claims) > _MOST_NAMED:
        yield _MORE(count=len(claims) - _MOST_NAMED)


def _name(claim: Finding) -> str:
    text = _shortened(claim.text)
    return _QUOTED(text=text) if claim.kind is Claim.QUOTE else text


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1].rstrip()}…"


_UNSURE = Text("I am not sure of this: please check it before you rely on it.")
_FAIRLY_SURE = Text("I am fairly sure of this, but not certain.")
_QUESTION_UNSURE = Text(
    "I am not sure that I understood the question: please check that these are the figures you meant."
)


@dataclass(frozen=True, slots=True)
class Trust:
    """`line` says where the figures come from, and how sure the answer is; "" for nothing.

    `warnings` are sentences about what code is sure is wrong.
    """

    line: str = ""
    warnings: tuple[str, ...] = ()


def trust_in(outcome: Outcome) -> Trust:
    """Return what readers are told about the result of an outcome, in the reader's language."""
    if outcome.result is None:
        return Trust()
    line, warned = "", list[str]()
    if outcome.traced and outcome.traced_shown:
        if not _is_confirmation(outcome):
            line = evidence_line(outcome.traced)
        # The row may be from a personal account, whose evidence is for its owner only.
        warned = warnings(outcome.traced, names_rows=not outcome.accounts)
    has_figures = bool(
        line and outcome.traced and (outcome.traced.read or outcome.traced.worked_out)
    )
    sentence = _confidence(outcome, has_figures=has_figures, is_warned=bool(warned))
    return Trust(" ".join(filter(None, (line, sentence))), tuple(warned))


def _is_confirmation(outcome: Outcome) -> bool:
    """Return whether the answer tells of a change that was made, and of nothing that was looked up."""
    items = outcome.traced.items if outcome.traced else ()
    has_sources = bool((outcome.result or {}).get("sources"))
    return outcome.changed and not has_sources and not any(item.reference for item in items)


def _confidence(outcome: Outcome, *, has_figures: bool, is_warned: bool) -> str:
    """Return how sure the answer is, "" where that is high or said already.

    Figures that come from results or sources are not in doubt, but the reading of the question may
    be. Gaps and warnings say what is missing. Plain text, such as a translation, always has medium
    confidence, which nobody needs to read.
    """
    if outcome.response_type != stored_name(Answer) or outcome.result is None:
        return ""
    result = outcome.result
    match result.get("confidence"):
        case "low":
            return _QUESTION_UNSURE() if has_figures else _UNSURE()
        case "medium":
            is_looked_up = bool(result.get("sources") or outcome.totals.tool_calls)
            is_said = has_figures or is_warned or result.get("gaps")
            return _FAIRLY_SURE() if is_looked_up and not is_said else ""
        case _:
            return ""
