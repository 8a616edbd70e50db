"""What readers are told of where an answer comes from: a line under it, warnings, places in sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from urllib.parse import urlsplit

from bot.core.answers import RESPONSE_TYPES, Source
from bot.core.outcome import Outcome, SourcePlace, Trust
from bot.features.evidence import words
from bot.library.tracing.findings import (
    Claim,
    Finding,
    Findings,
    Place,
    Reason,
    Unreadable,
    Verdict,
    claim_key,
)
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
_NOT_GIVEN = Text("Not found in any source: {claims}.")
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
_FOUND = (Verdict.READ, Verdict.NEAR_QUOTE)
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

    Addresses count only where none was found.
    """
    claims = dict[tuple[str, bool, bool], Finding]()
    for item in items:
        if item.kind is Claim.ADDRESS and item.verdict is not Verdict.UNTRACED:
            continue
        key = claim_key(item)
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
    is_read = claim.verdict in _FOUND and bool(claim.places)
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


def trust_of(traced: Findings, outcome: Outcome) -> Trust:
    """Return what readers are told of the result of an outcome, in the reader's language."""
    line = "" if _is_confirmation(outcome, traced) else evidence_line(traced)
    return Trust(
        line=line,
        # The row may be from a personal account, whose evidence is for its owner only.
        warnings=tuple(warnings(traced, names_rows=not outcome.accounts)),
        has_figures=bool(line and (traced.read or traced.worked_out)),
        places=_places(outcome, traced.items),
    )


def _is_confirmation(outcome: Outcome, traced: Findings) -> bool:
    """Return whether the answer tells of a change that was made, and of nothing that was looked up."""
    has_sources = bool((outcome.result or {}).get("sources"))
    return outcome.changed and not has_sources and not any(item.reference for item in traced.items)


def _places(outcome: Outcome, findings: Sequence[Finding]) -> dict[int, SourcePlace]:
    """Return the places in the sources of a result, by their numbers."""
    if outcome.response_type not in RESPONSE_TYPES:
        return {}
    sources = (outcome.result or {}).get("sources") or ()
    places = dict[int, SourcePlace]()
    for number, source in enumerate(map(Source.model_validate, sources)):
        if place := _place(number, source, findings):
            places[number] = SourcePlace(url=_address(place, source), name=_place_name(place))
    return places


def _place_name(place: Place) -> str:
    if place.page:
        return words.PAGE(number=place.page)
    return words.ROW(number=place.row) if place.row else ""


def _address(place: Place, source: Source) -> str:
    """Return the address that opens a place; "" for that of the source."""
    url = source.url
    if place.page and url and urlsplit(url).path.lower().endswith(".pdf"):
        return f"{url.partition('#')[0]}#page={place.page}"
    return place.link


def _place(number: int, source: Source, findings: Sequence[Finding]) -> Place | None:
    """Return the place of a source's quote, or else the only place that claims have in it."""
    own = f"sources.{number}.quote"
    for finding in findings:
        if finding.field == own and finding.verdict in _FOUND and finding.places:
            return finding.places[0]
    if source.quote:  # what was found for other claims may be elsewhere
        return None
    places = {
        (place.call_id, place.line): place
        for finding in findings
        if finding.verdict in _FOUND
        for place in finding.places[:1]
        if _is_in(place, source)
    }
    return next(iter(places.values())) if len(places) == 1 else None


def _is_in(place: Place, source: Source) -> bool:
    if source.url and source.url in (place.url, place.link):
        return True
    return bool(place.source) and place.source == source.title
