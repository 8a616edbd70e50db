"""Excel workbooks: zip archives, which are checked before they are opened."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

from bot.services.parsing.formats import NumberSigns
from bot.services.parsing.numerals import blank_missing_values, join_some
from bot.services.parsing.results import Cell, EmptySheet, Sheet, Unreadable
from bot.services.parsing.sheet_marks import (
    SheetMarks,
    find_header_rows,
    join_header,
    read_marks,
)
from bot.services.parsing.tabular import NumberedRow, is_blank, to_sheet

_DAMAGE_ERRORS = (
    LookupError,
    ValueError,
    OSError,
    zipfile.BadZipFile,
    zlib.error,
    SyntaxError,  # all XML is syntax
)
_RELATIONSHIP = re.compile(rb'\bType\s*=\s*["\'][^"\'<>]{1,200}/(\w{1,40})["\']')
_NOT_READ = {
    b"chart": "charts",
    b"chartEx": "charts",
    b"diagramData": "diagrams",
    b"oleObject": "embedded files",
    b"package": "embedded files",
    b"image": "pictures",
    b"comments": "sheets with comments",
}
"""Parts of a workbook beside its cells, by the last word of their relationship type."""
_STRICT = b"http://purl.oclc.org/ooxml/officeDocument"
_MAX_UNPACKED = 400_000_000
_MAX_RATIO = 200
_MAX_SHEETS = 10
_MAX_NAMED_SHEETS = 20  # sheets
_MAX_CELLS = 5_000_000
_ERRORS = frozenset(
    (
        "#DIV/0!",
        "#N/A",
        "#NAME?",
        "#NULL!",
        "#NUM!",
        "#REF!",
        "#VALUE!",
        "#SPILL!",
        "#CALC!",
        "#GETTING_DATA",
        "#FIELD!",
        "#BLOCKED!",
        "#CONNECT!",
        "#UNKNOWN!",
        "#BUSY!",
    )
)


def read_workbook(data: bytes, name: str, sheet: str | None) -> list[Sheet]:
    """Return the sheets that are not empty, or only `sheet`: values, not formulas. Raises Unreadable."""
    import openpyxl

    check_archive(data, name)
    try:
        workbook = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        outside_notes = _notes_outside_cells(data)
    except _DAMAGE_ERRORS as error:
        raise Unreadable(f"{name} is damaged: it is not readable as an Excel workbook.") from error
    chosen = _choose_sheets(workbook.sheetnames, sheet, name)
    sheets: list[Sheet] = []
    unread = dict.fromkeys(chosen[_MAX_SHEETS:], "name it as `sheet` to read it")
    for each in chosen[:_MAX_SHEETS]:
        try:
            sheets.append(_worksheet(workbook[each], each if len(workbook.sheetnames) > 1 else ""))
        except EmptySheet:
            if sheet:
                raise
        except Unreadable as error:
            if sheet:
                raise
            unread[each] = str(error).strip()
        except _DAMAGE_ERRORS as error:
            raise Unreadable(f"{name} is damaged: its sheet {each!r} cannot be read.") from error
    if not sheets:
        why = next(iter(unread.values()), "")
        empty = " ".join(
            [f"{name} is empty: none of its sheets has a row with a value.", *outside_notes]
        )
        raise Unreadable(f"{name}: {why}" if why else empty)
    sheets[0].notes.extend(outside_notes)
    for found in sheets:
        found.left_out.extend(f"sheet {title} was not read: {why}" for title, why in unread.items())
    return sheets


def _notes_outside_cells(data: bytes) -> list[str]:
    """Return a note on charts, pictures, text boxes and the like, which are not in cells."""
    found: Counter[str] = Counter()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for part in archive.namelist():
            if part.endswith(".rels"):
                kinds = _RELATIONSHIP.findall(archive.read(part))
                found.update(_NOT_READ[each] for each in kinds if each in _NOT_READ)
            elif "/drawings/" in part and part.endswith(".xml"):
                bodies = archive.read(part).split(b"txBody")[1::2]  # between its tags
                found["text boxes"] += sum(b":t>" in each for each in bodies)
    counts = ", ".join(f"{what} ({count:,})" for what, count in found.items() if count)
    return [f"The workbook also has what is not read: {counts}."] * bool(counts)


def _choose_sheets(names: list[str], sheet: str | None, file: str) -> list[str]:
    if sheet is None:
        return names
    found = [each for each in names if each.casefold() == sheet.strip().casefold()]
    if not found:
        shown = f"{', '.join(names[:_MAX_NAMED_SHEETS])}{', …' * (len(names) > _MAX_NAMED_SHEETS)}"
        raise Unreadable(f"{file} has no sheet {sheet!r}. Its sheets: {shown}.")
    return found


def _worksheet(worksheet: Any, name: str) -> Sheet:
    if not hasattr(worksheet, "reset_dimensions"):
        raise Unreadable(f"{name} is a chart sheet.")
    worksheet.reset_dimensions()  # the declared size may be a billion empty cells
    signs = NumberSigns()
    with worksheet._get_source() as source:  # openpyxl reads only values in this mode
        marks = read_marks(source)
    errors: Counter[str] = Counter()
    rows = dict(_rows(worksheet, signs, errors))
    later_headers, column_groups = _later_headers(rows), _column_groups(rows)
    header = find_header_rows(rows, marks.merged)
    joined = [join_header(rows, marks.merged, *header)] if header else []
    sheet = to_sheet(name, sorted(rows.items()), marks.merged)
    sheet = signs.apply_to(blank_missing_values(sheet))
    if without_value := [
        f"{sheet.columns[at - 1]} ({count:,})"
        for at, count in sorted(marks.without_value.items())
        if at <= len(sheet.columns)
    ]:
        sheet.left_out.append(
            "formulas are kept without their values, which are empty here: "
            f"{join_some(without_value)}; opened and saved in Excel the file has them"
        )
    sheet.notes.extend(joined)
    sheet.notes.extend(_sheet_notes(marks, errors, later_headers, column_groups))
    if worksheet.sheet_state != "visible":
        sheet.notes.append("The sheet is hidden in the workbook.")
    return sheet


def _sheet_notes(
    marks: SheetMarks, errors: Counter[str], later_headers: list[int], column_groups: list[str]
) -> list[str]:
    """Return notes on what a person who opens the workbook sees differently."""
    notes = []
    if marks.hidden_rows:
        notes.append(
            f"{marks.hidden_rows:,} rows are hidden in the workbook, and read like the others."
        )
    if marks.hidden_columns:
        notes.append("Some columns are hidden in the workbook, and read like the others.")
    if errors:
        counts = ", ".join(f"{code} ({count:,})" for code, count in errors.most_common(5))
        notes.append(f"Formula errors, read as empty: {counts}.")
    if len(column_groups) > 1:
        notes.append(
            f"Blank columns separate columns {', '.join(column_groups[:5])}, which may be tables of their "
            "own; all is read as one table."
        )
    if later_headers:
        lines = ", ".join(map(str, later_headers[:5]))
        notes.append(
            f"Below a blank line, line {lines} looks like the header of another table; all is read "
            "as one table. Ask for each as a sheet of its own, or query by rows."
        )
    return notes


def _column_groups(rows: dict[int, list[Cell]]) -> list[str]:
    """Return the groups of columns that blank columns separate, as "A–C"."""
    from openpyxl.utils import get_column_letter

    filled = {at for row in rows.values() for at, cell in enumerate(row, 1) if cell is not None}
    starts = [at for at in sorted(filled) if at - 1 not in filled]
    ends = [at for at in sorted(filled) if at + 1 not in filled]
    return [
        "–".join(dict.fromkeys(map(get_column_letter, ends_of)))
        for ends_of in zip(starts, ends, strict=True)
    ]


def _later_headers(rows: dict[int, list[Cell]]) -> list[int]:
    """Return the lines that look like headers of further tables: only words, below a blank line, in
    columns that had numbers before."""
    found, numeric, last = [], set[int](), 0
    for line, row in sorted(rows.items()):
        if is_blank(row):
            continue
        filled = {at: cell for at, cell in enumerate(row) if cell is not None}
        is_first = line > last + 1 and len(filled) > 1 and numeric & filled.keys()
        if is_first and all(isinstance(cell, str) for cell in filled.values()):
            found.append(line)
        numeric |= {at for at, cell in filled.items() if isinstance(cell, int | float)}
        last = line
    return found


def _rows(worksheet: Any, signs: NumberSigns, errors: Counter[str]) -> Iterator[NumberedRow]:
    cells = 0
    for number, row in enumerate(worksheet.iter_rows(), start=1):
        if not row:
            continue  # there may be a million empty rows before the next one
        cells += len(row)
        if cells > _MAX_CELLS:
            raise Unreadable(
                f"Sheet {worksheet.title!r} has more than {_MAX_CELLS:,} cells. Ask for a CSV or "
                "Parquet file of it, or for a part."
            )
        signs.record(row)
        errors.update(cell.value for cell in row if _is_error(cell.value))
        yield number, [_value(cell.value) for cell in row]


def _value(cell: Cell) -> Cell:
    """Return the cell, or None for blank text and for formula errors such as #DIV/0!."""
    return None if _is_error(cell) or (isinstance(cell, str) and not cell.strip()) else cell


def _is_error(cell: Cell) -> bool:
    """Return whether the cell is a formula error, and not text such as #USA or #winning!."""
    return isinstance(cell, str) and cell in _ERRORS


def check_archive(data: bytes, name: str) -> None:
    """Raise Unreadable for data that is no zip archive, unpacks to far too much, or is in the format
    Strict Open XML: the libraries do not know its names and would find it empty."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacked = sum(each.file_size for each in archive.infolist())
            _check_size(name, len(data), unpacked)
            is_strict = _is_strict(archive)
    except (*_DAMAGE_ERRORS, NotImplementedError, RuntimeError) as error:
        raise Unreadable(f"{name} is damaged: it is not a readable Office file.") from error
    if is_strict:
        raise Unreadable(
            f"{name} is in the format Strict Open XML, which is not read. Ask for it saved as a plain "
            "Word document (.docx) or Excel workbook (.xlsx)."
        )


def _check_size(name: str, packed: int, unpacked: int) -> None:
    if unpacked > _MAX_UNPACKED or (unpacked > 10_000_000 and unpacked > _MAX_RATIO * packed):
        raise Unreadable(
            f"{name} unpacks from {packed:,} to {unpacked:,} bytes and was not opened. Ask for "
            "the data as CSV or Parquet, or for a part of it."
        )


def _is_strict(archive: zipfile.ZipFile) -> bool:
    names = archive.namelist()
    return "_rels/.rels" in names and _STRICT in archive.read("_rels/.rels")
