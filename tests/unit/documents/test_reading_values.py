"""Right values from files: headers, types and numbers by rules, and a note wherever two readings are
possible (V2, V5, V8)."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.library.documents.reading.delimited import read_delimited
from bot.library.documents.reading.tabular import connect


def read(folder: Path, text: str) -> tuple[str, list[tuple[Any, ...]], str]:
    """The columns with their types, the rows, and the notes on one line."""
    sheet = read_delimited(text.encode(), "data.csv", folder / "0.parquet")
    with connect() as connection:
        source = f"read_parquet('{folder / '0.parquet'}')"
        columns = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
        rows = connection.execute(f"SELECT * FROM {source}").fetchall()
    types = ", ".join(f"{name} {kind}" for name, kind, *_ in columns)
    return types, rows, " ".join([*sheet.notes, *sheet.left_out])


WORLD_BANK = """Data Source,World Development Indicators,,,,,,,,,,,,,,,,,,
Last Updated Date,2024-01-01,,,,,,,,,,,,,,,,,,
Country Name,Country Code,Indicator,1960,1961,1962,1963,1964,1965,1966,1967,1968,1969,1970,1971,1972,1973,1974,1975,
Aruba,ABW,Fertility,4.82,4.65,,,,,,,,,,,,,,,,
Africa East,AFE,Fertility,6.72,6.74,6.7,,,,,,,,,,,,,,,
"""


@pytest.mark.parametrize(
    ("text", "types", "note"),
    [
        (WORLD_BANK, "1960 DOUBLE, 1961 DOUBLE", "2 line(s) above the header were left out"),
        ("region,2024-01,2024-02,2024-03\nA,1,2,3\nB,4,5,6\n", "2024-01 BIGINT", ""),
        ("region,01.01.2024,01.02.2024\nA,1,2\nB,4,5\n", "01.01.2024 BIGINT", ""),
        ("2019,2020,2021\n1.5,2.5,3.5\n4,5,6\n", "2019 DOUBLE, 2020 DOUBLE", "it may be a row"),
        ("gene,101,102,103\nx,0.5,0.1,0.9\ny,0.4,0.2,0.7\n", "101 DOUBLE, 102 DOUBLE", ""),
        ("id,2019\na,5.5\nb,6.5\n", "id VARCHAR, 2019 DOUBLE", ""),
        ("0,1,2\n5.1,3.5,1.4\n4.9,3.0,1.4\n", "0 DOUBLE, 1 DOUBLE", "it may be a row"),
        ("5.1,3.5,1.4,a\n4.9,3.0,1.4,b\n", "column_1 DOUBLE", "it may be a header"),
        ("Ada,1990,4\nBen,1987,5\n", "column_1 VARCHAR, column_2 BIGINT", "it may be a header"),
        ("red,small\nblue,small\nred,large\n", "column_1 VARCHAR", "it may be a header"),
        ("name,city\nAda,Rome\nBen,Oslo\n", "name VARCHAR, city VARCHAR", "it may be a row"),
        ("country,code\nGermany,DEU\nFrance,FRA\nItaly,ITA\n", "country VARCHAR, code", ""),
        ("a,b\n", "a VARCHAR, b VARCHAR", ""),
    ],
)
def test_a_header_is_a_row_unlike_its_columns(
    tmp_path: Path, text: str, types: str, note: str
) -> None:
    """Years, dates and ids name columns as words do. Unsure, the note says both readings."""
    found, _, notes = read(tmp_path, text)
    assert types in found
    assert note in notes
    assert note or "it may be" not in notes


@pytest.mark.parametrize(
    ("text", "names", "note"),
    [
        ('"w","f"\n"1",26.5,3\n"2",27.5,4\n"3",28.5,4\n', "column_1 w f", "fewer than the rows"),
        ("w,f\n1,26.5,\n2,27.5,\n", "w f column_3", ""),
        ("w,f\n1,2,3,4\n5,6,7,8\n", "w f column_3 column_4", "names 2 of 4 columns"),
        ("w,f\n1,2\n3,4\n5,6\n\nx,y,z\n7,8,9\n", "w f extra", ""),
    ],
)
def test_names_stand_above_their_own_columns(
    tmp_path: Path, text: str, names: str, note: str
) -> None:
    """R writes no name above the row numbers: every name stood above its neighbour's values."""
    types, _, notes = read(tmp_path, text)
    assert " ".join(each.split()[0] for each in types.split(", ")) == names
    assert note in notes
    assert note or "names" not in notes


@pytest.mark.parametrize(
    ("values", "kind", "first", "note"),
    [
        (
            ["3/4/24", "5/6/24"],
            "VARCHAR",
            "3/4/24",
            "Kept as text: x (3/4/24: days that may be read in two",
        ),
        (["01-02-03", "04-05-06"], "VARCHAR", "01-02-03", "Kept as text"),
        (["F", "F"], "VARCHAR", "F", ""),
        (["t", "f"], "VARCHAR", "t", ""),
        (["1E2", "2E3"], "VARCHAR", "1E2", "Kept as text: x (1E2: codes"),
        (["1E2", "2.5"], "DOUBLE", 100.0, ""),
        (["1.5e-05", "2e10"], "DOUBLE", 1.5e-05, ""),
        (["True", "FALSE"], "BOOLEAN", True, ""),
        (["2026-02-30", "2026-02-01"], "VARCHAR", "2026-02-30", "Kept as text"),
        (
            ["2026-02-03T10:11:12Z", "2026-02-03T10:11:12+02:00"],
            "TIMESTAMP WITH TIME ZONE",
            None,
            "",
        ),
        (["2026/02/03", "2026/12/13"], "DATE", None, "Read as dates: x (2026/02/03 as 2026-02-03)"),
        (["12:30", "9:05"], "TIME", None, ""),
        (
            ["25:30", "9:05"],
            "VARCHAR, x seconds BIGINT",
            "25:30",
            "numbers in: x seconds. 25:30 is 91800 s.",
        ),
        (["30:05:00", "-1:30:00"], "VARCHAR, x seconds BIGINT", "30:05:00", "is 108300"),
        (["1 day 06:05:00.5"], "VARCHAR, x seconds DOUBLE", None, "is 108300"),
        (["25:75", "9:05"], "VARCHAR", "25:75", "values are no TIME"),
        (
            ["Apr 13  2017 12:00:00 AM"],
            "TIMESTAMP",
            datetime.fromisoformat("2017-04-13"),
            "Read as dates",
        ),
        (
            ["4/13/2017 1:05:00 PM", "1/2/2017 12:00:00 AM"],
            "TIMESTAMP",
            datetime.fromisoformat("2017-04-13 13:05"),
            "",
        ),
        (["4/3/2017 1:05 PM"], "VARCHAR", None, "two ways"),
        (["13-Apr-2017", "1-May-2018"], "DATE", date(2017, 4, 13), "as 2017-04-13"),
        (["13 April 2017", "31 Apr 2018"], "VARCHAR", None, "or are none"),
        (["007", "012"], "VARCHAR", "007", ""),
        (["1_000", "2_000"], "VARCHAR", "1_000", ""),
        (["0x1F", "0x2F"], "VARCHAR", "0x1F", ""),
        (["inf", "1.5"], "VARCHAR", "inf", ""),
        (["nan", "1.5"], "DOUBLE", None, "Read as empty: x (nan)"),
        (["..", "1.5"], "DOUBLE", None, "Read as empty: x (..)"),
        (["(5.00)", "7.00"], "DOUBLE", -5.0, "Read as numbers: x ((5.00) as -5.00)"),
        (["−5", "7"], "BIGINT", -5, "Read as numbers"),
        (["12345678901234567890", "12345678901234567891"], "DECIMAL(20,0)", None, ""),
        (["0.12345678901234567891", "1.5"], "DECIMAL(21,20)", None, ""),
        (["0.30000000000000004", "1.5"], "DOUBLE", 0.30000000000000004, ""),
        (["1" * 40, "2"], "VARCHAR", "1" * 40, ""),
        (["4", "5", "6", "pending"], "VARCHAR", "4", "1 of 4 values are no number: pending"),
        (["1.234", "5.678"], "DOUBLE", 1.234, "1.234 may be 1.234 or 1234"),
        (["0.123", "0.456"], "DOUBLE", 0.123, ""),
        ([".123", "-.5"], "DOUBLE", 0.123, ""),
        (["NA", "NA"], "VARCHAR", None, "Read as empty: x (NA)"),
        (["NA", "male"], "VARCHAR", "NA", "may mean that there is no value: x (NA in 1 rows)"),
        (["007", "n/a", "N/A"], "VARCHAR", "007", "no value: x (N/A, n/a in 2 rows)"),
    ],
)
def test_a_column_has_a_type_only_where_all_its_values_have_one_reading(
    tmp_path: Path, values: list[str], kind: str, first: object, note: str
) -> None:
    types, rows, notes = read(tmp_path, "\n".join(["k,x", *(f"a,{each}" for each in values)]))
    assert types == f"k VARCHAR, x {kind}"
    assert first is None or rows[0][1] == first
    assert note in notes
    assert note or "Kept as text" not in notes


@pytest.mark.parametrize(
    ("text", "types", "first", "note"),
    [
        ("a;x\nq;1.234\nr;5.678\n", "x VARCHAR", "1.234", "Kept as text: x (1.234"),
        ("a;x;y\nq;1.234;0,5\nr;5.678;1,5\n", "x BIGINT", 1234, "x (1.234 as 1234), y"),
        ("a;x\nq;1.234,5\nr;5.678\n", "x DOUBLE", 1234.5, ""),
        ("a;x\nq;0,123\nr;0,456\n", "x DOUBLE", 0.123, ""),
        ("a;x\nq;,641\nr;-,5\n", "x DOUBLE", 0.641, "Read as numbers: x (,641 as .641)"),
        ("a\tx\nq\t1,234.5\nr\t5,678\n", "x DOUBLE", 1234.5, ""),
    ],
)
def test_notation_goes_by_column_and_then_by_file(
    tmp_path: Path, text: str, types: str, first: object, note: str
) -> None:
    found, rows, notes = read(tmp_path, text)
    assert types in found
    assert rows[0][1] == first
    assert note in notes
    assert "In two notations" not in notes


@pytest.mark.parametrize(
    ("values", "kind", "note"),
    [
        (["1.234567890123456E+02", "2.5E+00"], "DOUBLE", ""),
        (["1.23456789012345678E+02", "2.5E+00"], "DOUBLE", "Rounded to 15 digits: x."),
        (["0." + "123456789" * 5, "1.5"], "DOUBLE", "Rounded to 15 digits: x."),
        (["12345678901234567890", "1.5E+00"], "VARCHAR", "more digits than can be kept"),
    ],
)
def test_numbers_of_many_digits_are_numbers(
    tmp_path: Path, values: list[str], kind: str, note: str
) -> None:
    """V20: whether a column was one of numbers hung on its digits; whole numbers may be ids."""
    types, _, notes = read(tmp_path, "\n".join(["k,x", *(f"a,{each}" for each in values)]))
    assert types == f"k VARCHAR, x {kind}"
    assert note in notes
    assert note or not notes


def test_what_is_no_number_is_shown(tmp_path: Path) -> None:
    """V21: the note showed the first value, which is one."""
    _, _, notes = read(tmp_path, "who,n,m\na,0,0\nb,1,1\nc,3+,many\n")
    assert "n (codes, or numbers of several currencies or notations: 3+)" in notes
    assert "m (1 of 3 values are no number: many)" in notes


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ('id\tsaid\tn\n1\t"Hello\t5\n2\tfine\t6\n3\tok\t7\n4\tbye"\t8\n', "said (1)"),
        ('id,said,n\n1,"Hello,5\n2,fine,6\n3,ok,7\n', ""),  # all rows are there without quotes
        ('id,text\n1,"Hello\nDear, Bob"\n2,fine\n', ""),
        ('id,text\n1,"Hello\n2,yes, Bob"\n2,"a, b"\n', ""),
        ('id,said,n\n1,"Dear Ada,\nhow are you?",5\n2,fine,6\n', ""),
    ],
)
def test_rows_between_two_stray_quotes_are_told(tmp_path: Path, text: str, note: str) -> None:
    """They were one cell of one row, and nothing said so."""
    _, _, notes = read(tmp_path, text)
    assert ("Cells that look like several rows" in notes) == bool(note)
    assert note in notes


def test_a_header_in_quotes_leaves_the_rows_below_their_cells(tmp_path: Path) -> None:
    """As many rows of one cell as of four: the rows were taken for text of one column."""
    columns, rows, notes = read(tmp_path, '"a,d,e,f"\n1,2,3,4\n2,3,4,5\nb\n')
    assert columns.count(", ") == 3
    assert rows[0][1:] == (2, 3, 4)
    assert "above the header were left out: a,d,e,f" in notes


def test_long_ids_stay_apart(tmp_path: Path) -> None:
    """As floating point they were duplicates."""
    ids = [str(10**19 + n) for n in range(20)]
    _, rows, _ = read(tmp_path, "\n".join(["id,n", *(f"{each},1" for each in ids)]))
    assert [str(row[0]) for row in rows] == ids


def test_digits_of_many_columns_are_kept(tmp_path: Path) -> None:
    """V8: of 17 digits that floating point would round, in any of many columns and after many
    numbers that it keeps, however many zeros these end in."""
    padded = [f"{n}.25000000000000000000" for n in range(300)]
    columns = [
        [*padded, "1.00000000000000000012"] if at % 2 else [*padded, "0.5"] for at in range(60)
    ]
    rows = [",".join(f"c{at}" for at in range(60)), *map(",".join, zip(*columns, strict=True))]
    types, found, notes = read(tmp_path, "\n".join(rows))
    kinds = [each.split(" ", 1)[1] for each in types.split(", ")]
    assert kinds == ["DOUBLE", "DECIMAL(23,20)"] * 30
    assert str(found[-1][1]) == "1.00000000000000000012"
    assert found[-1][0] == 0.5
    assert notes == ""


def test_what_comes_late_in_a_file_counts(tmp_path: Path) -> None:
    """Types are those of all rows, and not of the first ones."""
    lines = ["n,day,code"] + [f"{n},2026-01-02,{n}" for n in range(1, 3000)]
    types, rows, notes = read(tmp_path, "\n".join([*lines, "x,soon,007"]))
    assert types == "n VARCHAR, day VARCHAR, code VARCHAR"
    assert len(rows) == 3000
    assert "1 of 3,000 values are no number: x" in notes


cell = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), max_size=6)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(cell, min_size=3, max_size=3), min_size=1, max_size=6), st.booleans())
def test_every_cell_is_kept_or_told(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]], quoted: bool
) -> None:
    """Whatever is in a cell of a column that stays text comes back as it is, by either way of reading."""
    folder = tmp_path_factory.mktemp("cells")
    mark = '"' if quoted else ""
    kept = [[f"w{each.replace(chr(34), '').replace(',', '')}" for each in row] for row in rows]
    lines = [
        "first_name,last_name,home_town",
        *(",".join(f"{mark}{c}{mark}" for c in r) for r in kept),
    ]
    _, found, _ = read(folder, "\n".join(lines))
    assert [list(row) for row in found] == kept


@pytest.mark.parametrize("end", ["", "\n", ",,\n", ",,", " , \n\n", "\n,,"])
def test_a_blank_last_line_is_no_row(tmp_path: Path, end: str) -> None:
    _, rows, _ = read(tmp_path, f"a,b,c\nx,1,2\ny,3,4\n{end}")
    assert len(rows) == 2


@pytest.mark.parametrize(
    ("text", "types", "row", "note"),
    [
        (
            'Survived, Name, Fare\n1, "Smith, John", 100\n0, "Doe, ""J"" A", 2.5\n',
            "Survived BIGINT, Name VARCHAR, Fare DOUBLE",
            (1, "Smith, John", 100.0),
            "",
        ),
        (
            'a,b,c\n1, "Smith, John" , 5\n2, "Doe", 6\n',
            "b VARCHAR, c BIGINT",
            (1, "Smith, John", 5),
            "",
        ),
        ("a, b, c\nx, y, 1\nz, w, 2\n", "b VARCHAR, c BIGINT", ("x", "y", 1), ""),
        (
            'a,b,c\n1,"say \\"hi, there\\"",5\n2,"C:\\temp",6\n',
            "b VARCHAR, c BIGINT",
            (1, 'say "hi, there"', 5),
            "A backslash is before quotes",
        ),
        ('a,b\n1,"C:\\dir\\"\n2,"D:\\"\n', "a BIGINT, b VARCHAR", (1, "C:\\dir\\"), ""),
        ("a,b\nx\\, y,1\nz,2\n", "a VARCHAR, b BIGINT", ("x, y", 1), "A backslash is before"),
        ("a,b\n'Smith, J',5\n'O''Hara',6\n", "b BIGINT", ("Smith, J", 5), "single quotes"),
        ("'a','b'\n'x','5'\n'y','6'\n", "a VARCHAR, b BIGINT", ("x", 5), "single quotes"),
        ('a\tb\n"foo\t5\nbar\t6\n5" pipe"\t7\n', "b BIGINT", ('"foo', 5), ""),
        ('a,b\n"""x""",1\n', "a VARCHAR, b BIGINT", ('"x"', 1), ""),
        (
            "x,y,note\n1,5,6,\n2,6,7,\n3,7,8,ok\n4,1,2,\n",
            "column_1 BIGINT, x BIGINT, y BIGINT, note VARCHAR",
            (1, 5, 6, None),
            "one name fewer",
        ),
        (
            "id,name\n1,Bob,\n2,Al,\n3,Cy,\n",
            "id BIGINT, name VARCHAR, column_3 VARCHAR",
            (1, "Bob", None),
            "",
        ),
    ],
)
def test_the_dialect_is_that_in_which_all_rows_are_as_wide_as_the_header(
    tmp_path: Path, text: str, types: str, row: tuple[object, ...], note: str
) -> None:
    """V13, V14: a blank before a quote, or a backslash before one in a cell, shifted or garbled cells."""
    found, rows, notes = read(tmp_path, text)
    assert types in found
    assert rows[0] == row
    assert note in notes
    assert "were odd" not in notes


def test_a_sign_of_the_dialect_may_come_late(tmp_path: Path) -> None:
    """V14: the first thousand rows have no quote in a cell."""
    lines = ["a,b", *(f'{n},"plain"' for n in range(1500)), '1500,"say \\"a, b\\""']
    _, rows, _ = read(tmp_path, "\n".join(lines))
    assert rows[-1] == (1500, 'say "a, b"')
