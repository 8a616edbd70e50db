"""CSV and its relatives."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from bot.parsing.dates import with_dates
from bot.parsing.numerals import with_blanks, with_numbers
from bot.parsing.results import Sheet, Unreadable
from bot.parsing.tabular import NumberedRow, to_sheet
from bot.parsing.text import decode

_DELIMITERS = ",;\t|"
_NAMES = {"\t": "tab"}
_SAMPLE_ROWS = 200
_MAX_CELL = 4_000_000


def read_delimited(data: bytes, name: str) -> Sheet:
    """The table in `data`, whatever its encoding and delimiter."""
    text, encoding = decode(data)
    if not text.strip(f" \n{_DELIMITERS}"):
        raise Unreadable(f"{name} is empty: it has no row with a value.")
    csv.field_size_limit(_MAX_CELL)
    delimiter = _delimiter(text)
    try:
        sheet = to_sheet(name, _rows(text, delimiter), typed=False)
    except csv.Error as error:
        raise Unreadable(f"{name} is not readable as CSV: {error}.") from error
    if name.lower().endswith((".xlsx", ".xlsm")):
        sheet.notes.append("It is called a workbook, and is none: read as CSV.")
    if encoding not in {"utf-8", "ascii"}:
        sheet.notes.append(f"Encoding: {encoding}.")
    if delimiter != ",":
        sheet.notes.append(f"Delimiter: {_NAMES.get(delimiter, delimiter)}.")
    return with_numbers(with_blanks(with_dates(sheet)), commas_delimit=delimiter == ",")


def _rows(text: str, delimiter: str) -> Iterator[NumberedRow]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    for row in reader:
        yield reader.line_num, list(row)


def _delimiter(text: str) -> str:
    """The one that cuts the first rows most evenly, and the first row like the others."""
    return max(_DELIMITERS, key=lambda delimiter: _evenness(text, delimiter))


def _evenness(text: str, delimiter: str) -> tuple[bool, bool, float, int]:
    try:
        widths = [len(row) for _, row in islice(_rows(text, delimiter), _SAMPLE_ROWS) if row]
    except csv.Error:
        widths = []
    if not widths:
        return (False, False, 0.0, 0)
    usual, count = Counter(widths).most_common(1)[0]
    return (usual > 1, widths[0] == usual, count / len(widths), usual)
