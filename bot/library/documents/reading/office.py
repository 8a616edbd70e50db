"""Excel workbooks: zip archives, which are checked before they are opened."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any
from xml.etree import ElementTree

from bot.library.documents.reading.formats import (
    NumberFormat,
    formatted,
    read_formats,
    show_durations,
    show_formats,
)
from bot.library.documents.reading.numerals import blank_missing_values, join_some
from bot.library.documents.reading.sheet_marks import (
    SheetMarks,
    find_header_rows,
    join_header,
    read_marks,
)
from bot.library.documents.reading.tabular import NumberedRow, is_blank, to_sheet
from bot.library.documents.results import Cell, EmptySheet, Sheet, Unreadable

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
_MAX_AREA = 20_000_000
"""Most cells between the first and the last, blank ones included."""
_FIRST_ROUNDED = 2**53
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
    from python_calamine import CalamineError

    check_archive(data, name)
    try:
        book = _Workbook(data)
        outside_notes = _notes_outside_cells(data)
    except (*_DAMAGE_ERRORS, CalamineError) as error:
        raise Unreadable(f"{name} is damaged: it is not readable as an Excel workbook.") from error
    chosen = _choose_sheets(book.names, sheet, name)
    sheets: list[Sheet] = []
    unread = dict.fromkeys(chosen[_MAX_SHEETS:], "name it as `sheet` to read it")
    for sheet_name in chosen[:_MAX_SHEETS]:
        try:
            sheets.append(_worksheet(book, sheet_name, sheet_name if len(book.names) > 1 else ""))
        except EmptySheet:
            if sheet:
                raise
        except Unreadable as error:
            if sheet:
                raise
            unread[sheet_name] = str(error).strip()
        except (*_DAMAGE_ERRORS, CalamineError) as error:
            raise Unreadable(
                f"{name} is damaged: its sheet {sheet_name!r} cannot be read."
            ) from error
    if not sheets:
        why = next(iter(unread.values()), "")
        empty = " ".join(
            [f"{name} is empty: none of its sheets has a row with a value.", *outside_notes]
        )
        raise Unreadable(f"{name}: {why}" if why else empty)
    sheets[0].notes.extend(outside_notes)
    for worksheet in sheets:
        worksheet.left_out.extend(
            f"sheet {title} was not read: {why}" for title, why in unread.items()
        )
    return sheets


class _Workbook:
    """A workbook: calamine reads its cells, and what calamine does not tell is read from its parts.

    Raises CalamineError, or one of _DAMAGE_ERRORS.
    """

    def __init__(self, data: bytes) -> None:
        from python_calamine import CalamineWorkbook

        self._data = data
        self._book = CalamineWorkbook.from_object(io.BytesIO(data))
        self.names: list[str] = self._book.sheet_names
        self._kinds = {each.name: each for each in self._book.sheets_metadata}
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            self._paths = {each.casefold(): each for each in archive.namelist()}
            self._sheets, styles = self._find_parts(archive)
            self.formats = read_formats(archive.read(styles)) if styles else {}

    def _find_parts(self, archive: zipfile.ZipFile) -> tuple[dict[str, str], str]:
        """Return the paths of the sheets by name, and that of the styles."""
        main = next(iter(self._related(archive, "", "officeDocument").values()), "xl/workbook.xml")
        paths = self._related(archive, main, "worksheet")
        styles = self._related(archive, main, "styles")
        if main not in self._paths.values():
            return {}, ""
        root = ElementTree.fromstring(archive.read(main))  # noqa: S314 - see read_formats
        sheets = {
            sheet_element.get("name", ""): paths[key]
            for sheet_element in root.iterfind(".//{*}sheet")
            for name, key in sheet_element.items()
            if name.endswith("}id") and key in paths
        }
        return sheets, next(iter(styles.values()), "")

    def _related(self, archive: zipfile.ZipFile, part: str, kind: str) -> dict[str, str]:
        """Return the paths of the parts of a kind that a part refers to, by the ids that it uses."""
        folder, _, file = part.rpartition("/")
        relations = self._paths.get(f"{folder}/_rels/{file}.rels".lstrip("/").casefold())
        if relations is None:
            return {}
        root = ElementTree.fromstring(archive.read(relations))  # noqa: S314 - see read_formats
        targets = {}
        for relationship in root.iterfind(".//{*}Relationship"):
            target = relationship.get("Target", "").replace("\\", "/")
            path = posixpath.normpath(posixpath.join("/", folder, target))[1:]
            if relationship.get("Type", "").endswith(f"/{kind}") and path.casefold() in self._paths:
                targets[relationship.get("Id", "")] = self._paths[path.casefold()]
        return targets

    def is_hidden(self, name: str) -> bool:
        return str(self._kinds[name].visible) != "SheetVisibleEnum.Visible"

    def is_chart(self, name: str) -> bool:
        return str(self._kinds[name].typ) == "SheetTypeEnum.ChartSheet"

    def marks(self, name: str) -> SheetMarks:
        """Return what the cells have beside values."""
        if name not in self._sheets:
            return SheetMarks()
        with (
            zipfile.ZipFile(io.BytesIO(self._data)) as archive,
            archive.open(self._sheets[name]) as source,
        ):
            return read_marks(source, self.formats)

    def rows(self, name: str, marks: SheetMarks) -> Iterator[NumberedRow]:
        """Yield the rows with their lines; blank cells are None or ""."""
        if marks.lines * marks.columns > _MAX_AREA:
            yield from self._scattered_rows(name)
            return
        worksheet = self._book.get_sheet_by_name(name)
        if worksheet.start is None:
            return
        empty_cells: list[Cell] = [None] * worksheet.start[1]
        for line, row in enumerate(worksheet.iter_rows(), 1):
            yield line, [*empty_cells, *row]

    def _scattered_rows(self, name: str) -> Iterator[NumberedRow]:
        """Yield the rows of a sheet whose cells are so far from each other that calamine, which keeps
        the blank ones between them too, takes too much memory."""
        import openpyxl

        book = openpyxl.load_workbook(io.BytesIO(self._data), read_only=True, data_only=True)
        worksheet: Any = book[name]
        worksheet.reset_dimensions()  # the declared size may be a billion empty cells
        for line, row in enumerate(worksheet.iter_rows(values_only=True), 1):
            if row:
                yield line, list(row)


def _notes_outside_cells(data: bytes) -> list[str]:
    """Return a note on charts, pictures, text boxes and the like, which are not in cells."""
    found: Counter[str] = Counter()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for part in archive.namelist():
            if part.endswith(".rels"):
                kinds = _RELATIONSHIP.findall(archive.read(part))
                found.update(_NOT_READ[kind] for kind in kinds if kind in _NOT_READ)
            elif "/drawings/" in part and part.endswith(".xml"):
                bodies = archive.read(part).split(b"txBody")[1::2]  # between its tags
                found["text boxes"] += sum(b":t>" in part for part in bodies)
    counts = ", ".join(f"{what} ({count:,})" for what, count in found.items() if count)
    return [f"The workbook also has what is not read: {counts}."] * bool(counts)


def _choose_sheets(names: list[str], sheet: str | None, file: str) -> list[str]:
    if sheet is None:
        return names
    matching = [name for name in names if name.casefold() == sheet.strip().casefold()]
    if not matching:
        listed = f"{', '.join(names[:_MAX_NAMED_SHEETS])}{', …' * (len(names) > _MAX_NAMED_SHEETS)}"
        raise Unreadable(f"{file} has no sheet {sheet!r}. Its sheets: {listed}.")
    return matching


def _worksheet(book: _Workbook, title: str, name: str) -> Sheet:
    if book.is_chart(title):
        raise Unreadable(f"{title} is a chart sheet.")
    marks = book.marks(title)
    errors = marks.errors
    rows = dict(_rows(book, title, marks, errors))
    _add_formats(rows, marks, book.formats)
    later_headers, column_groups = _later_headers(rows), _column_groups(rows)
    header = find_header_rows(rows, marks.merged)
    joined = [join_header(rows, marks.merged, *header)] if header else []
    sheet = to_sheet(name, sorted(rows.items()), marks.merged)
    sheet = show_durations(show_formats(blank_missing_values(sheet)))
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
    if book.is_hidden(title):
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
    headers, numeric, last = [], set[int](), 0
    for line, row in sorted(rows.items()):
        if is_blank(row):
            continue
        filled = {at: cell for at, cell in enumerate(row) if cell is not None}
        is_first = line > last + 1 and len(filled) > 1 and numeric & filled.keys()
        if is_first and all(isinstance(cell, str) for cell in filled.values()):
            headers.append(line)
        numeric |= {at for at, cell in filled.items() if isinstance(cell, int | float)}
        last = line
    return headers


def _rows(
    book: _Workbook, title: str, marks: SheetMarks, errors: Counter[str]
) -> Iterator[NumberedRow]:
    cells = 0
    for line, row_of_book in book.rows(title, marks):
        row = list(map(_value, row_of_book))
        while row and row[-1] is None:
            row.pop()
        if not row:
            continue  # there may be a million empty rows before the next one
        cells += len(row)
        if cells > _MAX_CELLS:
            raise Unreadable(
                f"Sheet {title!r} has more than {_MAX_CELLS:,} cells. Ask for a CSV or "
                "Parquet file of it, or for a part."
            )
        if not _ERRORS.isdisjoint(row):
            errors.update(str(cell) for cell in row if _is_error(cell))
            row = [None if _is_error(cell) else cell for cell in row]
        yield line, row


def _add_formats(
    rows: dict[int, list[Cell]], marks: SheetMarks, formats: Mapping[int, NumberFormat]
) -> None:
    """Put numbers with what their formats show, and numbers with all their digits, into the rows."""
    for (line, column), number in marks.long_numbers.items():
        row = rows.get(line, [])
        if column <= len(row) and isinstance(row[column - 1], int | float):
            row[column - 1] = number
    for (column, style), lines in marks.styled.items():
        for line in lines:
            row = rows.get(line, [])
            cell = row[column - 1] if column <= len(row) else None
            if isinstance(cell, int | float) and not isinstance(cell, bool):
                row[column - 1] = formatted(cell, formats[style])


def _value(cell: Cell) -> Cell:
    """Return the cell: whole numbers as such, and None for blank text."""
    if isinstance(cell, float):
        return int(cell) if cell.is_integer() and abs(cell) < _FIRST_ROUNDED else cell
    return None if isinstance(cell, str) and not cell.strip() else cell


def _is_error(cell: Cell) -> bool:
    """Return whether the cell is a formula error, and not text such as #USA or #winning!."""
    return isinstance(cell, str) and cell in _ERRORS


def check_archive(data: bytes, name: str) -> None:
    """Raise Unreadable for data that is no zip archive, unpacks to far too much, or is in the format
    Strict Open XML: the libraries do not know its names and would find it empty."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
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
