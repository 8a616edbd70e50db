"""Spreadsheet files (CSV, Excel) from tables: with the right types, and without formulas."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from math import isfinite
from typing import Any

from bot.library.documents.cells import cell_text, clean, is_like_formula, without_formula
from bot.library.documents.results import Unwritable

_NOT_IN_TITLE = re.compile(r"[\[\]:*?/\\]")
_MAX_TITLE, _MAX_CELL, _MAX_DIGITS = 31, 32_767, 15
"""Limits of Excel: characters of a sheet's name and of a cell, digits of a number."""
_MAX_CELLS = 3_000_000
_MEASURED_ROWS = 200
_DATE, _DATE_TIME = "yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss"


@dataclass(frozen=True, slots=True)
class WorkbookSheet:
    """A sheet of a workbook."""

    name: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]


def digits(values: Iterable[object]) -> int:
    """Return the number of decimals for all numbers of a column: 0 where all are whole, else what
    one of them needs, 2 (1234.5 may be money) or 3."""
    needed = max((_digits(each) for each in values if isinstance(each, float | Decimal)), default=0)
    return max(2, needed) if needed else 0


def _digits(value: float | Decimal) -> int:
    return len(f"{value:.3f}".rstrip("0").partition(".")[2]) if isfinite(value) else 0


def csv_file(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """Return CSV with a byte order mark, without which Excel misreads accents."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([_csv_cell(column) for column in columns])
    writer.writerows([_csv_cell(cell) for cell in row] for row in rows)
    return out.getvalue().encode("utf-8-sig")


def workbook(sheets: Sequence[WorkbookSheet]) -> bytes:
    """Return an Excel workbook: frozen headings with filters, numbers as numbers, dates as dates.

    Takes long: call it in a thread. Raises Unwritable for more than 3 million cells.
    """
    import openpyxl

    cells = sum(len(each.columns) * (len(each.rows) + 1) for each in sheets)
    if cells > _MAX_CELLS:
        raise Unwritable(
            f"These are {cells:,} cells; a workbook gets {_MAX_CELLS:,} at most. Choose rows or columns "
            "with query_table, or share .csv or .parquet."
        )
    book = openpyxl.Workbook(write_only=True)
    for sheet, title in zip(sheets, _titles(sheets), strict=True):
        _write(book.create_sheet(title), sheet)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _titles(sheets: Sequence[WorkbookSheet]) -> list[str]:
    """Return sheet names that Excel accepts, numbered where they are the same."""
    titles: list[str] = []
    for number, sheet in enumerate(sheets, 1):
        plain = " ".join(_NOT_IN_TITLE.sub(" ", clean(sheet.name)).split()).strip("'")
        title = base = plain[:_MAX_TITLE].strip() or f"Sheet {number}"
        copy = 1
        while title.casefold() in map(str.casefold, titles):
            copy += 1
            title = f"{base[: _MAX_TITLE - 4]} ({copy})"
        titles.append(title)
    return titles


def _write(worksheet: Any, sheet: WorkbookSheet) -> None:
    from openpyxl.styles import Alignment, Font, PatternFill
    from openpyxl.utils import get_column_letter

    last = get_column_letter(max(1, len(sheet.columns)))
    worksheet.freeze_panes = "A2"
    worksheet.auto_filter.ref = f"A1:{last}{len(sheet.rows) + 1}"
    for number, width in enumerate(_widths(sheet), 1):
        worksheet.column_dimensions[get_column_letter(number)].width = width
    heading = [_text_cell(worksheet, clean(column)) for column in sheet.columns]
    for cell in heading:
        cell.font, cell.fill = (
            Font("Calibri", 11, bold=True),
            PatternFill("solid", fgColor="EEF1F5"),
        )
        cell.alignment = Alignment(vertical="top", wrap_text=True)
    worksheet.append(heading)
    formats = [_number_format(column) for column in zip(*sheet.rows, strict=True)]
    for row in sheet.rows:
        worksheet.append(
            [
                _cell(worksheet, value, number_format)
                for value, number_format in zip(row, formats, strict=True)
            ]
        )


def _number_format(column: Sequence[object]) -> str:
    """Return the number format of a column; "" where all are whole: they may be years or ids."""
    return f"#,##0.{'0' * found}" if (found := digits(column)) else ""


def _widths(sheet: WorkbookSheet) -> list[int]:
    """Return the width of each column in characters, from 9 to 60, by its first rows."""
    rows = sheet.rows[:_MEASURED_ROWS]
    longest = [
        max([len(name), *(len(cell_text(row[n])) for row in rows)])
        for n, name in enumerate(sheet.columns)
    ]
    return [min(60, max(9, each + 3)) for each in longest]


def _cell(sheet: Any, value: object, number_format: str) -> Any:
    """Return the cell for a value. Text stays text, whatever it begins with; a number that Excel
    would round becomes text."""
    match value:
        case None | bool():
            return value
        case int() if len(str(abs(value))) <= _MAX_DIGITS:
            return value
        case float() | Decimal() if isfinite(value):
            return _formatted_cell(sheet, value, number_format) if number_format else value
        case time():
            return value
        case date():
            return _date_cell(sheet, value)
        case _:
            text = cell_text(value)[:_MAX_CELL]
            return _text_cell(sheet, text) if is_like_formula(text) else text


def _date_cell(sheet: Any, value: date) -> Any:
    if value.year < 1900:  # before Excel's calendar
        return cell_text(value)
    return _formatted_cell(sheet, value, _DATE_TIME if isinstance(value, datetime) else _DATE)


def _formatted_cell(sheet: Any, value: float | Decimal | date, number_format: str) -> Any:
    from openpyxl.cell import WriteOnlyCell

    cell = WriteOnlyCell(sheet)
    cell.value = value
    cell.number_format = number_format
    return cell


def _text_cell(sheet: Any, text: str) -> Any:
    from openpyxl.cell import WriteOnlyCell

    cell = WriteOnlyCell(sheet, text)
    cell.data_type = "s"  # text, and not the formula that openpyxl takes it for
    cell.quotePrefix = True  # and Excel keeps it as text when somebody edits it
    return cell


def _csv_cell(cell: object) -> str:
    text = cell_text(cell)
    return text if isinstance(cell, int | float | Decimal) else without_formula(text)
