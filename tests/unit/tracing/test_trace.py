"""Tracing an answer: what is found where, what follows from it, and what readers are warned of."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest
from babel import Locale

from bot.core.answers import Answer, Table
from bot.core.answers import Source as AnswerSource
from bot.features.evidence.filling import References
from bot.library.tracing.cldr import words_for
from bot.library.tracing.fields import fields_of
from bot.library.tracing.findings import Claim, Finding, Operation, Reason, Verdict
from bot.library.tracing.outputs import Counts, Output, Source
from bot.library.tracing.references import Figures
from bot.library.tracing.trace import FilledIn, Traced, trace

SALES = Output(
    "sales",
    "handle: tbl_gxw99x00 · 4 rows × 3 columns · source: sales.csv\n"
    "columns: region VARCHAR, units BIGINT, revenue DOUBLE\n"
    "region,units,revenue\nNorth,4239,220919.5\nEast,3659,191390.5\nSouth,2951,156952.0\n"
    "West,1815,95455.0",
    tool="query_table",
    made=("tbl_gxw99x00",),
)
CONTRACT = Output(
    "contract",
    "handle: doc_1 · 2 pages · 9 lines · source: contract.pdf\n\n[page 1 of 2]\n"
    "3. Price. EUR 640 per cubic metre of oak.\n\n[page 2 of 2]\n"
    "6. Termination. Either side may end the agreement with 90 days notice.",
    tool="read_file",
    sources=(Source("contract.pdf"),),
)
LINK = "https://example.slack.com/archives/C1/p1"
THREAD = Output(
    "thread",
    f"1 message · times in UTC\n[2026-11-16 08:12] Ines: They want 48,600 USD by Friday. (link: {LINK})",
    tool="read_thread",
)


def read(text: str, **more: Any) -> Output:
    return Output("call", text, "tool", **more)


def traced(said: str | Answer, *outputs: Output, **options: Any) -> Traced:
    answer = Answer(summary=said) if isinstance(said, str) else said
    return trace(fields_of(answer.model_dump()), outputs, **options)


def only(result: Traced) -> Finding:
    [finding] = result.items
    return finding


def verdicts(result: Traced) -> list[Verdict]:
    return [item.verdict for item in result.items]


def warned(result: Traced) -> list[str]:
    return [item.text for item in result.items if item.warned]


def test_a_figure_that_was_read_has_its_place() -> None:
    """evidence 2: row, column, line, handle and source of a figure are told."""
    finding = only(traced("North made 220,919.50.", SALES))
    place = finding.places[0]
    assert finding.verdict is Verdict.READ
    assert (place.handle, place.row, place.column) == ("tbl_gxw99x00", "North", "revenue")
    assert (place.line, place.text, place.source) == (4, "220919.5", "sales.csv")
    assert place.excerpt == "North,4239,220919.5"


def test_pages_and_links_of_a_place_are_told() -> None:
    """A document's page, and the link at the end of a message."""
    page = only(traced("Oak costs EUR 640.", CONTRACT)).places[0]
    assert (page.source, page.page) == ("contract.pdf", "1")
    message = only(traced("They want $48,600.", THREAD)).places[0]
    assert (message.link, message.source) == (LINK, "[2026-11-16 08:12] Ines")


@pytest.mark.parametrize(
    ("said", "operation", "formula"),
    [
        ("In total 664,717.", Operation.SUM, "sum of revenue (4 rows) = 664,717"),
        ("On average 166,179.25.", Operation.MEAN, "mean of revenue (4 rows) = 166,179.25"),
        (
            "North (220,919.50) is 15.4 % above East (191,390.50).",
            Operation.GROWTH,
            "220,919.5 ÷ 191,390.5 − 1 = 15.42866548 %",
        ),
        (
            "North (220,919.50) made 29,529 more than East (191,390.50).",
            Operation.DIFFERENCE,
            "220,919.5 − 191,390.5 = 29,529",
        ),
        (
            "North made 220,919.50 with 4,239 units, so 52.12 each.",
            Operation.RATIO,
            "220,919.5 ÷ 4,239 = 52.11594716",
        ),
    ],
)
def test_plain_arithmetic_is_shown_as_a_formula(
    said: str, operation: Operation, formula: str
) -> None:
    """evidence 2: sums, means, growth, differences and ratios of figures that were read."""
    [finding] = [item for item in traced(said, SALES).items if item.verdict is Verdict.WORKED_OUT]
    assert (finding.operation, finding.formula) == (operation, formula)
    assert finding.places


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("total 1.234,56 EUR", "1,234.56 €"),
        ("total 1’234.50 CHF", "CHF 1 234,50"),
        ("total ₹4,56,78,900", "₹4.57 crore"),
        ("売上は９８０万円", "9.8 million yen"),
        ("المجموع ٤٥٠٠", "4,500"),
        ('{"error_rate": 0.0132}', "1.32 %"),
        ("Verlust von 1,3 Mio. €", "about 1,300,000 €"),
        ("on 2026-11-03T00:25:00Z", "3. November 2026"),
        ("am 15.12.2026.", "15 December 2026"),
        ("call +49 30 5557 0142", "030 5557 0142"),
        ("p = 2.59e-05", "0.0000259"),
        ("of 2.1 million", "2,100,000"),
    ],
)
def test_notations_and_dates_of_other_places_are_the_same(text: str, said: str) -> None:
    """evidence 2: grouping, decimal marks, scales, digits of other scripts, exponents and dates."""
    result = traced(f"It is {said}.", read(text))
    assert result.items
    assert set(verdicts(result)) == {Verdict.READ}


def test_a_figure_that_is_not_found_is_listed_and_nobody_is_warned() -> None:
    """evidence 2: arithmetic in the head and general knowledge are no reason for alarm."""
    finding = only(traced("North made 220,991.50.", SALES))
    assert (finding.verdict, finding.reason) == (Verdict.UNTRACED, Reason.NOT_FOUND)
    assert not finding.warned


@pytest.mark.parametrize(
    "said",
    [
        "See https://collect.example/x.",
        "Write to nobody@collect.example.",
        "See INC-4012.",
        "It is ticket #8841.",
        "Commit 9f31c4e fixed it.",
        "It says “either side may leave whenever it likes”.",
        "Er sagt: „Beide Seiten dürfen jederzeit ohne Grund gehen“.",
        "« Chaque partie peut partir quand elle le souhaite »",
    ],
)
def test_what_nothing_gave_is_warned_of(said: str) -> None:
    """evidence 3: addresses, ids and quotes that stand nowhere."""
    assert len(warned(traced(said, SALES, CONTRACT))) == 1


@pytest.mark.parametrize(
    "said",
    [
        "It follows ISO-8601 and UTF-8, in Q3-2026 and FY2026.",
        "Its title is “Attention Is All You Need Today”.",
        "The 2026-11-09T22:00 run took 14h30 at 3.67/kg on v4.12.3.",
        "Press “Save” or “Only to me”.",
        "CO2 and H2O; A4 paper; a 5kg box; the 1st; 24/7; 10x.",
        "```sql\nSELECT 'INC-9999'\n``` and `ABC-1234` are code.",
        "~~~sql\nSELECT 'INC-9999'\n```\nOR 'INC-8888'\n~~~\nis code.",
        "<@U12345678> asked.",
    ],
)
def test_what_only_looks_like_a_claim_is_left_alone(said: str) -> None:
    """evidence 3: a warning only where code is sure."""
    assert not warned(traced(said, SALES))


def test_a_figure_beside_the_name_of_another_row_is_warned_of() -> None:
    """evidence 3: in a sentence, and in a row of the answer's table. A sentence that names the
    figure's own row, a comparison in another clause, and a name of no row are none."""
    [finding] = traced("South made 220,919.50.", SALES).items
    assert (finding.warned, finding.reason) == (True, Reason.OTHER_ROW)
    assert finding.places[0].row == "North"
    assert not warned(traced("North made 220,919.50, more than South.", SALES))
    assert not warned(traced("Ahead of South, the best region made 220,919.50.", SALES))
    assert not warned(traced("Europe made 220,919.50.", SALES))
    rows = [["North", "191,390.50"], ["East", "220,919.50"], ["Total", "664,717"]]
    table = Table(caption="", columns=["Region", "Revenue"], rows=rows)
    assert warned(traced(Answer(summary="", table=table), SALES)) == ["191,390.50", "220,919.50"]


def test_a_reference_in_the_sentence_of_another_row_is_warned_of() -> None:
    """evidence 3: a reference says exactly which row it is of."""
    figures = Figures((SALES,))

    def of(said: str) -> Traced:
        text = figures.fill(said, None)
        filled = [FilledIn("summary", filled) for filled in text.filled]
        return trace(fields_of({"summary": text.text}), [SALES], filled)

    right = of("North sold {{tbl_gxw99x00.units[region=North]}} units.")
    assert (right.items[0].reference, right.items[0].warned) == (
        "tbl_gxw99x00.units[region=North]",
        False,
    )
    for said in (
        "South sold {{tbl_gxw99x00.units[region=North]}} units.",
        "South is small, with {{tbl_gxw99x00.units[region=North]}} units.",
        "There were {{tbl_gxw99x00.units[region=North]}} units in South.",
        "North made 17 and South {{tbl_gxw99x00.units[region=North]}}.",
        "Southは{{tbl_gxw99x00.units[region=North]}}です。",
    ):
        assert of(said).items[-1].warned, said
    for said in (
        "It sold {{tbl_gxw99x00.units[region=North]}} units, more than South.",
        "Compared with South it sold {{tbl_gxw99x00.units[region=North]}}.",
        "From 17 in South to {{tbl_gxw99x00.units[region=North]}}.",
        "The best sold {{tbl_gxw99x00.units[region=North]}}.",
    ):
        assert not of(said).items[-1].warned, said


def test_an_answer_that_read_nothing_although_it_could_is_warned_of() -> None:
    """evidence 3: figures of three digits or more; no years, and no figure of the question."""
    asked = Output("", "Is it 4,401?", counts=Counts.PERSON)
    said = "It was 4,401, of 2.15 million in 2024, and 12 more."
    ignored = traced(said, asked, has_read=False, has_material=True)
    assert warned(ignored) == ["2.15 million"]
    assert not warned(traced(said, asked, has_read=False))


def test_a_quote_must_be_in_its_source() -> None:
    """evidence 2: word for word, with ellipses; nearly is told; one of another source is warned of."""
    law = Output("law", "§ 1 Nothing here.", "read_file", sources=(Source("law.pdf"),))
    said = "“Either side may end … with 90 days notice.” “Either side may end the agrement with 90 days notice”"
    assert verdicts(traced(said, CONTRACT)) == [Verdict.READ, Verdict.NEAR_QUOTE]
    words = "Either side may end the agreement"
    source = AnswerSource(title="law.pdf", url=None, supports="", quote=words)
    finding = only(traced(Answer(summary="", sources=[source]), CONTRACT, law))
    assert (finding.reason, finding.warned) == (Reason.OTHER_SOURCE, True)
    assert warned(traced("“Either side may not end the agreement with 90 days notice.”", CONTRACT))


@pytest.mark.parametrize(
    ("expression", "verdict"),
    [
        ("4401*1", Verdict.UNTRACED),
        ("4401+4722", Verdict.UNTRACED),
        ("4239+3659", Verdict.WORKED_OUT),
    ],
)
def test_a_calculation_counts_only_if_its_operands_were_read(
    expression: str, verdict: Verdict
) -> None:
    """evidence 1: a made-up figure is not laundered by a calculator."""
    result = sum(map(int, re.findall(r"\d+", expression.removesuffix("*1"))))
    calculated = Output(
        "calculated",
        f"result: {result}\nexpression: {expression}",
        "calculate",
        json.dumps({"expression": expression}),
        Counts.CALCULATED,
    )
    assert only(traced(f"It is {result:,}.", SALES, calculated)).verdict is verdict


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("x\n4401", {"sql": "SELECT 4401 AS x"}),
        ("1 message with “4401”", {"query": "4401"}),
        ("sent: 4,401", {"text": "4401"}),
        ("x\n4401", {"sql": "SELECT 4000+401 AS x FROM t WHERE day > '2026-01-01'"}),
        ("x\n4401", {"program": "a = 4000\nb = a + 400\nprint(round(b + 1.2))"}),
        ("x\n4401", {"program": "sum([4000, 400, 1])"}),
        ("x\n4401", {"program": "a: int = 4400\na + 1"}),
        ("x\n4401", {"program": "rate = 1 - 2\n{'total': -rate * 4401}"}),
    ],
)
def test_a_literal_of_the_call_proves_nothing(text: str, arguments: dict[str, str]) -> None:
    """evidence 1: what a query, a search or a change was given is no evidence when it comes back."""
    output = read(text, arguments=json.dumps(arguments))
    assert only(traced("It is 4,401.", output)).verdict is Verdict.UNTRACED
    assert only(traced("It is 4,401.", read("of 4401"), output)).verdict is Verdict.READ


@pytest.mark.parametrize("said", ["It is INC-9999.", "He wrote “the budget is all gone”."])
def test_words_of_the_call_prove_nothing_either(said: str) -> None:
    """evidence 1: ids and quotes that only the arguments of a call brought in; elsewhere they count."""
    query = "INC-9999 the budget is all gone"
    echo = read(f"Nothing found for {query}.", arguments=json.dumps({"query": query}))
    assert only(traced(said, echo)).verdict is Verdict.UNTRACED
    assert only(traced(said, read(f"note: {query}"), echo)).verdict is Verdict.READ


def test_what_was_made_of_something_that_the_model_wrote_is_no_evidence() -> None:
    """evidence 1: a table that the model typed, and what is queried from it. What a change says that
    it did counts."""
    made = Output("make", "", "make_table", counts=Counts.NONE, made=("tbl_made0001",))
    query = read("total\n9123", used=("tbl_made0001",))
    assert only(traced("It is 9,123.", made, query)).verdict is Verdict.UNTRACED
    scheduled = Output("s", "Next: Monday, 23 November 2026", "schedule", counts=Counts.NONE)
    assert only(traced("It is due on 23 November 2026.", scheduled)).verdict is Verdict.READ


def test_what_a_report_does_not_trace_is_no_evidence() -> None:
    """The other figures of a sub-agent's report are."""
    report = Output("c", "4,401 of 4,722 rows.", "dispatch_subagent", untraced=("4,401",))
    assert verdicts(traced("4,401 of 4,722.", report)) == [Verdict.UNTRACED, Verdict.READ]


def test_where_something_was_read_that_is_no_text_nobody_is_warned() -> None:
    """evidence 3: a figure or an id may stand in an image."""
    result = traced("It is 4,401 in INC-4012.", SALES, is_readable=False)
    assert verdicts(result) == [Verdict.UNKNOWN, Verdict.UNKNOWN]
    assert not warned(result)


def test_small_bare_numbers_are_no_claims() -> None:
    """Nobody looks up that there are 3 regions."""
    assert not traced("All 3 of 12 regions.", SALES).items
    assert len(traced("3 % of 12.5 regions.", SALES).items) == 2


def test_cells_are_not_glued_together() -> None:
    """E7: three cells are no number of millions, and a thousand is no part of a million."""
    head = "handle: tbl_00000001 · 1 rows × 3 columns\ncolumns: a INT, b INT, c INT\na,b,c\n"
    cells = read(f"{head}-12,421,387", made=("tbl_00000001",))
    assert only(traced("It is 12,421,387.", cells)).verdict is Verdict.UNTRACED
    assert only(traced("It is 1,250.", read("of 1,250,000 in all"))).verdict is Verdict.UNTRACED


HOSTILE = {
    "digits": "1234567890",
    "short numbers": "1 22 3.3 4,4 ",
    "cells": "1,",
    "tables": "handle: tbl_00000001 · 2 rows × 2 columns\ncolumns: a INT, b INT\na,b\n1,2\n",
    "quotes": '"“„«',
    "links": "https://a.example/",
    "brackets": "[page 1](",
    "sources": "· source: a <",
    "dates": "2026-11-",
    "one word": "a1",
    "signs without spaces": "漢字1",
    "hyphens": "a-1-",
    "at signs": "a@a.",
    "scale words": "12 million ",
}


@pytest.mark.parametrize("part", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("is_answer", [False, True], ids=["output", "answer"])
def test_hostile_texts_cost_little(part: str, is_answer: bool) -> None:
    """evidence 4: an output of a megabyte, or an answer of 10 kB, stops the search after 20 ms; what
    is left over is the last step, which is linear."""
    text = (part * 1_000_000)[: 10_000 if is_answer else 1_000_000]
    said = "It is 12,345.67 of 987 on 3 May 2026 in INC-4012, “as everybody here said before”."
    traced(said, SALES)  # loads the words of numbers and dates
    start = time.process_time()
    traced(text if is_answer else said, read(text, made=("tbl_00000001",)))
    assert time.process_time() - start < 0.6


def test_kinds_of_claims() -> None:
    """Figures, dates, ids, addresses and quotes, in the order of the answer."""
    said = (
        "On 3 May 2026, INC-4012 cost 4,401: “either side may leave whenever”, https://a.example/x."
    )
    kinds = [item.kind for item in traced(said, SALES).items]
    assert kinds == [Claim.DATE, Claim.ID, Claim.FIGURE, Claim.QUOTE, Claim.ADDRESS]


def shown(columns: str, *rows: str, call: str = "shown") -> Output:
    text = "\n".join((columns, *rows))
    size = f"{len(rows)} rows × {len(columns.split(','))} columns"
    head = f"handle: tbl_shown000 · {size}"
    return Output(call, f"{head}\n{text}", "query_table", made=("tbl_shown000",))


@pytest.mark.parametrize(
    ("cell", "expected"),
    [("0.4058", "0.4058"), ("1.0834", "1.0834"), ("0.40581", "0.406"), ("12.5", "12.5")],
)
def test_four_decimals_of_a_cell_are_no_noise(cell: str, expected: str) -> None:
    """evidence 1: a rounded p-value or an exchange rate stays as it is; longer numbers get three."""
    figures = Figures((shown("name,rate", f"a,{cell}"),))
    assert figures.fill("{{tbl_shown000.rate}}", Locale("en")).text == expected


@pytest.mark.parametrize("cell", ["1e999", "1e40", "9" * 40, "1e-999", "NaN", "-inf", "1.5e28", ""])
@pytest.mark.parametrize("forms", ["", "|0", "|0.000000000", "|%", "|compact", "|abs|compact|%"])
@pytest.mark.parametrize("locale", [None, Locale("en"), Locale("ja"), Locale("ar")])
def test_no_cell_is_too_odd_to_be_filled_in(cell: str, forms: str, locale: Locale | None) -> None:
    """evidence 1: an answer is never lost to what stands in a cell; what is no usual number stays."""
    figures = Figures((shown("name,odd", f"a,{cell}", "b,2"),))
    filled = figures.fill(f"It is {{{{tbl_shown000.odd[1]{forms}}}}}.", locale)
    assert (filled.faults, len(filled.filled)) == ([], 1)
    assert len(filled.text) < 80


def test_no_table_is_too_odd_to_be_referred_to() -> None:
    """evidence 1: a column of only one part of a table, a long cell in the head, a size that is none."""
    parts = shown("name,units", "a,1"), shown("name,price", "a,3", call="again")
    assert Figures(parts).fill("{{tbl_shown000.price[1]}}", None).text == "3"
    for head in ("2 rows × ,,, columns\na,b", f"2 rows × {'9' * 5_000} columns\na,b"):
        odd = Output("c", f"handle: tbl_shown000 · {head}\n1,2", made=("tbl_shown000",))
        assert Figures((odd,)).fill("{{tbl_shown000.b[1]}}", None).faults
    long = shown('"' + "a" * 200_000 + '",b', "1,2")
    assert Figures((long,)).fill("{{tbl_shown000.b[1]}}", None).faults


@pytest.mark.parametrize(
    ("size", "begin", "below"),
    [
        ("1 rows × 1 columns", "mean", "ran 0.4 s"),
        (
            "300 rows × 1 columns",
            "profile:\ncolumn,type\nmean,DOUBLE\nfirst 1 rows:\nmean",
            "note: cut",
        ),
        ("rows 7–7 of 300", "mean", "ran 0.4 s"),
    ],
)
def test_a_line_below_a_table_is_none_of_its_rows(size: str, begin: str, below: str) -> None:
    """evidence 1: of a table of one column any line could be a row; its head says how many there are."""
    text = f"handle: tbl_shown000 · {size} · source: a.csv\ncolumns: mean DOUBLE\n{begin}\n34.65\n{below}"
    figures = Figures((Output("call", text, "run_python", made=("tbl_shown000",)),))
    filled = figures.fill("{{tbl_shown000.mean}}", None)
    assert (filled.text, filled.faults) == ("34.65", [])


def test_a_cell_cannot_end_the_query_that_it_is_filled_into() -> None:
    """evidence 1: what is filled in is data: a stranger's cell adds nothing to a query or a program; the
    model, which has read it, writes it itself. Plain names, dates and numbers are filled in."""
    names = "x' OR '1'='1", "a; DROP TABLE t", "a -- b", "$(id)", "a\\", "`id`"
    cells = [f'"{name}"' for name in (*names, "North America", "2026-11-28")]
    figures = Figures((shown("name", *cells),))
    query = "SELECT 1 FROM t WHERE name = '{{tbl_shown000.name[%d]}}'"
    for number in range(1, len(names) + 1):
        filled = figures.fill(query % number, None, escaped=False)
        assert filled.faults, filled.text
        assert filled.text == "SELECT 1 FROM t WHERE name = '(figure missing)'"
    for number, name in ((7, "North America"), (8, "2026-11-28")):
        assert name in figures.fill(query % number, None, escaped=False).text
    assert figures.fill("{{tbl_shown000.name[1]}}", None, escaped=False).text == names[0]


def test_a_literal_stays_one_in_the_next_query() -> None:
    """evidence 1: a made-up figure is not laundered by a second query over the result of the first."""
    made_up = Output(
        "first",
        "handle: tbl_first000 · 1 rows × 1 columns\nprofit\n987654",
        "query_table",
        arguments=json.dumps({"sql": "SELECT 987654 AS profit FROM tbl_gxw99x00"}),
        made=("tbl_first000",),
        used=("tbl_gxw99x00",),
    )
    again = Output(
        "again",
        "handle: tbl_again000 · 1 rows × 1 columns\nprofit\n987654",
        "query_table",
        arguments=json.dumps({"sql": "SELECT profit FROM tbl_first000"}),
        made=("tbl_again000",),
        used=("tbl_first000",),
    )
    outputs = SALES, made_up, again
    assert verdicts(traced("The profit was 987,654.", *outputs)) == [Verdict.UNTRACED]
    text = Figures(outputs).fill("The profit was {{tbl_again000.profit}}.", None)
    filled = [FilledIn("summary", one) for one in text.filled]
    assert not trace(fields_of({"summary": text.text}), outputs, filled).items


def test_long_chains_of_calculations_are_weighed() -> None:
    """evidence 2: each may follow from the one before; nothing is lost to how many there are."""
    chain = [
        Output(
            f"c{n}",
            f"result: {n + 1}\nexpression: {n} + 1\nhandle: fig_{n:08d}",
            "calculate",
            arguments=json.dumps({"expression": f"{n} + 1"}),
            counts=Counts.CALCULATED,
        )
        for n in range(1_000, 1_600)
    ]
    assert len(traced("It is 1,600 or 1,555.", SALES, *chain).items) == 2


@pytest.mark.parametrize(
    "answer",
    [" ".join(f"AB-{10_000 + n}" for n in range(1_100)), " ".join(["111"] * 2_500), "1," * 5_000],
)
def test_an_answer_full_of_ids_or_digits_costs_little(answer: str) -> None:
    """evidence 4: hostile text is stopped, also within claims of one kind."""
    words_for("")
    began = time.thread_time()
    traced(answer[:10_000], read("1 2 3 4 ab-1 " * 25_000))
    assert time.thread_time() - began < 0.5


@pytest.mark.parametrize("row", ["nosuch", "region=nosuch", "Region7"])
def test_many_references_to_a_long_table_cost_little(row: str) -> None:
    """evidence 4: as many as an answer has room for, also those that lead nowhere."""
    figures = Figures((shown("region,units", *(f"Region{n},{n}" for n in range(5_000))),))
    began = time.thread_time()
    figures.fill(f"{{{{tbl_shown000.units[{row}]}}}} " * 300, None)
    assert time.thread_time() - began < 1


@pytest.mark.parametrize(
    "value",
    ["{{tbl_shown000.units[*]}} " * 200, ["{{tbl_shown000.units[*]}}"] * 200],
    ids=["text", "list"],
)
def test_many_references_to_whole_columns_cost_little(value: Any) -> None:
    """evidence 4: rows are counted while a column is written out; what is too much is one fault."""
    references = References(None)
    references.add([shown("region,units", *(f"Region{n},{n}" for n in range(1_000)))])
    began = time.thread_time()
    filled = references.fill(value)
    assert time.thread_time() - began < 1
    assert any("there are too many references" in fault for fault in filled.faults)
    assert len(filled.faults) <= 20
    assert len(filled.notes) <= 2_000
    assert "Region" not in str(filled.value)
    assert str(filled.value).count("{{") <= 200
    whole = references.fill(["{{tbl_shown000.units[*]}}"]).value
    assert (len(whole), whole[-1], references.faults) == (1_000, "999", ())


def test_a_table_of_another_schema_is_no_table_of_rows() -> None:
    """evidence 2: a schema of the caller's own may call anything rows and columns."""
    result = {"t": {"columns": ["a"], "rows": [1, {"a": 2}, ["x"], []]}}
    assert [one.text for one in fields_of(result)] == ["1", "{'a': 2}", "x"]
