"""The line under an answer and its warnings, in words that people read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bot.app.features import all_features
from bot.core.outcome import Outcome, RunStatus, StopReason, Totals, Trust
from bot.core.request import Request
from bot.features.evidence.run_part import with_findings
from bot.features.evidence.trust import evidence_line
from bot.library.tracing.findings import (
    Claim,
    FigureCounts,
    Finding,
    Findings,
    Place,
    Reason,
    Unreadable,
    Verdict,
)
from bot.runs.results.result_trust import trust_in
from bot.settings import Settings
from bot.slack.ui.outcome import render, render_shared
from bot.slack.ui.parts import Rendered
from bot.text.translation import reader
from tests.support.redis import asked

QUERY = Place(call_id="c1", tool="query_table", row="North", column="revenue", text="1234")
PERSON = Place(call_id="", text="18")


def claim(text: str, verdict: Verdict = Verdict.READ, *places: Place, **more: Any) -> Finding:
    more = {"field": "summary", "kind": Claim.FIGURE} | more
    return Finding(text=text, verdict=verdict, places=places, **more)


def read(text: str) -> Finding:
    return claim(text, Verdict.READ, QUERY)


def filled(text: str) -> Finding:
    return claim(text, Verdict.READ, QUERY, reference=f"tbl_k3x8a2qd.revenue[{text}]")


def worked_out(text: str) -> Finding:
    return claim(text, Verdict.WORKED_OUT, QUERY, formula=f"{text} = {text}")


def missing(text: str, **more: Any) -> Finding:
    return claim(text, Verdict.UNTRACED, **more)


def quote(text: str, verdict: Verdict = Verdict.READ, **more: Any) -> Finding:
    return claim(text, verdict, QUERY, kind=Claim.QUOTE, **more)


def found(*items: Finding, **more: Any) -> Findings:
    return Findings(items=items, **more)


SIX = [filled(str(number)) for number in range(100, 106)]
SOURCE = {"title": "a", "url": None, "supports": "", "quote": None}
ADDRESS = claim("https://a.example", Verdict.READ, QUERY, kind=Claim.ADDRESS)
IMAGES = Unreadable.IMAGES


@pytest.mark.parametrize(
    ("findings", "line"),
    [
        (found(), ""),
        (found(*SIX, read("7,001"), read("8,001")), "8 figures: 6 filled in from results, 2 found in the sources."),
        (found(*SIX), "6 figures: filled in from results."),
        (found(read("14")), "1 figure: found in the sources."),
        (found(worked_out("14")), "1 figure: worked out from what was read."),
        (
            found(*SIX, worked_out("12 %"), quote("we agreed on it")),
            "8 figures and quotes: 6 filled in from results, 1 found in the sources, 1 worked out from these.",
        ),
        (found(quote("we agreed on it")), "1 quote: found in the sources."),
        (
            found(read("14"), quote("we agree", Verdict.NEAR_QUOTE)),
            "2 figures and quotes: 1 found in the sources, 1 not word for word.",
        ),
        # What was not found is not mentioned, and the line does not count it.
        (found(read("14"), missing("4,401")), "1 figure: found in the sources."),
        (found(missing("4,401")), ""),
        (found(read("14"), missing("4,401", warned=True)), "1 figure: found in the sources."),
        # What the answer repeats counts once.
        (found(filled("100"), read("100"), filled("100")), "1 figure: filled in from results."),
        (found(read("14"), missing("14")), ""),
        # Figures that the question itself has, and addresses, which are the sources.
        (found(claim("18", Verdict.READ, PERSON), ADDRESS), ""),
        (found(claim("4,383", Verdict.WORKED_OUT, PERSON)), "1 figure: worked out from what was read."),
        # Only an image explains a figure that is in no text.
        (found(claim("77", Verdict.UNKNOWN), unreadable=IMAGES), "1 figure: from the image, not checked."),
        (
            found(filled("9"), claim("77", Verdict.UNKNOWN), unreadable=IMAGES),
            "2 figures: 1 filled in from results, 1 from the image, not checked.",
        ),
        (found(claim("77", Verdict.UNKNOWN), unreadable=Unreadable.HOSTED), ""),
        (Findings(nothing_read=True), ""),  # of an earlier release
    ],
)  # fmt: skip
def test_the_line_says_where_figures_come_from(findings: Findings, line: str) -> None:
    """23.3: one calm line with its numbers right; nothing where nothing was found."""
    assert evidence_line(findings) == line


def outcome(findings: Findings | None = None, *, shown: bool = True, **more: Any) -> Outcome:
    result = {"summary": "It is so.", "sources": [], "gaps": [], "confidence": "high"}
    result |= {name: more.pop(name) for name in ("sources", "gaps", "confidence") if name in more}
    known = {
        "run_id": "run_1",
        "status": RunStatus.SUCCESS,
        "stop_reason": StopReason.COMPLETED,
        "result": result,
        "totals": Totals(tool_calls=1),
    }
    return with_findings(Outcome.model_validate(known | more), findings, is_shown=shown)


@pytest.mark.parametrize(
    ("findings", "sentences"),
    [
        (
            found(quote("West is the best.", Verdict.UNTRACED, warned=True)),
            ["This quote is in no source that I read: “West is the best.”."],
        ),
        (
            found(quote("Agreed.", Verdict.UNTRACED, reason=Reason.OTHER_SOURCE, warned=True)),
            ["Quoted from another source than the one named: “Agreed.”."],
        ),
        (
            found(missing("https://made.example", kind=Claim.ADDRESS, warned=True),
                  missing("INV-2291", kind=Claim.ID, warned=True)),
            ["Not found in any source: https://made.example; INV-2291."],
        ),
        (
            found(missing("2.1 million", warned=True, reason=Reason.NOTHING_READ)),
            ["Nothing was looked up for this figure: 2.1 million."],
        ),
        (
            found(*(missing(str(n), warned=True, reason=Reason.NOTHING_READ) for n in range(101, 106))),
            ["Nothing was looked up for these figures: 101; 102; 103; and 2 more."],
        ),
        (
            found(claim("1,234", Verdict.READ, QUERY, reason=Reason.OTHER_ROW, warned=True)),
            ["In the results, 1,234 belongs to North: check the name beside it."],
        ),
        (found(missing("4,401"), quote("made up", Verdict.UNTRACED)), []),  # not sure: not warned
    ],
)  # fmt: skip
def test_readers_are_warned_only_of_what_is_surely_wrong(
    findings: Findings, sentences: list[str]
) -> None:
    """23.3: a plain sentence for each kind, with at most three named; nothing of what was only not
    found."""
    assert trust_in(outcome(findings)) == Trust(warnings=tuple(sentences))


def test_a_warning_is_short_and_names_no_row_of_a_personal_account() -> None:
    """23.3, S7: what an account returned is shown to its owner only."""
    item = claim(f"9{'9' * 200}", Verdict.UNTRACED, QUERY, reason=Reason.OTHER_ROW, warned=True)
    [warning] = trust_in(outcome(found(item), accounts=("CRM",))).warnings
    assert "North" not in warning
    assert len(warning) < 160


def test_nothing_is_said_under_the_confirmation_of_a_change() -> None:
    """E6: "Scheduled for 9:00." has no line, unless the answer tells of what was looked up too."""
    time = read("9:00")
    assert trust_in(outcome(found(time), changed=True)) == Trust()
    assert trust_in(outcome(found(filled("1,234")), changed=True)).line
    assert trust_in(outcome(found(time), changed=True, sources=[SOURCE])).line


UNSURE = "I am not sure of this: please check it before you rely on it."
FAIRLY_SURE = "I am fairly sure of this, but not certain."
QUESTION = "I am not sure that I understood the question: please check that these are the figures you meant."
FILLED = "6 figures: filled in from results."
WARNED = missing("INV-2291", kind=Claim.ID, warned=True)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (outcome(confidence="low"), UNSURE),
        (outcome(confidence="medium"), FAIRLY_SURE),
        (outcome(confidence="medium", totals=Totals()), ""),  # a translation
        (outcome(confidence="high"), ""),
        # Figures from results are not in doubt; the reading of the question may be.
        (outcome(found(*SIX), confidence="low"), f"{FILLED} {QUESTION}"),
        (outcome(found(*SIX), confidence="medium"), FILLED),
        (outcome(found(claim("7", Verdict.UNKNOWN), unreadable=IMAGES), confidence="low"),
         f"1 figure: from the image, not checked. {UNSURE}"),
        # What is missing or wrong is said in its own words.
        (outcome(confidence="medium", gaps=["No figures for May."]), ""),
        (outcome(found(WARNED), confidence="medium"), ""),
        (outcome(found(WARNED), confidence="low"), UNSURE),
        (outcome(found(*SIX, WARNED), confidence="high"), ""),
        # Readers are told nothing of what is only measured; a stored outcome may have no findings.
        (outcome(found(*SIX, WARNED), shown=False, confidence="low"), UNSURE),
        (outcome(None, confidence="low"), UNSURE),
        (outcome(found(*SIX), response_type="GivenResult", confidence="low"), FILLED),
        (outcome(found(*SIX), result=None), ""),
    ],
)  # fmt: skip
def test_one_place_says_how_far_to_trust_an_answer(given: Outcome, line: str) -> None:
    """M5, P2: confidence, gaps, warnings and the line about figures never contradict each other."""
    assert trust_in(given).line == line


def test_the_line_is_in_the_language_of_the_reader() -> None:
    """U9: the whole of it."""
    with reader("de-DE"):
        given = outcome(found(*SIX, read("7")), confidence="low")
        assert trust_in(given).line.startswith(
            "7 Zahlen: 6 aus Ergebnissen übernommen, 1 in den Quellen gefunden. Ich bin mir nicht sicher"
        )


@pytest.mark.parametrize("draw", [render, render_shared])
def test_an_outcome_of_an_earlier_release_is_drawn_with_its_evidence(
    draw: Callable[[Outcome, Request], Rendered],
) -> None:
    """It was stored without what readers are told, and is posted, shared or redrawn after the upgrade."""
    all_features(Settings(_env_file=None))
    page = Place(call_id="c2", tool="read_file", source="a", page="3")
    findings = found(claim("14", Verdict.READ, page), WARNED)
    with reader("de-DE"):
        today = outcome(findings, sources=[SOURCE], locale="de-DE")
    assert all((today.trust.line, today.trust.warnings, today.trust.places))
    earlier = Outcome.model_validate_json(today.model_dump_json(exclude={"trust"}))
    assert earlier.trust == Trust()
    request = asked()
    assert "Seite 3" in str(draw(today, request).parts)
    assert draw(earlier, request) == draw(today, request)


def test_figures_are_counted_by_where_they_come_from() -> None:
    """Issue 33.6: for `bot eval` and `bot usage`; addresses, and what may be in an image, count nowhere."""
    one = found(*SIX, read("7"), worked_out("8"), missing("9"), ADDRESS, claim("1", Verdict.UNKNOWN),
                sent_back=2)  # fmt: skip
    counts = FigureCounts.of(one)
    assert counts == FigureCounts(filled_in=6, found=1, worked_out=1, not_found=1, sent_back=2)
    assert (counts + counts).total == 18


def test_a_cell_that_is_filled_in_twice_counts_once() -> None:
    """evidence 3: in a German sentence and in a table, which writes it otherwise."""
    cell = QUERY.model_copy(update={"handle": "tbl_k3x8a2qd"})
    twice = [
        claim(text, Verdict.READ, cell, reference="tbl_k3x8a2qd.revenue[North]")
        for text in ("1.234", "1,234")
    ]
    assert evidence_line(found(*twice)) == "1 figure: filled in from results."
