"""The check of an answer: what counts as read, what follows from it, what is untraced (issue 23, row 1)."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

from bot.core.answers import Answer, Source, Table
from bot.core.findings import Finding, Findings, Operation, Reason, Unreadable, Verdict
from bot.evidence.check import check
from bot.evidence.entries import Entry, EntryKind
from bot.evidence.fields import fields_of
from bot.evidence.indexing import index

SALES = (
    "handle: tbl_gxw99x · 4 rows × 3 columns · source: sales.csv\n"
    "columns: region VARCHAR, units BIGINT, revenue DOUBLE\n"
    "region,units,revenue\nNorth,4239,220919.5\nEast,3659,191390.5\nSouth,2951,156952.0\n"
    "West,1815,95455.0"
)
CONTRACT = (
    "handle: doc_1 · 2 pages · 9 lines · source: contract.pdf\n\n[page 1 of 2]\n"
    "3. Price. EUR 640 per cubic metre of oak.\n\n[page 2 of 2]\n"
    "6. Termination. Either side may end the agreement with 90 days notice."
)
LINK = "https://example.slack.com/archives/C1/p1"
THREAD = f"1 message · times in UTC\n[2026-11-16 08:12] Ines: They want 48,600 USD by Friday. (link: {LINK})"


def read(*texts: str, kind: EntryKind = EntryKind.READ, **more: Any) -> list[Entry]:
    return [Entry(f"call_{n}", "tool", text, kind, **more) for n, text in enumerate(texts)]


def traced(said: str | Answer, *entries: Entry, **options: Any) -> Findings:
    answer = Answer(summary=said) if isinstance(said, str) else said
    return check(fields_of(answer.model_dump()), [index(each) for each in entries], **options)


def only(found: Findings) -> Finding:
    [finding] = found.items
    return finding


def test_a_figure_that_was_read_has_its_place() -> None:
    """E1: row, column, line, handle and source of a figure are told."""
    finding = only(traced("North made 220,919.50.", *read(SALES)))
    [place] = finding.places
    assert finding.verdict is Verdict.READ
    assert (place.row, place.column, place.line, place.text) == ("North", "revenue", 4, "220919.5")
    assert (place.source, place.excerpt) == ("sales.csv", "North,4239,220919.5")


def test_pages_and_links_of_a_place_are_told() -> None:
    """A document's page, and the link at the end of a message."""
    [page] = only(traced("Oak costs EUR 640.", *read(CONTRACT))).places
    assert (page.source, page.page) == ("contract.pdf", "1")
    [message] = only(traced("They want $48,600.", *read(THREAD))).places
    assert (message.link, message.source) == (LINK, "[2026-11-16 08:12] Ines")


@pytest.mark.parametrize(
    ("said", "operation", "formula"),
    [
        ("In total 664,717.", Operation.SUM, "220,919.5 + 191,390.5 + 156,952 + 95,455 = 664,717"),
        (
            "On average 166,179.25.",
            Operation.MEAN,
            "(220,919.5 + 191,390.5 + 156,952 + 95,455) ÷ 4 = 166,179.25",
        ),
        (
            "North, 220,919.50, has a share of 33.2 %.",
            Operation.SHARE,
            "220,919.5 ÷ 664,717 = 33.2351 %",
        ),
        (
            "North (220,919.50) is 15.4 % above East (191,390.50).",
            Operation.GROWTH,
            "220,919.5 ÷ 191,390.5 − 1 = 15.4287 %",
        ),
        (
            "North (220,919.50) made 29,529 more than East (191,390.50).",
            Operation.DIFFERENCE,
            "220,919.5 − 191,390.5 = 29,529",
        ),
        ("North sold 4,239 units for 52.12 each.", Operation.RATIO, "220,919.5 ÷ 4,239 = 52.1159"),
    ],
)
def test_arithmetic_is_repeated_and_shown(said: str, operation: Operation, formula: str) -> None:
    """Rule 6: what follows by plain arithmetic is worked out, with its operands."""
    [finding] = traced(said, *read(SALES)).of(Verdict.WORKED_OUT)
    assert (finding.operation, finding.formula) == (operation, formula)
    assert finding.places


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("North made 220,991.50.", Reason.NOT_FOUND),
        ("South made 220,919.50.", Reason.OTHER_ROW),
        ("Oak costs $640.", Reason.OTHER_UNIT),
        ("The notice is 90 weeks.", Reason.OTHER_UNIT),
        ("Oak costs −640.", Reason.OTHER_SIGN),
        ("North made −220,919.50.", Reason.OTHER_SIGN),
        ("It ends on 12 May 2027.", Reason.NOT_FOUND),
        ("See INC-4012.", Reason.NOT_FOUND),
        ("See https://collect.example/x.", Reason.NOT_FOUND),
        ("It says “either side may leave whenever it likes”.", Reason.NOT_FOUND),
    ],
)
def test_what_was_not_read_is_untraced_and_it_is_told_why(said: str, reason: Reason) -> None:
    """Rules 2 to 9: a changed digit, row, unit, sign, date, id, address or quote."""
    finding = only(traced(said, *read(SALES, CONTRACT)))
    assert (finding.verdict, finding.reason) == (Verdict.UNTRACED, reason)


def test_weak_signs_are_no_reason_to_send_an_answer_back() -> None:
    """A row's name, a unit or a sign are told to the reader, but the answer goes out."""
    weak = traced("South made 220,919.50. Oak costs $640.", *read(SALES, CONTRACT))
    assert [each.is_objection for each in weak.items] == [False, False]
    assert only(traced("North made 220,991.50.", *read(SALES))).is_objection


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("total 1.234,56 EUR", "1,234.56 €"),
        ("total 1’234.50 CHF", "CHF 1 234,50"),
        ("total ₹4,56,78,900", "₹4.57 crore"),
        ("売上は９８０万円", "9.8 million yen"),
        ("المجموع ٤٥٠٠", "4,500"),
        ("p95 was 655.1 ms", "0.66 s"),
        ('{"error_rate": 0.0132}', "1.32 %"),
        ("Verlust von 1,3 Mio. €", "about 1,300,000 €"),
        ("on 2026-11-03T00:25:00Z", "3. November 2026, 00:25"),
        ("am 15.12.2026.", "15 December 2026"),
        ("call +49 30 5557 0142", "030 5557 0142"),
    ],
)
def test_notations_units_and_dates_of_other_places_are_the_same(text: str, said: str) -> None:
    """Rules 2 to 5: grouping, decimal marks, scales, digits of other scripts, units and dates."""
    found = traced(f"It is {said}.", *read(text))
    assert found.items
    assert not found.untraced


def test_small_bare_numbers_in_prose_are_not_counted_and_bold_ones_are() -> None:
    """Rule 8."""
    assert not traced("Both of 3 regions.", *read(SALES)).items
    assert only(traced("All **11** regions.", *read(SALES))).verdict is Verdict.UNTRACED


def test_a_cell_must_stand_in_the_row_of_its_name() -> None:
    """Rule 7: swapped cells of two rows are both untraced; the total row is computed."""
    rows = [["North", "191,390.50"], ["East", "220,919.50"], ["Total", "664,717"]]
    table = Table(caption="", columns=["Region", "Revenue"], rows=rows)
    found = traced(Answer(summary="", table=table), *read(SALES))
    assert [each.reason for each in found.items] == [Reason.OTHER_ROW, Reason.OTHER_ROW, None]


def test_a_quote_must_be_in_its_source() -> None:
    """Rule 9: word for word, with ellipses; nearly is told; one of another source is untraced."""
    contract, law = (
        Source(title=each, url=None, supports="") for each in ("contract.pdf", "law.pdf")
    )
    entries = [*read(CONTRACT, sources=(contract,)), *read("§ 1 Nothing here.", sources=(law,))]
    said = "“Either side may end … with 90 days notice.” “Either side may end the agrement with 90 days notice”"
    verdicts = [each.verdict for each in traced(said, *entries).items]
    assert verdicts == [Verdict.READ, Verdict.NEAR_QUOTE]
    words = "Either side may end the agreement"
    fields = fields_of({"sources": [{"title": "law.pdf", "supports": "", "quote": words}]})
    finding = only(check(fields, [index(each) for each in entries]))
    assert finding.reason is Reason.OTHER_SOURCE
    changed = traced("“Either side may not end the agreement with 90 days notice.”", *entries)
    assert only(changed).verdict is Verdict.UNTRACED


@pytest.mark.parametrize(
    ("expression", "verdict"),
    [("4401*1", Verdict.UNTRACED), ("4239+3659", Verdict.READ), ("220919.5*12", Verdict.READ)],
)
def test_a_calculation_counts_only_if_its_operands_were_read(
    expression: str, verdict: Verdict
) -> None:
    """S: a made-up figure is not laundered by a calculator."""
    result = eval(expression)
    text = f"result: {result}\nexpression: {expression}"
    arguments = json.dumps({"expression": expression})
    calculated = Entry("c", "calculate", text, EntryKind.CALCULATED, arguments)
    assert only(traced(f"It is {result:,}.", *read(SALES), calculated)).verdict is verdict


def test_a_constant_of_a_select_list_proves_nothing() -> None:
    """S: neither does the echo of a query in the head of an output, nor what a change repeats."""
    query = Entry("c", "query_table", "x\n4401", EntryKind.READ, '{"sql": "SELECT 4401 AS x"}')
    assert only(traced("It is 4,401.", query)).reason is Reason.NOT_FOUND
    head = Entry(
        "c", "read_thread", "2 messages with “4401”\nhello", EntryKind.READ, '{"query": "4401"}'
    )
    assert only(traced("It is 4,401.", head)).reason is Reason.NOT_FOUND
    changed = Entry("c", "send", "Sent: 4,401.", EntryKind.NONE)
    assert only(traced("It is 4,401.", changed, *read("x"))).reason is Reason.NOT_FOUND


@pytest.mark.parametrize("said", ["It is INC-9999.", "He wrote “the budget is all gone”."])
def test_what_a_call_was_given_is_not_read_because_it_comes_back(said: str) -> None:
    """S: ids and quotes that only the arguments of a call brought in; elsewhere they count."""
    query = "INC-9999 the budget is all gone"
    arguments = json.dumps({"query": query})
    echo = Entry("c", "crm__find", f"Nothing found for {query}.", EntryKind.READ, arguments)
    assert only(traced(said, echo)).reason is Reason.NOT_FOUND
    assert only(traced(said, *read(f"note: {query}"), echo)).verdict is Verdict.READ


def test_what_a_sub_agent_could_not_trace_is_not_evidence() -> None:
    """A report's other figures are."""
    report = Entry("c", "dispatch_subagent", "4,401 of 4,722 rows.", untraced=("4,401",))
    verdicts = [each.verdict for each in traced("4,401 of 4,722.", report).items]
    assert verdicts == [Verdict.UNTRACED, Verdict.READ]


def test_without_outputs_nothing_is_checked_and_what_people_say_counts_as_read() -> None:
    """Rule 11, and a figure of the question."""
    said = Entry("asked", "", "Is 4,401 right?", EntryKind.PERSON)
    assert traced("4,401 is right.", said) == Findings(nothing_read=True)
    assert only(traced("4,401 is right.", said, *read("ok"))).verdict is Verdict.READ


def test_where_something_was_read_that_is_no_text_nothing_is_untraced() -> None:
    """Rule 10: silence rather than a false alarm, for images and for what is too long to index."""
    found = traced("It is 4,401.", *read(SALES), unreadable=Unreadable.IMAGES)
    assert (found.untraced, only(found).verdict, found.unreadable) == (0, Verdict.UNKNOWN, "images")
    assert traced("It is 4,401.", *read("x " * 200_000)).untraced == 0


def test_days_follow_from_the_day_of_the_question_and_from_named_weekdays() -> None:
    """Today is no untraced date; “by Friday” makes a date, but only that weekday."""
    today = date(2026, 11, 23)
    said = "As of 23 November 2026: by 20 November 2026, not 19 November 2026."
    verdicts = [each.verdict for each in traced(said, *read(THREAD), today=today).items]
    assert verdicts == [Verdict.WORKED_OUT, Verdict.WORKED_OUT, Verdict.UNTRACED]


def test_what_is_no_claim_is_left_alone() -> None:
    """Code, placeholders, idioms, ordinals, list marks and general terms."""
    said = "1. The 1st of it, 24/7, in UTF-8.\n```sql\nLIMIT 5000\n```\n2. Second."
    assert not traced(said, *read(SALES)).items
    assert not check(fields_of({"draft": "We start on [12 May 2027]."}), [index(*read("x"))]).items


def test_pitfalls() -> None:
    """A thousand is no part of a million, a version no number, and parentheses are no minus."""
    assert traced("It is 1,250.", *read("of 1,250,000 in all")).untraced
    assert traced("It is 4.12.", *read("version 4.12.3")).untraced
    assert not traced("North (220,919.50) leads.", *read(SALES)).untraced
    assert not traced("It is due on 2 December 2026.", *read("due 02/12/2026")).untraced
    assert not traced("South missed 160,000 by −3,048.", *read("missing 3,048 of 160,000")).untraced
