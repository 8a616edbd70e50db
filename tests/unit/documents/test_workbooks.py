"""Workbooks say what people see in them: merged cells, formulas, errors and hidden rows (V7, V12)."""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment

from bot.library.documents.reading import formats
from bot.library.documents.reading.office import read_workbook
from bot.library.documents.reading.sheet_marks import read_marks
from bot.library.documents.reading.tabular import write_parquet
from bot.library.documents.reading.word import read_word
from bot.library.documents.results import Sheet, Unreadable


def read(make: Callable[[Any], None]) -> Sheet:
    book = openpyxl.Workbook()
    make(book.active)
    out = io.BytesIO()
    book.save(out)
    return read_workbook(out.getvalue(), "b.xlsx", None)[0]


def test_a_merged_group_counts_for_all_its_rows() -> None:
    def make(sheet: Any) -> None:
        for row in (["group", "n"], ["A", 1], [None, 2], ["B", 3], [None, 4]):
            sheet.append(row)
        sheet.merge_cells("A2:A3")
        sheet.merge_cells("A4:A5")

    sheet = read(make)
    assert sheet.rows == [["A", 1], ["A", 2], ["B", 3], ["B", 4]]
    assert sheet.notes == ["Merged cells, their value given to each of their rows: group (2)."]


def test_a_merged_number_is_told_not_to_be_summed() -> None:
    """V7: a budget that is written once for three rows is no three budgets."""

    def make(sheet: Any) -> None:
        for row in (["who", "team", "budget"], ["A", 1, 900], ["B", 2], ["C", 2]):
            sheet.append(row)
        sheet.merge_cells("C2:C4")

    sheet = read(make)
    assert [row[2] for row in sheet.rows] == [900, 900, 900]
    assert "budget (2). A sum counts the numbers among them once for each row." in sheet.notes[0]


def test_merged_cells_make_no_rows() -> None:
    """V7: a row that is blank but for a merged cell above it has nothing to be counted."""

    def make(sheet: Any) -> None:
        for row in (["group", "n"], ["A", 1], [], [None, 2], [], ["B", 3], []):
            sheet.append(row)
        sheet.merge_cells("A2:A5")
        sheet.merge_cells("A6:A7")

    assert read(make).rows == [["A", 1], ["A", 2], ["B", 3]]


def test_a_merged_cell_of_the_header_is_no_value() -> None:
    def make(sheet: Any) -> None:
        for row in ([1, 2, 3], [None, 5, 6], [None, 8, 9], [10, 11, None]):
            sheet.append(row)
        sheet.merge_cells("A1:A3")

    sheet = read(make)
    assert [list(row) for row in sheet.rows] == [[None, 5, 6], [None, 8, 9], [10, 11, None]]
    assert sheet.notes == ["Line 1 (1 2 3) was read as the header; it may be a row."]


def test_a_tall_header_is_one_row() -> None:
    """V7: names above units, the one that has none merged over both rows."""

    def make(sheet: Any) -> None:
        for row in (["Region", "Sales", "Cost"], [None, "EUR", "USD"], ["North", 1, 2]):
            sheet.append(row)
        sheet.merge_cells("A1:A2")

    sheet = read(make)
    assert sheet.columns == ["Region", "Sales EUR", "Cost USD"]
    assert [list(row) for row in sheet.rows] == [["North", 1, 2]]


def test_cells_merged_over_columns_are_told() -> None:
    def make(sheet: Any) -> None:
        for row in (["who", "Q1", "Q2"], ["A", 1, 2], ["B", 3, None], ["C", 4, 5]):
            sheet.append(row)
        sheet.merge_cells("B3:C3")

    assert "merged over several columns; their value is in the first: line 3" in " ".join(
        read(make).notes
    )


def test_lines_of_prose_are_rows() -> None:
    """V12: all but the last were left out as lines above a header that is not there."""

    def make(sheet: Any) -> None:
        for column, words in ((1, "Notes"), (5, "Links"), (1, "Read this"), (5, "A"), (5, "B")):
            sheet.cell(sheet.max_row + 1, column, words)
        sheet.cell(1, 20, "x")

    sheet = read(make)
    said = {cell for row in sheet.rows for cell in row} | set(sheet.columns)
    assert {"Notes", "Links", "Read this", "A", "B", "x"} <= said


def test_a_header_of_merged_rows_leaves_numbers_numbers() -> None:
    def make(sheet: Any) -> None:
        for row in (
            ["Report of May"],
            ["Region", "2025", None, "2026", None],
            [None, "H1", "H2", "H1", "H2"],
            ["North", 1, 2, 3, 4],
        ):
            sheet.append(row)
        for merged in ("A1:E1", "A2:A3", "B2:C2", "D2:E2"):
            sheet.merge_cells(merged)

    sheet = read(make)
    assert sheet.columns == ["Region", "2025 H1", "2025 H2", "2026 H1", "2026 H2"]
    assert [list(row) for row in sheet.rows] == [["North", 1, 2, 3, 4]]


def test_groups_of_columns_may_be_several_rows_high() -> None:
    """V7: also with text below, where the merged cells alone tell."""

    def make(sheet: Any) -> None:
        for row in (
            ["Region", "Effect"],
            [],
            [None, "of it", "of all"],
            [None, "%"],
            ["A", "B", "C"],
        ):
            sheet.append(row)
        sheet["E1"] = "Note"
        for merged in ("A1:A4", "B1:C2", "C3:C4", "E1:E4"):
            sheet.merge_cells(merged)

    sheet = read(make)
    assert sheet.columns == ["Region", "Effect of it %", "Effect of all", "column_4", "Note"]
    assert [list(row) for row in sheet.rows] == [["A", "B", "C", None, None]]
    assert "3 rows up to line 4 were read as one header." in sheet.notes


def test_formulas_without_values_in_part_of_a_column_are_counted() -> None:
    def make(sheet: Any) -> None:
        for row in (["who", "n"], ["A", 1], ["B", "=1+1"], ["C", "=2+2"]):
            sheet.append(row)

    [said] = read(make).left_out
    assert "without their values, which are empty here: n (2)" in said


def test_only_errors_are_errors() -> None:
    def make(sheet: Any) -> None:
        for row in (["tag", "n"], ["#USA", 1], ["#winning!", 2], ["#N/A", 3]):
            sheet.append(row)

    sheet = read(make)
    assert [row[0] for row in sheet.rows] == ["#USA", "#winning!", None]
    assert "Formula errors, read as empty: #N/A (1)." in sheet.notes


def test_numbers_and_days_that_are_text_are_told(tmp_path: Path) -> None:
    """Text sorts 9 above 10, and its sum is refused; a code with leading zeros is meant as text."""

    def make(sheet: Any) -> None:
        for row in (
            ["cases", "mixed", "day", "zip", "sex"],
            ["9", 5, "12/06/2021", "00501", "f"],
            ["10", 6, "13/06/2021", "10001", "NA"],
            ["<5", "pending", "14/06/2021", "10002", "m"],
        ):
            sheet.append(row)

    sheet = read(make)
    write_parquet(sheet, tmp_path / "0.parquet")
    assert sheet.notes == [
        "Kept as text, as the file has them: cases (9), mixed (5), day (12/06/2021).",
        "Kept as words that may mean that there is no value: sex (NA in 1 rows).",
    ]


def test_hidden_rows_and_further_tables_are_told() -> None:
    def make(sheet: Any) -> None:
        for row in (["a", "n"], ["x", 1], ["y", 2], [], ["city", "country"], ["Rome", "IT"]):
            sheet.append(row)
        sheet.row_dimensions[3].hidden = True

    notes = " ".join(read(make).notes)
    assert "1 rows are hidden in the workbook" in notes
    assert "line 5 looks like the header of another table" in notes


@pytest.mark.parametrize(
    "xml",
    [
        b'<c r="A1" ' * 300_000,
        b"<mergeCell " * 300_000,
        b'<mergeCell ref="' * 200_000,
        b"<row " * 400_000,
        b'<row hidden="1" ' * 200_000,
        b"<c " + b'r="A1" ' * 400_000,
        b"<col " * 400_000 + b'hidden="1',
        b'<c r="A1"><f>x' * 200_000,
        b"<" + b"w" * 3_000_000,
    ],
    ids=range(9),
)
def test_marks_of_a_hostile_sheet_take_no_time(xml: bytes) -> None:
    """Each took minutes: a search that began anew at each tag went through all of the rest."""
    started = time.process_time()
    read_marks(io.BytesIO(xml))
    assert time.process_time() - started < 5


def test_tables_beside_each_other_are_told() -> None:
    """V12: all is read as one table, and the note says where the others may be."""

    def make(sheet: Any) -> None:
        for row in (["who", "n", None, "day", "m"], ["A", 1, None, "x", 3], ["B", 2, None, "y", 4]):
            sheet.append(row)

    assert "Blank columns separate columns A–B, D–E" in " ".join(read(make).notes)


def test_what_is_outside_the_cells_is_told() -> None:
    """V12: charts, pictures, comments and text boxes are not read, and the notes say so."""

    def make(sheet: Any) -> None:
        for row in (["who", "n"], ["A", 1], ["B", 2]):
            sheet.append(row)
        chart = BarChart()
        chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
        sheet.add_chart(chart, "E2")
        sheet["A2"].comment = Comment("look", "Ada")

    assert "not read: charts (1), sheets with comments (1)." in " ".join(read(make).notes)


@pytest.mark.parametrize("cells", [[["a"], [1]], []], ids=["beside cells", "alone"])
def test_text_boxes_and_embedded_files_are_told(cells: list[list[Any]]) -> None:
    """V12: also where they are all that a workbook has. A shape without words is none."""
    out = io.BytesIO()
    book: Any = openpyxl.Workbook()
    for row in cells:
        book.active.append(row)
    book.save(out)
    box = "<xdr:sp><xdr:txBody><a:p>{}</a:p></xdr:txBody></xdr:sp>"
    drawing = box.format("<a:r><a:t>Revised</a:t></a:r>") + box.format("")
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/package"
    with zipfile.ZipFile(out, "a") as parts:
        parts.writestr("xl/drawings/drawing1.xml", f"<xdr:wsDr>{drawing}</xdr:wsDr>")
        related = f'<Relationship Id="r1" Type="{kind}" Target="a.docx"/>'
        parts.writestr("xl/worksheets/_rels/sheet1.xml.rels", related)
    try:
        said = " ".join(read_workbook(out.getvalue(), "b.xlsx", None)[0].notes)
    except Unreadable as error:
        said = str(error)
    assert "text boxes (1)" in said
    assert "embedded files (1)" in said


def shown(rows: list[list[Any]], formats: dict[str, str]) -> Sheet:
    """Read a sheet with these number formats, by cell."""

    def make(sheet: Any) -> None:
        for row in rows:
            sheet.append(row)
        for place, form in formats.items():
            sheet[place].number_format = form

    return read(make)


def test_two_currencies_of_a_column_are_told_and_kept() -> None:
    """V15: in number formats alone, they were added up."""
    rows: list[list[Any]] = [["who", "amount"], ["a", 5], ["b", 7.5], ["c", 3], ["d", 4]]
    forms = {"B2": "[$€-407] #,##0", "B3": '#,##0.00 "USD"', "B4": "[$CHF] #,##0", "B5": "#,##0 €"}
    sheet = shown(rows, forms)
    assert sheet.columns == ["who", "amount", "amount currency"]
    assert [row[1:] for row in sheet.rows] == [(5, "€"), (7.5, "USD"), (3, "CHF"), (4, "€")]
    assert "amount has more than one currency: € (2), USD (1), CHF (1)." in sheet.notes[0]


@pytest.mark.parametrize(
    ("forms", "note"),
    [
        (['0 "kg"', '0 "lb"'], "more than one unit: kg (1), lb (1)."),
        (['0 "kg"', '0 "kg"'], "Read as numbers: n (5 kg as 5)."),
        (['#,##0 "€"', "General"], "with and without a currency: € (1), none (1)."),
        (["0%", "0.0"], "with and without a per cent sign, and 10% is 0.1 here: % (1), none (1)."),
        (['_-* #,##0\\ "€"_-;\\-* #,##0', "[$€-2] 0"], "Read as numbers: n (€5 as 5)."),
        (["#,##0.00_);[Red](#,##0.00)", "0.00E+00"], ""),
        (['[>99]0.0,"k";0', "# ?/?"], ""),
    ],
)
def test_what_is_shown_beside_numbers_is_told(forms: list[str], note: str) -> None:
    """V15, V16: other units and signs as well; what is the same everywhere and no sign is not."""
    rows: list[list[Any]] = [["n"], [5], [7]]
    sheet = shown(rows, {f"A{at}": form for at, form in enumerate(forms, 2)})
    assert note in " ".join(sheet.notes)
    assert bool(note) == bool(sheet.notes)


@pytest.mark.parametrize(
    ("form", "numbers", "expected"),
    [
        ("00000", [501, 10001], ["00501", "10001"]),
        ("000-00-0000", [78051120, 5], ["078-05-1120", "000-00-0005"]),
        ('"ID-"0000', [12, 123456], ["ID-0012", "ID-123456"]),
        ("00", [3, -12], ["03", "-12"]),
        ("0", [3, 12], [3, 12]),
        ("00.00", [3, 12.5], [3, 12.5]),
        ("[h]:mm", [timedelta(hours=30, minutes=5), timedelta()], ["30:05:00", "0:00:00"]),
        ("[h]:mm:ss", [timedelta(minutes=-90)], ["-1:30:00"]),
    ],
)
def test_zeros_and_hours_are_as_shown(form: str, numbers: list[Any], expected: list[Any]) -> None:
    """V16: zip codes lost their zeros, and 30 hours became a day and six hours."""
    rows: list[list[Any]] = [["x", "n"], *(["w", number] for number in numbers)]
    sheet = shown(rows, {f"B{at}": form for at in range(2, len(rows) + 1)})
    assert [row[1] for row in sheet.rows] == expected
    if isinstance(numbers[0], timedelta):
        assert sheet.columns == ["x", "n", "n seconds"]
        assert [row[2] for row in sheet.rows] == [each.total_seconds() for each in numbers]


@given(st.integers(1, 9), st.integers(-(10**11), 10**11), st.text("-/ ()x", max_size=3))
def test_leading_zeros_are_shown_by_any_format(places: int, number: int, mark: str) -> None:
    """V16: the digits are those of the number, with zeros before them up to the places of the format."""
    form = formats.parse("0" + f'"{mark}"' + "0" * places)
    assert form is not None
    text = form.shown(float(number))
    digits = f"{abs(number):0{places + 1}}"
    assert text == f"{'-' * (number < 0)}{digits[:-places]}{mark}{digits[-places:]}"


def parts_of(rows: str, **others: str) -> bytes:
    """A workbook as some programs write it: with what it needs, and no more."""
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    head = "http://schemas.openxmlformats.org/package/2006"
    relations = f'<Relationships xmlns="{head}/relationships"><Relationship Id="r1" Type="{kind}/'
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        types = "application/vnd.openxmlformats-officedocument.spreadsheetml"
        overrides = f'<Override PartName="/w.xml" ContentType="{types}.sheet.main+xml"/>'
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{head}/content-types"><Default Extension="xml" ContentType="{types}.worksheet+xml"/>{overrides}</Types>',
        )
        archive.writestr(
            "_rels/.rels", f'{relations}officeDocument" Target="xl/workbook.xml"/></Relationships>'
        )
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{main}" xmlns:r="{kind}"><sheets><sheet name="A" sheetId="1" r:id="r1"/></sheets></workbook>',
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f'{relations}worksheet" Target="/xl/worksheets/s.xml"/><Relationship Id="r2" Type="{kind}/styles" Target="styles.xml"/></Relationships>',
        )
        archive.writestr(
            "xl/worksheets/s.xml",
            f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>',
        )
        for name, text in others.items():
            archive.writestr(f"xl/{name}.xml", text)
    return out.getvalue()


def test_workbooks_with_odd_styles_are_read() -> None:
    """V17: fills, names and numbers of styles that are against the rules made a workbook damaged."""
    styles = (
        '<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        '<numFmts><numFmt numFmtId="170" formatCode="0000"/></numFmts>'
        '<fills><fill><patternFill patternType="none such"/></fill></fills>'
        '<cellXfs><xf numFmtId="0" fillId="99"/><xf numFmtId="170" fontId="x"/></cellXfs>'
        '<cellStyles><cellStyle xfId="7"/></cellStyles></styleSheet>'
    )
    rows = (
        '<row r="1"><c t="str" r="A1"><v>n</v></c><c t="str" r="B1"><v>id</v></c></row>'
        '<row r="2"><c s="1" r="A2"><v>7</v></c><c r="B2"><v>1234567890123456789</v></c></row>'
    )
    [sheet] = read_workbook(parts_of(rows, styles=styles), "b.xlsx", None)
    assert sheet.columns == ["n", "id"]
    assert [list(row) for row in sheet.rows] == [["0007", 1234567890123456789]]


def test_cells_without_places_have_their_formats() -> None:
    """V17: the place of a cell may be left out."""
    styles = (
        '<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        '<numFmts><numFmt numFmtId="170" formatCode="000"/></numFmts>'
        '<cellXfs><xf/><xf numFmtId="170"/></cellXfs></styleSheet>'
    )
    rows = (
        '<row><c t="str"><v>a</v></c><c t="str"><v>b</v></c></row>'
        '<row><c><v>1</v></c><c s="1"><v>2</v></c></row>'
    )
    [sheet] = read_workbook(parts_of(rows, styles=styles), "b.xlsx", None)
    assert [list(row) for row in sheet.rows] == [[1, "002"]]


@pytest.mark.parametrize(
    "reader", [lambda data: read_workbook(data, "b", None), lambda data: read_word(data, "b")]
)
def test_strict_open_xml_is_refused_as_what_it_is(reader: Callable[[bytes], Any]) -> None:
    """V7: to the libraries such a file is empty, which it is not."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as parts:
        kind = "http://purl.oclc.org/ooxml/officeDocument/relationships/officeDocument"
        parts.writestr("_rels/.rels", f'<Relationship Id="r1" Type="{kind}" Target="x.xml"/>')
    with pytest.raises(Unreadable, match=r"Strict Open XML, which is not read. Ask for it"):
        reader(out.getvalue())
