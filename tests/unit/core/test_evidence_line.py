"""The line under an answer, in words that people read."""

from __future__ import annotations

import pytest

from bot.core.findings import Claim, Finding, Findings, Verdict
from bot.core.text.evidence_line import evidence_line

READ, WORKED_OUT, NEAR = Verdict.READ, Verdict.WORKED_OUT, Verdict.NEAR_QUOTE
UNTRACED, UNKNOWN = Verdict.UNTRACED, Verdict.UNKNOWN


def found(*claims: tuple[str, Verdict] | tuple[str, Verdict, Claim]) -> Findings:
    items = (
        Finding(field="summary", text=text, verdict=verdict, kind=kind[0] if kind else Claim.FIGURE)
        for text, verdict, *kind in claims
    )
    return Findings(items=tuple(items))


FIGURES = [(str(n), READ) for n in range(100, 110)]
QUOTE = ("we agreed on it", READ, Claim.QUOTE)


@pytest.mark.parametrize(
    ("findings", "line"),
    [
        (found(), ""),
        (Findings(nothing_read=True), "Nothing was looked up for this."),
        (found(("14", READ)), "1 figure: read."),
        (found(("14", READ), ("15", READ)), "2 figures: all read."),
        (found(("14", WORKED_OUT)), "1 figure: worked out from what I read."),
        (found(QUOTE), "1 quote: read."),
        (
            found(*FIGURES, QUOTE, *((f"{n} %", WORKED_OUT) for n in (1, 2, 3))),
            "14 figures and quotes: 11 read, 3 worked out from them.",
        ),
        (
            found(*FIGURES, QUOTE, ("we agree", NEAR, Claim.QUOTE)),
            "12 figures and quotes: 11 read, 1 not word for word.",
        ),
        (found(("14", READ), ("15", UNKNOWN)), "2 figures: 1 read, 1 not checked."),
        (found(("15", UNKNOWN)), ""),
        (found(("4,401", UNTRACED)), "I could not trace 4,401."),
        (found(("We ship.", UNTRACED, Claim.QUOTE)), "I could not trace “We ship.”."),
        (
            found(*FIGURES, ("4,401", UNTRACED), ("12 %", UNTRACED)),
            "I could not trace 2 of 12: 4,401; 12 %.",
        ),
        # What the answer repeats counts once, and the worst of it is told.
        (found(("14", READ), ("14", UNTRACED), ("15", READ)), "I could not trace 1 of 2: 14."),
        # Addresses that were found are the sources below the answer.
        (found(("14", READ), ("https://a.example", READ, Claim.ADDRESS)), "1 figure: read."),
        (
            found(("14", READ), ("https://made.example", UNTRACED, Claim.ADDRESS)),
            "I could not trace 1 of 2: https://made.example.",
        ),
    ],
)
def test_the_line_says_what_the_answer_rests_on(findings: Findings, line: str) -> None:
    """23.3: one plain line with its numbers right, never "verified"; nothing where nothing is to say."""
    assert evidence_line(findings) == line


def test_a_long_line_is_cut() -> None:
    """23.3: eight claims are named, and each shortly."""
    line = evidence_line(found(*((f"{n} {'x' * 200}", UNTRACED) for n in range(10, 25))))
    assert line.startswith("I could not trace 15 of 15: 10 xxx")
    assert line.endswith("…; and 7 more.")
    assert len(line) < 8 * 85 + 60
