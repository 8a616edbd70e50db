"""The line under an answer that says what its figures and quotes rest on."""

from __future__ import annotations

from collections.abc import Iterable

from bot.core.findings import Claim, Finding, Findings, Verdict
from bot.core.text.counting import counted

NOTHING_READ = "Nothing was looked up for this."
_UNTRACED = "I could not trace {count} of {total}: {claims}."
_UNTRACED_ALONE = "I could not trace {claims}."
_MORE = "and {count} more"
_SUMMARY = "{total}: {parts}."
_READ, _WORKED_OUT, _WORKED_OUT_ALONE = (
    "read",
    "worked out from them",
    "worked out from what I read",
)
_NEAR, _UNKNOWN = "not word for word", "not checked"

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
        return NOTHING_READ
    claims = distinct(found.items)
    untraced = [each for each in claims if each.verdict is Verdict.UNTRACED]
    if untraced:
        shown = "; ".join(map(_named, untraced[:_MOST_NAMED]))
        if len(untraced) > _MOST_NAMED:
            shown = f"{shown}; {_MORE.format(count=len(untraced) - _MOST_NAMED)}"
        line = _UNTRACED if len(claims) > 1 else _UNTRACED_ALONE
        return line.format(count=len(untraced), total=len(claims), claims=shown)
    parts = _parts(claims)
    return _SUMMARY.format(total=_total(claims), parts=parts) if parts else ""


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
    worked_out = _WORKED_OUT if counts[Verdict.READ] else _WORKED_OUT_ALONE
    words = {
        Verdict.READ: _READ,
        Verdict.WORKED_OUT: worked_out,
        Verdict.NEAR_QUOTE: _NEAR,
        Verdict.UNKNOWN: _UNKNOWN,
    }
    present = [verdict for verdict in words if counts[verdict]]
    if present in ([], [Verdict.UNKNOWN]):
        return ""
    if len(present) == 1:
        return words[present[0]] if len(claims) == 1 else f"all {words[present[0]]}"
    return ", ".join(f"{counts[verdict]} {words[verdict]}" for verdict in present)


def _total(claims: list[Finding]) -> str:
    quotes = sum(each.kind is Claim.QUOTE for each in claims)
    if 0 < quotes < len(claims):
        return f"{len(claims)} figures and quotes"
    return counted(len(claims), "quote" if quotes else "figure")


def _named(claim: Finding) -> str:
    text = " ".join(claim.text.split())
    text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1].rstrip()}…"
    return f"“{text}”" if claim.kind is Claim.QUOTE else text
