"""The line under an answer that says what its figures and quotes rest on."""

from __future__ import annotations

from collections.abc import Iterable

from bot.core.findings import Claim, Finding, Findings, Verdict
from bot.core.text.translation import Plural, Text

NOTHING_READ = Text("Nothing was looked up for this.")
_UNTRACED = Text("I could not trace {count} of {total}: {claims}.")
_UNTRACED_ALONE = Text("I could not trace {claims}.")
_MORE = Text("and {count} more")
_SUMMARY = Text("{total}: {parts}.")
_COMMA = Text(", ")
_QUOTED = Text("“{text}”")
_FIGURES = Plural("{count} figure", "{count} figures")
_QUOTES = Plural("{count} quote", "{count} quotes")
_BOTH = Plural("{count} figure or quote", "{count} figures and quotes")
_ONE = {
    Verdict.READ: Text("read"),
    Verdict.WORKED_OUT: Text("worked out from what I read"),
    Verdict.NEAR_QUOTE: Text("not word for word"),
}
_ALL = {
    Verdict.READ: Text("all read"),
    Verdict.WORKED_OUT: Text("all worked out from what I read"),
    Verdict.NEAR_QUOTE: Text("all not word for word"),
}
_SOME = {
    Verdict.READ: Text("{count} read"),
    Verdict.WORKED_OUT: Text("{count} worked out from what I read"),
    Verdict.NEAR_QUOTE: Text("{count} not word for word"),
    Verdict.UNKNOWN: Text("{count} not checked"),
}
_WORKED_OUT_FROM_THEM = Text("{count} worked out from them")

_MOST_NAMED = 8
_LONGEST = 80  # characters of a claim
_WORST_FIRST = (
    Verdict.UNTRACED,
    Verdict.UNKNOWN,
    Verdict.NEAR_QUOTE,
    Verdict.WORKED_OUT,
    Verdict.READ,
)


def evidence_line(found: Findings) -> str:
    """Return the line; "" where there is nothing to say.

    A claim that the answer repeats counts once. An address counts only if it could not be traced,
    because the others are the sources that the answer lists.
    """
    if found.nothing_read:
        return NOTHING_READ()
    claims = distinct(found.items)
    untraced = [each for each in claims if each.verdict is Verdict.UNTRACED]
    if untraced:
        shown = "; ".join(map(_named, untraced[:_MOST_NAMED]))
        if len(untraced) > _MOST_NAMED:
            shown = f"{shown}; {_MORE(count=len(untraced) - _MOST_NAMED)}"
        line = _UNTRACED if len(claims) > 1 else _UNTRACED_ALONE
        return line(count=len(untraced), total=len(claims), claims=shown)
    parts = _parts(claims)
    return _SUMMARY(total=_total(claims), parts=parts) if parts else ""


def distinct(items: Iterable[Finding]) -> list[Finding]:
    """Return one finding for each claim, the worst where the answer repeats it."""
    claims = dict[tuple[str, bool], Finding]()
    for each in items:
        if each.kind is Claim.ADDRESS and each.verdict is not Verdict.UNTRACED:
            continue
        key = (" ".join(each.text.casefold().split()), each.kind is Claim.QUOTE)
        known = claims.get(key)
        if known is None or _rank(each) < _rank(known):
            claims[key] = each
    return list(claims.values())


def _rank(each: Finding) -> int:
    return _WORST_FIRST.index(each.verdict)


def _parts(claims: list[Finding]) -> str:
    """Return how many were read, worked out and not checked; "" if none could be checked."""
    counts = {verdict: sum(each.verdict is verdict for each in claims) for verdict in Verdict}
    present = [verdict for verdict in _SOME if counts[verdict]]
    if present in ([], [Verdict.UNKNOWN]):
        return ""
    if len(present) == 1:
        return (_ONE if len(claims) == 1 else _ALL)[present[0]]()
    some = dict(_SOME)
    if counts[Verdict.READ]:
        some[Verdict.WORKED_OUT] = _WORKED_OUT_FROM_THEM
    return _COMMA().join(some[verdict](count=counts[verdict]) for verdict in present)


def _total(claims: list[Finding]) -> str:
    quotes = sum(each.kind is Claim.QUOTE for each in claims)
    if 0 < quotes < len(claims):
        return _BOTH(len(claims))
    return (_QUOTES if quotes else _FIGURES)(len(claims))


def _named(claim: Finding) -> str:
    text = " ".join(claim.text.split())
    text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1].rstrip()}…"
    return _QUOTED(text=text) if claim.kind is Claim.QUOTE else text
