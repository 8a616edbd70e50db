"""CSV and other delimited text."""

# ruff: noqa: S608 - the names in these statements are ours

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from bot.services.parsing.numerals import join_some
from bot.services.parsing.results import Cell, EmptySheet, Sheet, Unreadable
from bot.services.parsing.tabular import (
    Head,
    NumberedRow,
    RowNormalizer,
    column_names,
    connect,
    copy_columns,
    find_head,
    is_blank,
    load_csv,
    may_be_total,
    without_total,
)
from bot.services.parsing.text import decode
from bot.services.parsing.text_columns import read_columns

_DELIMITERS = ",;\t|"
_NAMES = {"\t": "tab"}
_SAMPLE_ROWS = 1_000
_TYPE_SAMPLE_ROWS = 100
_MAX_SUMMED = 100_000
"""Most rows that are summed to see whether the last row is their total."""
_MAX_CELL = 4_000_000


def read_delimited(data: bytes, name: str, to: Path) -> Sheet:
    """Write the table in `data`, in any encoding and with any delimiter, as Parquet to `to`. Return
    its columns and notes, without the rows. Raises Unreadable."""
    text, encoding = decode(data)
    del data
    if not text.strip(f" \n{_DELIMITERS}"):
        raise EmptySheet(f"{name} is empty: it has no row with a value.")
    csv.field_size_limit(_MAX_CELL)
    delimiter = _delimiter(text)
    try:
        with connect(threads=2, memory="1GB") as connection:
            sheet = _load(connection, name, text, delimiter, to.with_suffix(".csv"))
            if '"' in text:
                sheet.notes.extend(_missing_quote_notes(connection, sheet.columns, delimiter))
            del text
            samples = [
                _samples(sheet.rows[:_TYPE_SAMPLE_ROWS], at) for at in range(len(sheet.columns))
            ]
            columns, notes = read_columns(connection, sheet.columns, samples, delimiter=delimiter)
            copy_columns(connection, {each.name: each.cast_sql for each in columns}, to)
    except csv.Error as error:
        if "field limit" in str(error):
            why = f"a cell of it has more than {_MAX_CELL:,} characters"
            raise Unreadable(
                f"{name} is too large: {why}. Ask for it without that cell."
            ) from error
        raise Unreadable(f"{name} is not readable as CSV: {error}.") from error
    if name.lower().endswith((".xlsx", ".xlsm")):
        sheet.notes.append("It is called a workbook, and is none: read as CSV.")
    if encoding:
        sheet.notes.append(encoding)
    if delimiter != ",":
        sheet.notes.append(f"Delimiter: {_NAMES.get(delimiter, delimiter)}.")
    return replace(sheet, rows=[], notes=[*sheet.notes, *notes], is_written=True)


def _missing_quote_notes(connection: Any, columns: Sequence[str], delimiter: str) -> list[str]:
    """Return a note on cells whose lines look like rows: a missing quote turns all rows up to the
    next quote into one cell. Such a cell has as many delimiters as its lines would have as rows."""
    delimiters_per_row = len(columns) - 1
    if not delimiters_per_row:
        return []
    counts = []
    for at in range(len(columns)):
        lines = f"(length(c{at}) - length(replace(c{at}, chr(10), '')))"
        marks = f"(length(c{at}) - length(replace(c{at}, '{delimiter}', '')))"
        # The last row may go on to the end of the file.
        is_many = f"({marks} = {lines} * {delimiters_per_row} OR ({lines} > 2 AND {marks} > ({lines} - 1) * {delimiters_per_row}))"
        counts.append(
            f"count(CASE WHEN contains(c{at}, chr(10)) THEN nullif({is_many}, false) END)"
        )
    [found] = connection.execute(f"SELECT {', '.join(counts)} FROM cells").fetchall()
    suspects = [f"{name} ({count:,})" for name, count in zip(columns, found, strict=True) if count]
    return [
        f"Cells that look like several rows, as where a quote is missing: {join_some(suspects)}. Rows may "
        "be lost in them."
    ] * bool(suspects)


def _samples(rows: Sequence[Sequence[Cell]], at: int) -> list[str]:
    """Return the texts of column `at` in the first rows, without blank ones."""
    return [text for row in rows if at < len(row) and (text := str(row[at] or "").strip())]


def _load(connection: Any, name: str, text: str, delimiter: str, spool: Path) -> Sheet:
    """Load the rows below the header as the table `cells`. Return the sheet with its first rows.

    DuckDB reads the text itself where all rows have one form; otherwise the rows are first written
    to `spool` with one width and form.
    """
    head = find_head(name, list(islice(_filled_rows(text, delimiter), _SAMPLE_ROWS)), typed=False)
    if _load_plain(connection, text, delimiter, head, spool):
        return Sheet(name, head.columns, [row for _, row in head.rows], notes=head.notes)
    width, left_out = len(head.columns), list[str]()
    normalizer = RowNormalizer(width)
    pending: NumberedRow | None = None
    rows = islice(_filled_rows(text, delimiter), head.skipped, None)
    with spool.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for each in rows:
            if pending is not None:
                writer.writerow(normalizer.row(*pending))
            pending = each
        if pending is not None and may_be_total(pending[1]) and normalizer.total < _MAX_SUMMED:
            all_rows = list(_filled_rows(text, delimiter))
            kept = without_total(all_rows[head.skipped :], width, head.notes, left_out)
            pending = pending if len(kept) > normalizer.total else None
        if pending is not None:
            writer.writerow(normalizer.row(*pending))
    load_csv(connection, spool, width + 1)
    spool.unlink()
    extra = ["extra"] * normalizer.has_surplus
    columns = column_names([*head.columns, *extra], width + len(extra))
    notes = [*head.notes, *normalizer.notes()]
    return Sheet(name, columns, [row for _, row in head.rows], notes=notes, left_out=left_out)


def _load_plain(connection: Any, text: str, delimiter: str, head: Head, spool: Path) -> bool:
    """Load the rows with DuckDB's reader; return False, without rows, where some may be irregular."""
    import duckdb

    if not head.rows or re.search(rf'\n[{delimiter} \t"]*\n', text):
        return False
    start = 0
    for _ in range(head.rows[0][0] - 1):
        start = text.index("\n", start) + 1
    end = len(text.rstrip("\n"))
    last = text[text.rfind("\n", 0, end) + 1 : end]
    is_quoted = '"' in text
    # A line in which only one quote opens or closes is a part of a row. Readers differ about spaces
    # before a quote.
    if is_quoted and (
        last.count('"') % 2
        or any("\n" in str(cell) for cell in head.rows[0][1])
        or text[start] in " \t"
        or any(re.search(rf'{each}[ \t]+"', text) for each in ("\n", f"[{delimiter}]"))
    ):
        return False
    cells = next(csv.reader([last], delimiter=delimiter), [])
    if may_be_total(cells) or is_blank(cells):
        return False
    with spool.open("w", encoding="utf-8", newline="") as file:
        file.write(text[start:end])
    width = len(head.columns)
    rows = text.count("\n", start, end) + 1
    if is_quoted:
        rows = _quoted_rows(spool, delimiter, width)
        if not rows:
            return False
    try:
        load_csv(connection, spool, width, delimiter=delimiter, quote='"' if is_quoted else "")
    except duckdb.Error:
        return False
    [(loaded,)] = connection.execute("SELECT count(*) FROM cells").fetchall()
    return bool(loaded == rows)


def _quoted_rows(file: Path, delimiter: str, width: int) -> int:
    """Return the number of rows; 0 where a row has another width or quotes that break the rules."""
    with file.open(encoding="utf-8", newline="\n") as lines:
        try:
            widths = Counter(map(len, csv.reader(lines, delimiter=delimiter, strict=True)))
        except csv.Error:
            return 0
    return widths.total() if widths.keys() == {width} else 0


def _filled_rows(text: str, delimiter: str) -> Iterator[NumberedRow]:
    """Yield each row that is not blank, with the line on which it ends."""
    for line, row in _rows(text, delimiter):
        if any(map(str.strip, row)):
            yield line, row  # type: ignore[misc]  # the cells are text


def _rows(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(_lines(text), delimiter=delimiter)
    for row in reader:
        yield reader.line_num, row


def _lines(text: str) -> Iterator[str]:
    """Yield the lines of a text; a list of them, or a StringIO, would take four times its size."""
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end


def _delimiter(text: str) -> str:
    """Return the delimiter that cuts the first rows most evenly, and the first row like the others."""
    return max(_DELIMITERS, key=lambda delimiter: _evenness(text, delimiter))


def _evenness(text: str, delimiter: str) -> tuple[bool, bool, float, int]:
    try:
        widths = [len(row) for _, row in islice(_rows(text, delimiter), _SAMPLE_ROWS) if row]
    except csv.Error:
        widths = []
    if not widths:
        return (False, False, 0.0, 0)
    usual, count = max(Counter(widths).items(), key=lambda each: (each[1], each[0]))
    return (usual > 1, widths[0] == usual, count / len(widths), usual)
