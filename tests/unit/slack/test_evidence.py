"""What people see of the evidence of an answer: the line below it, and the modal behind the button."""

from __future__ import annotations

from typing import Any

from bot.core.answers import Source
from bot.features.evidence import words as evidence_words
from bot.features.evidence.feature import SHOW_EVIDENCE
from bot.features.evidence.modal import (
    CLAIMS_OF_A_PAGE,
    EvidencePage,
    ShownClaim,
    ShownPlace,
    evidence_modal,
)
from bot.features.evidence.run_part import with_findings
from bot.library.tracing.findings import (
    Claim,
    Finding,
    Findings,
    Operation,
    Place,
    Reason,
    Unreadable,
    Verdict,
)
from bot.runs.results.result_markdown import result_text
from bot.slack.ui.links import LinkGate
from bot.slack.ui.outcome import render, render_shared
from tests.unit.slack.judge import accept_all, accept_view, shown_text
from tests.unit.slack.samples import REQUEST, answer, outcome

HOSTILE = "<!channel> *x* <https://evil.example|4> `@Ada`"
PAGE = "https://page.example/a"
SQL = "SELECT region, units FROM tbl_k3x8a2qd"


def finding(text: str, verdict: Verdict, *places: Place, **more: Any) -> Finding:
    more = {"kind": Claim.FIGURE} | more
    return Finding(field="summary", text=text, verdict=verdict, places=places, **more)


NORTH = Place(call_id="c1", tool="query_table", handle="tbl_k3x8a2qd", row="North", column="units",
              text="4722", excerpt="North,4722")  # fmt: skip
SOUTH = NORTH.model_copy(update={"row": "South", "text": "3048", "excerpt": "South,3048"})
ON_PAGE = Place(call_id="c2", tool="fetch_page", source="A page", url=PAGE, link=f"{PAGE}#:~:text=90",
                line=3, text="90", excerpt=f"It is 90. {HOSTILE}")  # fmt: skip
WRITTEN = Place(call_id="", text="12", excerpt="about 12?")
TRACED = Findings(
    items=(
        finding("4,722", Verdict.READ, NORTH, reference="tbl_k3x8a2qd.units[region=North]"),
        finding("90", Verdict.READ, ON_PAGE),
        finding("102", Verdict.WORKED_OUT, ON_PAGE, WRITTEN, formula="90 + 12 = 102",
                operation=Operation.SUM),
        finding("3,048", Verdict.READ, SOUTH),
        finding("unlikely", Verdict.UNTRACED, reason=Reason.NOT_FOUND),
        finding(HOSTILE, Verdict.UNTRACED, kind=Claim.QUOTE, reason=Reason.NOT_FOUND, warned=True),
    )
)  # fmt: skip
LINE = "4 figures: 1 filled in from results, 2 found in the sources, 1 worked out from these."


def labels(part: Any) -> list[str]:
    rows = [block["elements"] for block in part.blocks if block["type"] == "actions"]
    return [
        each["text"]["text"] if "text" in each else each["type"] for row in rows for each in row
    ]


def test_an_answer_says_where_its_figures_come_from_and_offers_the_evidence() -> None:
    """23.3, M5: one line, or in its place a warning, in which the model's text notifies nobody and
    links nowhere."""
    rendered = render(with_findings(outcome(), TRACED, is_shown=True), REQUEST, [SHOW_EVIDENCE])
    accept_all(rendered)
    text = shown_text(rendered)
    assert ":warning: This quote is in no source that I read: " in text
    assert LINE not in text
    assert "unlikely" not in text
    assert "<!channel>" not in text
    assert "<https://evil" not in text
    assert evidence_words.SHOW() in labels(rendered.parts[-1])


def test_nothing_is_shown_of_what_is_only_measured_or_was_never_traced() -> None:
    """23.2: in the mode "measure", under old answers, and where there is nothing to trace."""
    plain = render(outcome(), REQUEST)
    for traced, is_shown in ((TRACED, False), (Findings(), True)):
        traced_outcome = with_findings(outcome(), traced, is_shown=is_shown)
        rendered = render(traced_outcome, REQUEST, [SHOW_EVIDENCE])
        assert shown_text(rendered) == shown_text(plain)
        assert evidence_words.SHOW() not in labels(rendered.parts[-1])


def test_every_kind_of_answer_and_a_shared_one_has_the_line() -> None:
    """23.3: a result of a schema and a private answer that is shared say it too; the shared one has no
    button, because its evidence belongs to one person."""
    data = outcome({"total": 5}, response_type="GivenResult")
    shared = render_shared(with_findings(outcome(answer()), TRACED, is_shown=True), REQUEST)
    for rendered in (render(with_findings(data, TRACED, is_shown=True), REQUEST), shared):
        accept_all(rendered)
        assert ":warning: This quote is in no source" in shown_text(rendered)
    assert labels(shared.parts[-1]) == []


def sourced(quote: str | None, *found: Finding, url: str | None = PAGE, shown: bool = True) -> str:
    """The line of one source, in Slack and, if it differs in more than form, in the terminal."""
    source = Source(title="A page", url=url, supports="the term", quote=quote)
    result = answer(sources=[source], confidence="high")
    links = frozenset(
        {PAGE, "https://page.example/a.pdf"} | {p.link for f in found for p in f.places}
    )
    given = with_findings(outcome(result, links=links), Findings(items=found), is_shown=shown)
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


def modal(
    *claims: ShownClaim,
    number: int = 0,
    pages: int = 1,
    unreadable: Unreadable = Unreadable.NOTHING,
) -> dict[str, Any]:
    page = EvidencePage("run_1", number, pages, "5 figures.", unreadable, claims)
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


def groups(view: dict[str, Any]) -> list[list[str]]:
    """The heads, queries and items of each group of a modal, a line each."""

    def line(part: dict[str, Any]) -> list[str]:
        if part["type"] == "rich_text_list":
            return [f"- {''.join(line(item))}" for item in part["elements"]]
        return ["".join(element["text"] for element in part["elements"])]

    blocks = [block for block in view["blocks"] if block["type"] == "rich_text"]
    return [[text for part in block["elements"] for text in line(part)] for block in blocks]


def shown(found: Finding) -> ShownClaim:
    places = (ShownPlace(place, SQL if place.call_id == "c1" else "") for place in found.places)
    return ShownClaim(found, tuple(places))


def test_the_modal_shows_each_query_once_with_its_figures_below_it() -> None:
    """23.3, E6: row, column and value of each figure, link and words of a page, the formula of what was
    worked out; at the end a plain list of what was not found, with what readers were warned of first."""
    in_order = sorted(TRACED.items, key=lambda each: (not each.places, not each.warned))
    view = modal(*map(shown, in_order))
    assert groups(view) == [
        [
            "query table",
            SQL,
            "- 4,722 · row North, column units: 4,722",
            "- 3,048 · row South, column units: 3,048",
        ],
        [
            "A page",
            f"- 90 · passage: It is 90. {HOSTILE}",
            "- 102 · 90 + 12 = 102 · passage · what people wrote here, message",
        ],
        [evidence_words.NOT_FOUND(), f"- “{HOSTILE}”", "- unlikely"],
    ]
    text = text_of(view)
    assert evidence_words.INTRO() in text
    assert "verified" not in text
    links = [e for b in view["blocks"] for s in b.get("elements", ())
             for e in json_links(s)]  # fmt: skip
    assert links == [PAGE, f"{PAGE}#:~:text=90", f"{PAGE}#:~:text=90"]


def json_links(part: Any) -> list[str]:
    """The addresses of all links in a part of a view."""
    if isinstance(part, dict):
        own = [part["url"]] if part.get("type") == "link" else []
        return own + [url for each in part.values() for url in json_links(each)]
    return [url for each in part for url in json_links(each)] if isinstance(part, list) else []


def test_the_modal_says_why_something_was_not_found() -> None:
    """23.3: what code cannot search, and reasons of earlier releases."""
    other_unit = finding("90 €", Verdict.UNTRACED, reason=Reason.OTHER_UNIT)
    unknown = finding("77", Verdict.UNKNOWN)
    view = modal(*map(shown, (other_unit, unknown)), unreadable=Unreadable.IMAGES)
    assert groups(view) == [
        [
            evidence_words.NOT_FOUND(),
            evidence_words.UNREADABLE[Unreadable.IMAGES](),
            "- 90 € · found with another unit",
            "- 77",
        ]
    ]


def test_a_figure_beside_the_wrong_name_is_shown_in_its_own_row() -> None:
    """E3: below its query, to those who may see it."""
    found = finding("4,722", Verdict.READ, NORTH, reason=Reason.OTHER_ROW, warned=True)
    line = "- 4,722 · found in another row · row North, column units: 4,722"
    assert groups(modal(shown(found))) == [["query table", SQL, line]]
    assert "North" not in text_of(modal(ShownClaim(found, (ShownPlace(None),))))


def test_a_place_that_the_viewer_may_not_see_shows_nothing_of_it() -> None:
    """23.3: the claim stays, as the answer says it, without source, query or words."""
    view = modal(ShownClaim(TRACED.items[0], (ShownPlace(None, "SELECT secret"),)))
    assert groups(view) == [[evidence_words.HIDDEN(), "- 4,722"]]
    assert "secret" not in text_of(view)


def test_the_largest_page_is_within_the_limits_of_slack() -> None:
    """23.3: the longest claims with the most places, and buttons for the pages around it."""
    long = Place(call_id="c", tool="t" * 64, source="s" * 300, row="r" * 300, excerpt="e" * 160)
    claim = finding("9" * 2_000, Verdict.WORKED_OUT, *[long] * 4, formula="1 + " * 500)
    claims = [
        ShownClaim(claim, tuple([ShownPlace(long, f"{n} " + "q" * 5_000)] * 4), left_out=4)
        for n in range(CLAIMS_OF_A_PAGE)
    ]
    view = modal(*claims, number=1, pages=9)
    [row] = [block for block in view["blocks"] if block["type"] == "actions"]
    assert [each["value"] for each in row["elements"]] == ["run_1:0", "run_1:2"]
    missing = finding("9" * 2_000, Verdict.UNTRACED, reason=Reason.NOTHING_READ)
    assert len(groups(modal(*[ShownClaim(missing)] * CLAIMS_OF_A_PAGE))) == 1
