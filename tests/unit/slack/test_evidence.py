"""What people see of the evidence of an answer: the line below it, and the modal behind the button."""

from __future__ import annotations

from typing import Any

from bot.core.answers import Source
from bot.core.findings import (
    Claim,
    Finding,
    Findings,
    Operation,
    Place,
    Reason,
    Unreadable,
    Verdict,
)
from bot.core.text.result_markdown import result_text
from bot.slack.render import evidence_words, words
from bot.slack.render.evidence import (
    CLAIMS_OF_A_PAGE,
    EvidencePage,
    ShownClaim,
    ShownPlace,
    evidence_modal,
)
from bot.slack.render.links import LinkGate
from bot.slack.render.outcome import render, render_shared
from tests.unit.slack.judge import accept_all, accept_view, shown_text
from tests.unit.slack.samples import REQUEST, answer, outcome

HOSTILE = "<!channel> *x* <https://evil.example|4> `@Ada`"
PAGE = "https://page.example/a"


def finding(text: str, verdict: Verdict, *places: Place, **more: Any) -> Finding:
    return Finding(
        field="summary", text=text, kind=Claim.FIGURE, verdict=verdict, places=places, **more
    )


NORTH = Place(call_id="c1", tool="read_file", source="sales.csv", row="North", column="units",
              text="4722", excerpt="North,4722")  # fmt: skip
ON_PAGE = Place(call_id="c2", tool="fetch_page", source="A page", url=PAGE, link=f"{PAGE}#:~:text=90",
                line=3, text="90", excerpt=f"It is 90. {HOSTILE}")  # fmt: skip
WRITTEN = Place(call_id="", text="12", excerpt="about 12?")
TRACED = Findings(
    items=(
        finding("4,722", Verdict.READ, NORTH),
        finding("90", Verdict.READ, ON_PAGE),
        finding("102", Verdict.WORKED_OUT, ON_PAGE, WRITTEN, formula="90 + 12 = 102",
                operation=Operation.SUM),
        finding(HOSTILE, Verdict.UNTRACED, reason=Reason.NOT_FOUND),
        finding("77", Verdict.UNKNOWN),
    )
)  # fmt: skip


def labels(part: Any) -> list[str]:
    rows = [block["elements"] for block in part.blocks if block["type"] == "actions"]
    return [each["text"]["text"] for row in rows for each in row]


def test_an_answer_says_what_it_could_not_trace_and_offers_the_evidence() -> None:
    """23.3: one line, in which the model's text notifies nobody and links nowhere."""
    rendered = render(outcome(traced=TRACED, traced_shown=True), REQUEST)
    accept_all(rendered)
    text = shown_text(rendered)
    assert "I could not trace 1 of 5:" in text
    assert "<!channel>" not in text
    assert "<https://evil" not in text
    assert words.SHOW_EVIDENCE() in labels(rendered.parts[-1])


def test_nothing_is_shown_of_what_is_only_measured_or_was_never_traced() -> None:
    """23.2: in the mode "measure", under old answers, and where there is nothing to trace."""
    plain = render(outcome(), REQUEST)
    for traced, is_shown in ((TRACED, False), (Findings(), True)):
        rendered = render(outcome(traced=traced, traced_shown=is_shown), REQUEST)
        assert shown_text(rendered) == shown_text(plain)
        assert words.SHOW_EVIDENCE() not in labels(rendered.parts[-1])


def test_every_kind_of_answer_and_a_shared_one_has_the_line() -> None:
    """23.3: a result of a schema and a private answer that is shared say it too; the shared one has no
    button, because its evidence belongs to one person."""
    changes: dict[str, Any] = {"traced": TRACED, "traced_shown": True}
    data = outcome({"total": 5}, response_type="GivenResult", **changes)
    shared = render_shared(outcome(answer(), **changes), REQUEST)
    for rendered in (render(data, REQUEST), shared):
        accept_all(rendered)
        assert "I could not trace 1 of 5:" in shown_text(rendered)
    assert labels(shared.parts[-1]) == []


def sourced(quote: str | None, *found: Finding, url: str | None = PAGE, shown: bool = True) -> str:
    """The line of one source, in Slack and, if it differs in more than form, in the terminal."""
    source = Source(title="A page", url=url, supports="the term", quote=quote)
    result = answer(sources=[source], confidence="high")
    links = frozenset(
        {PAGE, "https://page.example/a.pdf"} | {p.link for f in found for p in f.places}
    )
    given = outcome(result, traced=Findings(items=found), traced_shown=shown, links=links)
    rendered = render(given, REQUEST)
    accept_all(rendered)
    [line] = [each for each in shown_text(rendered).split("\n") if each.startswith("1. ")]
    assert line.count("“") == result_text(given).count("“")
    return line


def test_a_source_has_its_quote_and_a_link_to_where_code_found_it() -> None:
    """23.3: the words on the page, the page of a PDF, the row of a file; up to 25 words; the plain address
    where nothing or more than one place was found, or readers are told nothing."""
    quoted = Finding(field="sources.0.quote", text="it is 90", kind=Claim.QUOTE,
                     verdict=Verdict.READ, places=(ON_PAGE,))  # fmt: skip
    deep = f"{PAGE}#:~:text=90"
    assert sourced("it is 90", quoted) == f"1. [A page]({deep}) — the term: “it is 90”"
    missing = quoted.model_copy(update={"verdict": Verdict.UNTRACED, "places": ()})
    assert f"({PAGE})" in sourced("it is 90", missing)
    assert f"({PAGE})" in sourced("it is 90", quoted, shown=False)
    assert sourced("w " * 30).endswith(f": “{'w ' * 25}”".replace(" ”", "…”"))
    read = finding("90", Verdict.READ, ON_PAGE)
    other = ON_PAGE.model_copy(update={"line": 9})
    assert deep in sourced(None, read)
    assert deep not in sourced(None, read, finding("91", Verdict.READ, other))
    pdf = "https://page.example/a.pdf"
    on_page = Place(call_id="c", source="A page", url=pdf, page="3")
    assert f"({pdf}#page=3), page 3" in sourced(None, finding("90", Verdict.READ, on_page), url=pdf)
    row = NORTH.model_copy(update={"source": "A page"})
    assert "1. A page, row North — " in sourced(None, finding("1", Verdict.READ, row), url=None)


def modal(*claims: ShownClaim, number: int = 0, pages: int = 1) -> dict[str, Any]:
    page = EvidencePage("run_1", number, pages, "5 figures.", Unreadable.IMAGES, True, claims)
    made = evidence_modal(page, LinkGate(frozenset({PAGE, f"{PAGE}#:~:text=90"})))
    accept_view(made, "modal")
    return made


def text_of(view: dict[str, Any]) -> str:
    """All texts of a modal, in order."""

    def texts(value: Any) -> list[str]:
        if isinstance(value, dict):
            own = [value["text"]] if isinstance(value.get("text"), str) else []
            return own + [text for each in value.values() for text in texts(each)]
        return [text for each in value for text in texts(each)] if isinstance(value, list) else []

    return "\n".join(texts(view["blocks"]))


def test_the_modal_shows_the_place_the_query_and_the_arithmetic_of_each_claim() -> None:
    """23.3: file and row, link, words of the place, formula, and why something was not found; with the
    sentence that says what this does not show."""
    places = {
        NORTH.source: ShownPlace(NORTH, "SELECT 1"),
        ON_PAGE.source: ShownPlace(ON_PAGE),
        "": ShownPlace(WRITTEN),
    }
    claims = [ShownClaim(f, tuple(places[p.source] for p in f.places)) for f in TRACED.items]
    view = modal(*claims)
    text = text_of(view)
    for part in (
        "sales.csv", "row North, column units", "SELECT 1", "North,4722", "90 + 12 = 102",
        evidence_words.WRITTEN(), evidence_words.REASONS[Reason.NOT_FOUND](),
        evidence_words.UNREADABLE[Unreadable.IMAGES](), evidence_words.INTRO_UNTRACED(),
    ):  # fmt: skip
        assert part in text
    assert "verified" not in text
    links = [e for b in view["blocks"] for s in b.get("elements", ())
             for e in s.get("elements", ()) if e["type"] == "link"]  # fmt: skip
    assert {each["url"] for each in links} == {f"{PAGE}#:~:text=90"}


def test_a_place_that_the_viewer_may_not_see_shows_nothing_of_it() -> None:
    """23.3: the claim stays, as the answer says it, without source, query or words."""
    view = modal(ShownClaim(TRACED.items[0], (ShownPlace(None, "SELECT secret"),)))
    text = text_of(view)
    assert evidence_words.HIDDEN() in text
    assert "sales.csv" not in text
    assert "secret" not in text


def test_the_largest_page_is_within_the_limits_of_slack() -> None:
    """23.3: the longest claims with the most places, and buttons for the pages around it."""
    long = Place(call_id="c", tool="t" * 64, source="s" * 300, row="r" * 300, excerpt="e" * 160)
    claim = finding("9" * 2_000, Verdict.WORKED_OUT, *[long] * 4, formula="1 + " * 500)
    shown = ShownClaim(claim, tuple([ShownPlace(long, "q" * 5_000)] * 4), left_out=4)
    view = modal(*[shown] * CLAIMS_OF_A_PAGE, number=1, pages=9)
    [row] = [block for block in view["blocks"] if block["type"] == "actions"]
    assert [each["value"] for each in row["elements"]] == ["run_1:0", "run_1:2"]
