"""Sources of an answer as readers see them: the place that code found for each, and its quote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from bot.core.answers import Source
from bot.core.findings import Finding, Place, Verdict
from bot.core.outcome import Outcome

_MOST_WORDS = 25
_FOUND = (Verdict.READ, Verdict.NEAR_QUOTE)


@dataclass(frozen=True, slots=True)
class PlacedSource:
    """A source and a place in it.

    It has the address of the place, its name ("page 3", "row North"; "" if unknown), and up to 25
    words as a quote.
    """

    title: str
    url: str | None
    place: str
    supports: str
    quote: str


def placed(sources: Sequence[Source], outcome: Outcome) -> list[PlacedSource]:
    """Return the sources of a result with the places that tracing it found, if readers are told."""
    found = outcome.traced.items if outcome.traced and outcome.traced_shown else ()
    return [_placed(number, source, found) for number, source in enumerate(sources)]


def _placed(number: int, source: Source, found: Sequence[Finding]) -> PlacedSource:
    place = _place(number, source, found)
    url, where = source.url, ""
    if place and place.page:
        where = f"page {place.page}"
    elif place and place.row:
        where = f"row {place.row}"
    if place and place.page and url and urlsplit(url).path.lower().endswith(".pdf"):
        url = f"{url.partition('#')[0]}#page={place.page}"
    elif place and place.link:
        url = place.link
    return PlacedSource(source.title, url, where, source.supports, _shortened(source.quote or ""))


def _place(number: int, source: Source, found: Sequence[Finding]) -> Place | None:
    """Return the place of a source's quote, or else the only place that claims have in it."""
    own = f"sources.{number}.quote"
    for each in found:
        if each.field == own and each.verdict in _FOUND and each.places:
            return each.places[0]
    if source.quote:  # what was found for other claims may be elsewhere
        return None
    places = {
        (place.call_id, place.line): place
        for each in found
        if each.verdict in _FOUND
        for place in each.places[:1]
        if _is_in(place, source)
    }
    return next(iter(places.values())) if len(places) == 1 else None


def _is_in(place: Place, source: Source) -> bool:
    if source.url and source.url in (place.url, place.link):
        return True
    return bool(place.source) and place.source == source.title


def _shortened(quote: str) -> str:
    words = quote.split()
    cut = "…" if len(words) > _MOST_WORDS else ""
    return " ".join(words[:_MOST_WORDS]) + cut
