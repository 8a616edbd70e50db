"""The fast ways of reading tables give what the slow ones give (V5, V8, issue 19 row 6)."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.library.documents.reading.delimited import read_delimited
from bot.library.documents.reading.dialects import choose_dialect
from bot.library.documents.reading.tabular import connect, load_csv
from bot.library.documents.reading.text_columns import read_columns

forms = st.sampled_from(
    [
        st.integers(-(10**19), 10**19).map(str),
        st.integers(0, 999).map(str),
        st.from_regex(r"[-+]?[0-9]{1,3}(\.[0-9]{1,18})?", fullmatch=True),
        st.from_regex(r"[1-9][0-9]{0,2}([.,][0-9]{3}){0,2}([.,][0-9]{1,10})?", fullmatch=True),
        st.floats(allow_nan=False, allow_infinity=False).map(repr),
        st.dates().map(str),
        st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", fullmatch=True),
        st.dates().map("{0:%d.%m.%Y}".format),
        st.from_regex(r"[01][0-9][./][12][09][0-9]{2}", fullmatch=True),
        st.datetimes().map("{0:%Y-%m-%d %H:%M:%S}".format),
        st.datetimes().map(lambda each: f"{each.isoformat()}Z"),
        st.sampled_from(["true", "false", "TRUE", "False"]),
        st.sampled_from(["$5", "€ 7,50", "(5.00)", "−3", "7%", "1E2", "1e-5", ".5", "5.", "007"]),
    ]
)
odd = st.sampled_from(
    ["", " ", "n/a", "-", "NaN", "pending", " 7", "7\u00a0", "1:30", "inf", "1e400"]
)


@st.composite
def columns(draw: st.DrawFn) -> list[str]:
    """Return values mostly of one form, some of another, and a few odd ones."""
    first, second = draw(forms), draw(forms)
    usual = draw(st.lists(first, min_size=1, max_size=8))
    return usual + draw(st.lists(st.one_of(second, odd), max_size=3))


@given(st.lists(columns(), min_size=1, max_size=4), st.sampled_from(",;\t"))
def test_the_first_rows_decide_nothing_alone(
    tmp_path_factory: pytest.TempPathFactory, table: list[list[str]], delimiter: str
) -> None:
    """V5: kinds, readings and notes are those that the rules find without a look at the first rows."""
    rows = max(map(len, table))
    filled = [[*each, *[""] * (rows - len(each))] for each in table]
    file = tmp_path_factory.mktemp("cells") / "0.csv"
    with file.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows(zip(*filled, strict=True))
    names = [f"column {n}" for n in range(len(table))]
    with connect() as connection:
        load_csv(connection, file, len(table))
        samples = [[text for cell in each[:4] if (text := cell.strip())] for each in table]
        found = read_columns(connection, names, samples, delimiter=delimiter)
        expected = read_columns(connection, names, [[] for _ in names], delimiter=delimiter)
        select = [", ".join(each.cast_sql for each in columns) for columns, _ in (found, expected)]
        values = [connection.execute(f"SELECT {each} FROM cells").fetchall() for each in select]
    kinds = [[(each.name, each.kind) for each in columns] for columns, _ in (found, expected)]
    assert kinds[0] == kinds[1]
    assert str(values[0]) == str(values[1])
    assert found[1] == expected[1]


@given(
    st.lists(
        st.lists(st.text("ab\",; \n\t\\'", max_size=4), min_size=3, max_size=3),
        min_size=1,
        max_size=5,
    ),
    st.booleans(),
    st.sampled_from(",;"),
)
def test_quoted_rows_are_those_of_the_csv_module(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]], is_raw: bool, delimiter: str
) -> None:
    """Whatever is quoted, doubled, broken or badly quoted comes out as Python's reader has it, in the
    dialect that was chosen: the usual one for what is written by its rules."""
    folder = tmp_path_factory.mktemp("quoted")
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n", delimiter=delimiter)
    writer.writerow(["first_name", "last_name", "home_town"])
    if is_raw:
        out.writelines(delimiter.join(row) + "\n" for row in rows)
    else:
        writer.writerows([f"w{each}" for each in row] for row in rows)
    text = out.getvalue()
    reader = (
        (row for _, row in choose_dialect(text)[0].rows(text))
        if is_raw
        else csv.reader(io.StringIO(text), delimiter=delimiter)
    )
    try:
        expected = [
            [*row, "", "", ""][:3] for row in list(reader)[1:] if row and any(map(str.strip, row))
        ]
    except csv.Error:
        return
    sheet = read_delimited(text.encode(), "data.csv", folder / "0.parquet")
    if sheet.columns[:3] != ["first_name", "last_name", "home_town"]:
        return
    with connect() as connection:
        found = connection.execute(f"SELECT * FROM '{folder}/0.parquet'").fetchall()
    assert [[cell or "" for cell in row[:3]] for row in found] == expected


@given(
    st.lists(
        st.tuples(
            st.text("ab,;' é", min_size=1, max_size=6).map(lambda text: f"w{text}w"),
            st.text('ab"\\,;x', max_size=5).map(lambda text: f"t{text}t"),
            st.integers(0, 999),
        ),
        min_size=4,
        max_size=12,
    ),
    st.sampled_from(",;\t|"),
    st.booleans(),
    st.booleans(),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
)
def test_a_table_in_any_dialect_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, str, int]],
    delimiter: str,
    has_blanks: bool,
    is_escaped: bool,
    quoting: Any,
) -> None:
    """V13, V14: delimiter, blank after it, quotes and what is before a quote in a cell are found."""
    rows = [*rows, ('word, "quoted"; |\tw', f"a {delimiter} b", 7)]
    out = io.StringIO()
    writer = csv.writer(
        out,
        lineterminator="\n",
        delimiter=delimiter,
        quoting=quoting,
        doublequote=not is_escaped,
        escapechar="\\" if is_escaped else None,
    )
    writer.writerow(["word", "text", "figure"])
    writer.writerows(rows)
    text = out.getvalue()
    if has_blanks:
        text = re.sub(rf'(?<!")"{re.escape(delimiter)}(?=["0-9])', f'"{delimiter} ', text)
    folder = tmp_path_factory.mktemp("dialects")
    sheet = read_delimited(text.encode(), "data.csv", folder / "0.parquet")
    with connect() as connection:
        found = connection.execute(f"SELECT * FROM '{folder}/0.parquet'").fetchall()
    assert sheet.columns == ["word", "text", "figure"]
    assert found == rows
