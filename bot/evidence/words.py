"""Words: looks up the ids, phone numbers, addresses and quotes of an answer."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.core.findings import Reason, Verdict
from bot.core.ids import HANDLE
from bot.evidence.characters import folded, plain
from bot.evidence.claims import Claim
from bot.evidence.evidence import Evidence
from bot.evidence.indexing import IndexedOutput
from bot.evidence.places import place_at, place_on_line
from bot.evidence.quotes import Quote
from bot.evidence.tokens import Token

_FEWEST_DIGITS = 3  # of an id that is checked even if none like it was read
_PHONE_DIGITS = 6
_QUARTER = re.compile(r"q[1-4]|h[12]")


def trace_phone(claim: Claim, token: Token, evidence: Evidence) -> None:
    """Fill in a phone number, with or without the code of its country."""
    wanted = token.digits.lstrip("0")
    for output in evidence.newest_first:
        for each in output.phones:
            known = each.digits.lstrip("0")
            is_same = known.endswith(wanted) or wanted.endswith(known)
            if is_same and min(len(wanted), len(known)) >= _PHONE_DIGITS:
                claim.found(Verdict.READ, place_at(output, each.start, each.end))
                return
    trace_id(claim, token, evidence)


def trace_id(claim: Claim, token: Token, evidence: Evidence) -> None:
    """Fill in an id, version or code that was read as a whole word.

    Our own handles are none, and what a call was given proves nothing when it comes back.
    """
    if HANDLE.fullmatch(token.text):
        claim.is_small = True
        return
    wanted = folded(token.text)
    for text in dict.fromkeys((wanted, wanted.removeprefix("v"))):
        pattern = re.compile(rf"(?<![a-z0-9])v?{re.escape(text)}(?![a-z0-9])")
        for output in evidence.newest_first:
            if text not in output.arguments and (found := pattern.search(output.folded.text)):
                line = output.folded.line_at(found.start())
                claim.found(Verdict.READ, place_on_line(output, line, token.text))
                return
    is_short = sum(map(str.isdigit, wanted)) < _FEWEST_DIGITS
    claim.is_small = is_short and not _has_sibling(wanted, evidence)


def _has_sibling(wanted: str, evidence: Evidence) -> bool:
    """Return whether ids with the same letters were read: P-30 for P-31. "UTF-8" alone is no id."""
    letters = re.match(r"[a-z]+[-#]?(?=\d)", wanted)
    if not letters or _QUARTER.fullmatch(wanted):
        return False
    pattern = re.compile(rf"(?<![a-z0-9]){re.escape(letters[0])}\d")
    return any(pattern.search(each.folded.text) for each in evidence.outputs)


def trace_address(claim: Claim, token: Token, evidence: Evidence) -> None:
    """Fill in an address that a tool or a person gave."""
    wanted = _bare(token.text)
    for output in evidence.newest_first:
        given = [output.entry.link, *(each.url or "" for each in output.entry.sources)]
        at = plain(output.entry.text).casefold().find(wanted)
        if at >= 0 or wanted in map(_bare, given):
            start = max(at, 0)
            claim.found(Verdict.READ, place_at(output, start, start + len(wanted) * (at >= 0)))
            return


def _bare(address: str) -> str:
    found = plain(address).casefold().partition("#:~:")[0].removeprefix("mailto:")
    return found.rstrip("/.,)")


def trace_quote(claim: Claim, quote: Quote, evidence: Evidence) -> None:
    """Fill in a quote that was read, word for word or nearly.

    That of a known source must be in it.
    """
    title = folded(claim.part.source)
    words = folded(quote.text)
    places = [each for each in evidence.newest_first if words not in each.arguments]
    if title in evidence.sources:
        places = [each for each in places if title in {folded(s.title) for s in each.entry.sources}]
    if _find(claim, quote, places):
        return
    for output in places:
        if (line := output.folded.near(quote.text)) is not None:
            claim.found(Verdict.NEAR_QUOTE, place_on_line(output, line, quote.text))
            return
    is_of_source = title in evidence.sources
    if is_of_source and any(o.folded.find(quote.text) is not None for o in evidence.outputs):
        claim.reason = Reason.OTHER_SOURCE


def _find(claim: Claim, quote: Quote, outputs: Iterable[IndexedOutput]) -> bool:
    for output in outputs:
        if (line := output.folded.find(quote.text)) is not None:
            claim.found(Verdict.READ, place_on_line(output, line, quote.text))
            return True
    return False
