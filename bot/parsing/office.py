"""Workbooks and Word documents. Both are zip archives, looked over before they are opened."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

from bot.parsing.formats import Signs
from bot.parsing.numerals import with_blanks
from bot.parsing.results import Cell, Document, EmptySheet, Sheet, Unreadable
from bot.parsing.tabular import NumberedRow, cell_text, to_sheet
from bot.parsing.text import clean

_DAMAGE = (
    *(LookupError, ValueError, OSError, zipfile.BadZipFile, zlib.error),
    SyntaxError,  # all XML is syntax
)
_MAX_UNPACKED = 400_000_000
_MAX_RATIO = 200
_MAX_SHEETS = 10
_NAMED = 20  # sheets
_MAX_CELLS = 5_000_000


def read_workbook(data: bytes, name: str, sheet: str | None) -> list[Sheet]:
    """The sheets of an Excel workbook that hold anything (values, not formulas), or `sheet`."""
    import openpyxl

    _check_archive(data, name)
    try:
        workbook = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    except _DAMAGE as error:
        raise Unreadable(f"{name} is damaged: it is not readable as an Excel workbook.") from error
    chosen = _chosen(workbook.sheetnames, sheet, name)
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
        except _DAMAGE as error:
            raise Unreadable(f"{name} is damaged: its sheet {each!r} cannot be read.") from error
    if not sheets:
        why = next(iter(unread.values()), "")
        empty = f"{name} is empty: none of its sheets has a row with a value."
        raise Unreadable(f"{name}: {why}" if why else empty)
    _tell_unkept(data, sheets)
    for found in sheets:
        found.left_out.extend(f"sheet {title} was not read: {why}" for title, why in unread.items())
    return sheets


def _tell_unkept(data: bytes, sheets: list[Sheet]) -> None:
    """Note which columns are empty because their formulas have no values: programs that write
    workbooks do not work them out, Excel does when it saves one."""
    import openpyxl

    empty = {each.name: _empty_columns(each) for each in sheets}
    if not any(empty.values()):
        return
    workbook = openpyxl.load_workbook(io.BytesIO(data), read_only=True)
    for each in sheets:
        if empty[each.name] and _has_formulas(workbook[each.name or workbook.sheetnames[0]]):
            each.notes.append(
                f"Empty, as the file keeps formulas without their values: {', '.join(empty[each.name])}. "
                "Opened and saved in Excel it has them."
            )


def _empty_columns(sheet: Sheet) -> list[str]:
    cells = zip(*sheet.rows, strict=True)
    return [
        name
        for name, column in zip(sheet.columns, cells, strict=False)
        if all(cell is None for cell in column)
    ]


def _has_formulas(worksheet: Any) -> bool:
    worksheet.reset_dimensions()
    rows = (row for _, row in _rows(worksheet, Signs()))
    return any(isinstance(cell, str) and cell.startswith("=") for row in rows for cell in row)


def _chosen(names: list[str], sheet: str | None, file: str) -> list[str]:
    if sheet is None:
        return names
    found = [each for each in names if each.casefold() == sheet.strip().casefold()]
    if not found:
        shown = f"{', '.join(names[:_NAMED])}{', …' * (len(names) > _NAMED)}"
        raise Unreadable(f"{file} has no sheet {sheet!r}. Its sheets: {shown}.")
    return found


def _worksheet(worksheet: Any, name: str) -> Sheet:
    if not hasattr(worksheet, "reset_dimensions"):
        raise Unreadable(f"{name} is a chart sheet.")
    worksheet.reset_dimensions()  # what the file declares may be a billion empty cells
    signs = Signs()
    return signs.tell(with_blanks(to_sheet(name, _rows(worksheet, signs))))


def _rows(worksheet: Any, signs: Signs) -> Iterator[NumberedRow]:
    cells = 0
    for number, row in enumerate(worksheet.iter_rows(), start=1):
        cells += len(row)
        if cells > _MAX_CELLS:
            raise Unreadable(
                f"Sheet {worksheet.title!r} has more than {_MAX_CELLS:,} cells. Ask for a CSV or "
                "Parquet file of it, or for a part."
            )
        signs.see(row)
        yield number, [_value(cell.value) for cell in row]


def _value(cell: Cell) -> Cell:
    """Formula errors such as #DIV/0! are no value; blank text is none either."""
    if isinstance(cell, str) and (not cell.strip() or (cell[0] == "#" and cell[-1:] in "!?A")):
        return None
    return cell


def read_word(data: bytes, name: str) -> Document:
    """The text of a Word document in reading order; headings as #, tables with | between cells."""
    import docx
    from docx.opc.exceptions import PackageNotFoundError

    _check_archive(data, name)
    try:
        document = docx.Document(io.BytesIO(data))
    except (KeyError, ValueError, PackageNotFoundError, zipfile.BadZipFile, SyntaxError) as error:
        raise Unreadable(f"{name} is damaged: it is not readable as a Word document.") from error
    blocks = [_block(each) for each in document.iter_inner_content()]
    text = clean("\n\n".join(block for block in blocks if block))
    if not text.strip():
        raise Unreadable(f"{name} holds no text.")
    return Document(text, title=clean(document.core_properties.title or ""))


def _block(block: Any) -> str:
    if hasattr(block, "rows"):
        return "\n".join(" | ".join(_row_cells(row)) for row in block.rows)
    text = str(block.text).strip()
    style = (block.style.name or "") if block.style else ""
    if text and style.startswith("Heading ") and style[8:].isdigit():
        return f"{'#' * int(style[8:])} {text}"
    return f"- {text}" if text and style.startswith("List") else text


def _row_cells(row: Any) -> list[str]:
    return [" ".join(cell_text(cell.text).split()) for cell in row.cells]


def _check_archive(data: bytes, name: str) -> None:
    """Raises Unreadable for what is no zip archive, and for one that unpacks to far too much."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacked = sum(each.file_size for each in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise Unreadable(f"{name} is damaged: it is not a readable Office file.") from error
    if unpacked > _MAX_UNPACKED or (unpacked > 10_000_000 and unpacked > _MAX_RATIO * len(data)):
        raise Unreadable(
            f"{name} unpacks from {len(data):,} to {unpacked:,} bytes and was not opened. Ask for "
            "the data as CSV or Parquet, or for a part of it."
        )
