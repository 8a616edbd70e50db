"""What the model wrote into a call is no evidence when it comes back, whatever way it takes (issue 23, row 1)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.core.findings import Findings, Verdict
from bot.evidence.arguments import Arguments
from bot.evidence.check import check
from bot.evidence.entries import Entry, EntryKind
from bot.evidence.fields import fields_of
from bot.evidence.indexing import index
from tests.unit.evidence.test_check import SALES
from tests.unit.evidence.test_properties import seconds_of

REAL = Entry("r", "read_file", SALES, made=("tbl_real",))


def traced(said: str, *entries: Entry) -> list[Verdict]:
    found: Findings = check(fields_of({"summary": said}), [index(each) for each in entries])
    return [each.verdict for each in found.items]


def call(output: str, kind: EntryKind = EntryKind.READ, **arguments: Any) -> Entry:
    return Entry("c", "tool", output, kind, json.dumps(arguments))


def table(content: str) -> Entry:
    """A table that the model wrote itself."""
    made = call(content, EntryKind.CALCULATED, name="plan", content=content)
    return Entry("m", "make_table", made.text, made.kind, made.arguments, made=("tbl_made",))


def query(output: str, *used: str) -> Entry:
    sql = json.dumps({"sql": "SELECT sum(b) AS b FROM t", "handles": used})
    return Entry("q", "query_table", output, EntryKind.READ, sql, made=("tbl_new",), used=used)


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        ({"sql": "SELECT 4401 AS x"}, "x\n4401"),
        ({"sql": "SELECT 4400 + 1 AS x"}, "x\n4401"),
        ({"sql": "SELECT 4400 + 1 AS x FROM orders LIMIT 1"}, "x\n4401"),
        ({"sql": "SELECT 8802 / 2 AS x"}, "x\n4401"),
        ({"sql": "SELECT 4.401e3 AS x FROM orders"}, "x\n4401"),
        ({"sql": "SELECT 4.401 AS revenue_k FROM orders"}, "revenue_k\n4.401"),
        ({"sql": "SELECT '4,401 EUR' AS x FROM orders"}, 'x\n"4,401 EUR"'),
        ({"sql": "SELECT x FROM (VALUES (4401)) t(x), orders"}, "x\n4401"),
        ({"sql": "SELECT x FROM range(4401, 4402) t(x)"}, "x\n4401"),
        ({"sql": "WITH t AS (SELECT 4400 + 1 AS x) SELECT x FROM t"}, "x\n4401"),
        ({"sql": "SELECT extract(year FROM d), 4401 AS x FROM orders"}, "y,x\n2026,4401"),
        ({"sql": "SELECT CASE WHEN n > 1 THEN 4401 END AS x FROM t"}, "x\n4401"),
        ({"expression": "`4401`"}, "4401"),
        ({"expression": "items[0].{a: `4401`}"}, '{\n "a": 4401\n}'),
        ({"expression": "items[?n > `1`].{n: n, a: '4,401'}"}, '[{"n": 5, "a": "4,401"}]'),
        ({"expression": "{n: n, a: sum([`4400`, `1`])}"}, '{"n": 5, "a": 4401}'),
        ({"min": 4401}, '{"filter": {"min": 4401}, "deals": []}'),
        ({"filter": {"min": "4401"}}, '{"filter": {"min": "4401"}, "deals": []}'),
    ],
)
def test_a_number_of_a_query_is_not_read_because_it_comes_back(
    arguments: dict[str, Any], output: str
) -> None:
    """S: nor the arithmetic of such numbers alone, and not in another notation."""
    assert traced("It is 4,401 now.", REAL, call(output, **arguments)) == [Verdict.UNTRACED]


@pytest.mark.parametrize(
    ("arguments", "output", "said"),
    [
        ({"sql": "SELECT n FROM orders WHERE n >= 4401"}, "n\n4401", "4,401"),
        ({"sql": "SELECT n FROM o WHERE n IN (4401, 4402)"}, "n\n4401\n4402", "4,401"),
        ({"sql": "SELECT n FROM o WHERE n BETWEEN 4000 AND 4401"}, "n\n4401", "4,401"),
        ({"sql": "SELECT sum(CASE WHEN y = 2024 THEN n END) AS n FROM o"}, "n\n4401", "4,401"),
        ({"sql": 'SELECT sum(n) * 1000 AS n FROM "sales.csv"'}, "n\n4401", "4,401"),
        ({"sql": "SELECT 220919.5 / 2 AS half"}, "half\n110459.75", "110,459.75"),
        ({"sql": "SELECT * FROM o WHERE d >= DATE '2026-03-01'"}, "d\n2026-03-01", "1 March 2026"),
        ({"expression": "items[?id == `4401`].{id: id}"}, '[{"id": 4401}]', "4,401"),
        ({"expression": "max([items[].n, `0`])"}, "4401", "4,401"),
        ({"year": 2026}, '[{"year": 2026, "n": 4401}]', "4,401 in 2026"),
    ],
)
def test_what_a_query_finds_is_read(arguments: dict[str, Any], output: str, said: str) -> None:
    """Numbers that choose rows may come back, and known ones may be computed with."""
    assert set(traced(f"It is {said}.", REAL, call(output, **arguments))) == {Verdict.READ}


@pytest.mark.parametrize(
    ("expression", "result", "verdict"),
    [
        ("5602-1201", "4401", Verdict.UNTRACED),
        ("4401/1", "4401", Verdict.UNTRACED),
        ("4_401*1", "4401", Verdict.UNTRACED),
        ("0x1131", "4401", Verdict.UNTRACED),
        ("4.401e3", "4401", Verdict.UNTRACED),
        ("33.2*1", "33.2", Verdict.UNTRACED),
        ("45+0", "45", Verdict.UNTRACED),
        ("4239-3659", "580", Verdict.READ),
        ("220919.5/365", "605.2589", Verdict.READ),
        ("4239/3659", "1.159", Verdict.READ),  # a calculator writes no marks of thousands
        ("max(4239,3659)*2", "8478", Verdict.READ),
    ],
)
def test_arithmetic_without_spaces_has_operands_too(
    expression: str, result: str, verdict: Verdict
) -> None:
    """S: 4401-1200 is no id and 4401/12 no date; a result that is its operand is none."""
    text = f"result: {result}\nexpression: {expression}"
    calculated = call(text, EntryKind.CALCULATED, expression=expression)
    said = result if result != "1.159" else "1.16 %"
    assert traced(f"It is {said} now.", REAL, calculated) == [verdict]


@pytest.mark.parametrize("kind", [EntryKind.NONE, EntryKind.CALCULATED])
def test_a_table_of_made_up_numbers_is_not_read_by_a_query(kind: EntryKind) -> None:
    """S: the model writes a table or a file of its own figures and queries it; then queries the result."""
    content = "a,b\nx,4401\ny,33"
    own = call(content, kind, content=content)
    made = Entry("m", "write", own.text, own.kind, own.arguments, made=("file_own",))
    first, second = query("b\n4434", "file_own"), query("b\n4434", "tbl_new")
    assert traced("It is 4,434.", REAL, made, first) == [Verdict.UNTRACED]
    assert traced("It is 4,434.", REAL, made, first, second) == [Verdict.UNTRACED]
    assert traced("It is 4,434.", REAL, made, query("b\n4434", "tbl_real")) == [Verdict.READ]


def test_a_table_of_figures_that_were_read_counts() -> None:
    """And what is queried from it; but not one with a percentage or a small count made up."""
    known = "region,units,place\nNorth,4239,1\nEast,3659,2"
    assert traced("It is 7,898.", REAL, table(known), query("b\n7898", "tbl_made")) == [
        Verdict.READ
    ]
    invented = known.replace("3659,2", "3659,45")
    found = traced("It is 7,898.", REAL, table(invented), query("b\n7898", "tbl_made"))
    assert found == [Verdict.WORKED_OUT]  # by the check itself
    assert traced("It is 46 %.", REAL, table(invented), query("b\n46", "tbl_made")) == [
        Verdict.UNTRACED
    ]


def test_a_long_table_is_not_trusted_beyond_what_is_looked_at() -> None:
    rows = "\n".join(f"r{n},{n % 10}" for n in range(4_000))
    content = f"a,b\n{rows}\nlast,4401"
    assert traced("It is 4,434.", REAL, table(content), query("b\n4434", "tbl_made")) == [
        Verdict.UNTRACED
    ]


@pytest.mark.parametrize("part", ["+1 ", "1+1-", "in (1,", "`1`,", "a as (", " "])
def test_hostile_arguments_take_bounded_time(part: str) -> None:
    """A megabyte costs a third of a second at most; here a part of it, with room for a slow machine."""
    arguments = json.dumps({"sql": "select " + (part * 10_000)[:10_000]})
    assert seconds_of(lambda: Arguments.of(Entry("c", "t", "", arguments=arguments))) < 1


@pytest.mark.parametrize(
    "arguments", ["[" * 5_000, "[" * 900 + "4400" + "]" * 900, "no JSON", "0x"]
)
def test_arguments_that_cannot_be_read_prove_nothing(arguments: str) -> None:
    """Nor do they break the check: a calculator with them is not trusted, an output is."""
    calculated = Entry("c", "t", "result: 4401", EntryKind.CALCULATED, arguments)
    assert traced("It is 4,401.", REAL, calculated) == [Verdict.UNTRACED]
    assert traced("It is 4,401.", REAL, Entry("c", "t", "n 4401", arguments=arguments)) == [
        Verdict.READ
    ]
