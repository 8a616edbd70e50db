"""Invariants of the check for any text (issue 23, row 1): it never raises, takes bounded time, never flags
a figure that was copied, and always flags a long one with a changed digit."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.core.findings import Findings, Verdict
from bot.evidence.check import check
from bot.evidence.entries import Entry, EntryKind
from bot.evidence.fields import fields_of
from bot.evidence.indexing import MOST_CHARACTERS, index

_CHARACTERS = "0123456789.,'-+–−%€$ \n\t|\"{}[]:/()#*_`abcMayDIN年月円万“”«»①२٣ıſ\u00a0\u202f\ud800"
TEXTS = st.one_of(
    st.text(max_size=300),
    st.text(_CHARACTERS, max_size=300),
    st.lists(
        st.sampled_from(
            ["12 May", "1,234.5", "INC-4012", "+49 30 5557", "€ 5", '"a": 1', "a,b\n1,2"]
        )
    ).map(" ".join),
)
HOSTILE = {
    "digits": "1234 ",
    "a single number": "1",
    "letters": "a",
    "cells": "123.45,67.8,",
    "rows": "123.45,67.8,x y\n",
    "ids": "abc-1.2.3/4 ",
    "mails": "a.b+c@",
    "hyphens": "1-",
    "points": "1.",
    "tags": "<td>1,234.56 EUR</td>",
    "spaces": " ",
    "signs": "+1 ",
    "quotes": '"',
    "brackets": "[",
    "objects": '{"a":',
    "lines": "\n",
    "bars": "|1|2|\n",
    "dates": "5 May 2026 ",
    "links": "https://a.b/c ",
    "words": "“abc def ghi” 12 of ",
    "selects": "select ",
    "months": "May ",
    "wide": "１２３",
}


def traced(said: str, *entries: Entry) -> Findings:
    return check(fields_of({"summary": said}), [index(each) for each in entries])


def seconds_of(work: Callable[[], object]) -> float:
    """Return the processor time of some work."""
    start = time.process_time()
    work()
    return time.process_time() - start


@settings(max_examples=25, deadline=None)
@given(TEXTS, TEXTS, st.sampled_from(EntryKind), st.one_of(st.just("{}"), TEXTS))
def test_no_text_makes_the_check_fail(said: str, read: str, kind: EntryKind, given: str) -> None:
    """Outputs and answers are anything; the findings can be stored."""
    entry = Entry("c", "tool", read, kind, arguments=given, untraced=("12",))
    found = check(fields_of({"summary": said, "draft": said}), [index(entry)])
    assert Findings.model_validate_json(found.model_dump_json()) == found


@settings(max_examples=25, deadline=None)
@example(value=13.0, decimals=3, shape="a,b\nx,{}")
@given(
    st.floats(13, 1e12),
    st.integers(0, 3),
    st.sampled_from(["{}", "a,b\nx,{}", '{{"b": {}}}', "| a | b |\n| x | {} |"]),
)
def test_a_copied_figure_is_never_untraced(value: float, decimals: int, shape: str) -> None:
    """In prose, CSV, JSON and Markdown, grouped or not."""
    plain = f"{value:.{decimals}f}"
    for said in (plain, f"{value:,.{decimals}f}"):
        assert not traced(f"It is {said} now.", Entry("c", "t", shape.format(plain))).untraced


@settings(max_examples=25, deadline=None)
@given(st.integers(10_000_000, 10**15), st.data())
def test_a_changed_digit_of_a_long_figure_is_untraced(value: int, data: st.DataObject) -> None:
    """The last digit too."""
    digits = list(str(value))
    at = data.draw(st.integers(0, len(digits) - 1))
    digits[at] = data.draw(st.sampled_from([c for c in "123456789" if c != digits[at]]))
    found = traced(f"It is {int(''.join(digits)):,}.", Entry("c", "t", f"total {value}"))
    assert [each.verdict for each in found.items] == [Verdict.UNTRACED]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_page_is_indexed_in_bounded_time(name: str) -> None:
    """One line of 1 MB costs under half a second of a core. Here 10 kB of it, with room for a slow
    machine; `python -m tests.evidence --speed` prints the whole."""
    text = (HOSTILE[name] * 10_000)[:10_000]
    start = time.process_time()
    index(Entry("c", "t", text, arguments=json.dumps({"sql": "select 1"})))
    assert time.process_time() - start < 1


@pytest.mark.parametrize("text", ["{" + '\\"' * 100_000, "name,city\n" + "Ann,Rome\n" * 20_000])
def test_what_only_looks_like_a_table_is_read_once(text: str) -> None:
    """Before: each quote of a string without an end, and each line without figures, up to the end."""
    assert seconds_of(lambda: index(Entry("c", "t", text))) < 2


def test_a_page_of_a_megabyte_is_indexed_in_bounded_time() -> None:
    """What is beyond the limits is not read, and that is known."""
    start = time.process_time()
    indexed = index(Entry("c", "t", (HOSTILE["tags"] * 1_000_000)[:1_000_000]))
    assert time.process_time() - start < 1.5
    assert indexed.is_partial


def test_indexing_takes_linear_time() -> None:
    """Ten times the text costs about ten times as much, not a hundred times."""
    line = "On 5 May 2026, 1,234.56 EUR and 12 % of INC-4012; "

    def seconds(size: int) -> float:
        text = (line * (size // len(line)))[:size]
        start = time.process_time()
        index(Entry("c", "t", text))
        return time.process_time() - start

    seconds(1_000)
    assert seconds(60_000) < 40 * max(seconds(6_000), 0.002)


def _long_answer(rows: int) -> dict[str, Any]:
    cells = [[f"row {n}", f"{n * 1_237:,}", f"{n % 97}.3 %"] for n in range(1, rows)]
    points = [f"Figure {n}: {n * 911:,} and {n * 3.7:.1f} % of it." for n in range(1, 20)]
    return {
        "summary": "x",
        "key_points": points,
        "table": {"caption": "", "columns": ["a", "b", "c"], "rows": cells},
    }


def test_the_check_of_a_long_answer_is_fast() -> None:
    """80 claims against 10 outputs of 800 figures each: 25 ms for usual answers, here bounded."""
    text = "a,b,c\n" + "\n".join(f"r{n},{n * 13 % 991},{n * 7.5}" for n in range(400))
    outputs = [index(Entry(f"c{n}", "t", text.replace("r", f"r{n}"))) for n in range(10)]
    fields = fields_of(_long_answer(20))
    check(fields, outputs[:1])
    start = time.process_time()
    check(fields, outputs)
    assert time.process_time() - start < 1


def test_only_so_much_is_read() -> None:
    """What is beyond the limit is no evidence, and that is known."""
    text = "x " * (MOST_CHARACTERS // 2) + "4401"
    assert traced("It is 4,401.", Entry("c", "t", text)).of(Verdict.UNKNOWN)


@pytest.mark.parametrize(
    "answer",
    [
        " and ".join(f"{n * 911.37:,.2f}" for n in range(101, 301)),
        " ".join(f"On {n % 28 + 1} March {n % 30 + 2000} it was so." for n in range(200)),
    ],
)
def test_the_check_of_a_long_list_is_fast(answer: str) -> None:
    """R10: 200 figures in one sentence, or 200 dates, were compared with all others, or with all that
    was read: ten seconds in which the process does little else."""
    outputs = [index(Entry("c", "t", "\n".join(f"r{n} {n * 13}" for n in range(10_000))))]
    fields = fields_of({"summary": answer, "key_points": []})
    assert seconds_of(lambda: check(fields, outputs, today=date(2026, 11, 23))) < 1.5
