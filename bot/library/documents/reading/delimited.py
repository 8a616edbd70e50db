"""CSV and other delimited text."""

# ruff: noqa: S608 - the names in these statements are ours

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from bot.library.documents.cells import literal
from bot.library.documents.reading.dialects import DELIMITERS, SAMPLE_ROWS, Dialect, choose_dialect
from bot.library.documents.reading.numerals import is_written_number, join_some
from bot.library.documents.reading.tabular import (
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
from bot.library.documents.reading.text import decode
from bot.library.documents.reading.text_columns import read_columns
from bot.library.documents.results import Cell, EmptySheet, Sheet, Unreadable

_TYPE_SAMPLE_ROWS = 100
_MAX_SUMMED = 100_000
"""Most rows that are summed to see whether the last row is their total."""
_MAX_CELL = 4_000_000
_MAX_SUSPECTS = 1_000


def read_delimited(data: bytes, name: str, to: Path) -> Sheet:
    """Write the table in `data`, in any encoding and with any delimiter, as Parquet to `to`. Return
    its columns and notes, without the rows. Raises Unreadable."""
    text, encoding = decode(data)
    del data
    if not text.strip(f" \n{DELIMITERS}"):
        raise EmptySheet(f"{name} is empty: it has no row with a value.")
    usual_limit = csv.field_size_limit(_MAX_CELL)
    try:
        dialect, even_rows = choose_dialect(text)
        with connect(threads=2, memory="1GB") as connection:
            sheet = _load(connection, name, text, dialect, even_rows, to.with_suffix(".csv"))
            samples = [
                _samples(sheet.rows[:_TYPE_SAMPLE_ROWS], at) for at in range(len(sheet.columns))
            ]
            if dialect.quote and dialect.quote in text:
                sheet.notes.extend(
                    _missing_quote_notes(connection, sheet.columns, samples, dialect)
                )
            del text
            columns, notes = read_columns(
                connection, sheet.columns, samples, delimiter=dialect.delimiter
            )
            copy_columns(connection, {column.name: column.cast_sql for column in columns}, to)
    except csv.Error as error:
        if "field limit" in str(error):
            why = f"a cell of it has more than {_MAX_CELL:,} characters"
            raise Unreadable(
                f"{name} is too large: {why}. Ask for it without that cell."
            ) from error
        raise Unreadable(f"{name} is not readable as CSV: {error}.") from error
    finally:
        csv.field_size_limit(usual_limit)
    if name.lower().endswith((".xlsx", ".xlsm")):
        sheet.notes.append("It is called a workbook, and is none: read as CSV.")
    if encoding:
        sheet.notes.append(encoding)
    notes = [*sheet.notes, *dialect.notes(), *notes]
    return replace(sheet, rows=[], notes=notes, is_written=True)


def _missing_quote_notes(
    connection: Any, columns: Sequence[str], samples: Sequence[Sequence[str]], dialect: Dialect
) -> list[str]:
    """Return a note on cells whose lines are rows: a missing quote turns all rows up to the next quote
    into one cell."""
    numeric = {
        at
        for at, texts in enumerate(samples)
        if sum(map(is_written_number, texts)) > len(texts) * 0.9
    }
    marks = f"chr(10)) AND contains(c{{at}}, {literal(dialect.delimiter)})"
    counts = ", ".join(
        f"count(*) FILTER (contains(c{at}, {marks.format(at=at)})" for at in range(len(columns))
    )
    [totals] = connection.execute(f"SELECT {counts} FROM cells").fetchall()
    suspects = []
    for at, (name, count) in enumerate(zip(columns, totals, strict=True)):
        if not count:
            continue
        cells = connection.execute(
            f"SELECT c{at} FROM cells WHERE contains(c{at}, {marks.format(at=at)} LIMIT {_MAX_SUSPECTS}"
        ).fetchall()
        if rows := sum(_holds_rows(cell, at, len(columns), numeric, dialect) for (cell,) in cells):
            suspects.append(f"{name} ({rows:,})")
    return [
        f"Cells that look like several rows, as where a quote is missing: {join_some(suspects)}. Rows may "
        "be lost in them."
    ] * bool(suspects)


def _holds_rows(cell: str, at: int, width: int, numeric: set[int], dialect: Dialect) -> bool:
    """Return whether the lines of a cell in column `at` are the end of a row, whole rows, and the
    begin of one (or a last row): as wide as these, and with numbers in the columns of numbers."""
    first, *others = [line.split(dialect.delimiter) for line in cell.rstrip("\n").split("\n")]
    rows = [[""] * at + first, *others]
    if not others or [len(row) for row in rows[:-1]] != [width] * len(others):
        return False
    if len(rows[-1]) not in {at + 1, width}:
        return False
    figures = [
        is_written_number(row[n].strip())
        for n in numeric
        for row in (rows[1:] if n <= at else rows)
        if n < len(row) and n != at and row[n].strip()
    ]
    return sum(figures) > len(figures) * 0.8 if figures else len(rows) > 2


def _samples(rows: Sequence[Sequence[Cell]], at: int) -> list[str]:
    """Return the texts of column `at` in the first rows, without blank ones."""
    return [text for row in rows if at < len(row) and (text := str(row[at] or "").strip())]


def _load(
    connection: Any, name: str, text: str, dialect: Dialect, even_rows: int, spool: Path
) -> Sheet:
    """Load the rows below the header as the table `cells`. Return the sheet with its first rows.

    DuckDB reads the text itself where all rows have one form; otherwise the rows are first written
    to `spool` with one width and form.
    """
    head = find_head(name, list(islice(_filled_rows(text, dialect), SAMPLE_ROWS)), typed=False)
    if _load_plain(connection, text, dialect, head, even_rows, spool):
        return Sheet(name, head.columns, [row for _, row in head.rows], notes=head.notes)
    width, left_out = len(head.columns), list[str]()
    normalizer = RowNormalizer(width)
    pending: NumberedRow | None = None
    rows = islice(_filled_rows(text, dialect), head.skipped, None)
    with spool.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for each in rows:
            if pending is not None:
                writer.writerow(normalizer.row(*pending))
            pending = each
        if pending is not None and may_be_total(pending[1]) and normalizer.total < _MAX_SUMMED:
            all_rows = list(_filled_rows(text, dialect))
            body = without_total(all_rows[head.skipped :], width, head.notes, left_out)
            pending = pending if len(body) > normalizer.total else None
        if pending is not None:
            writer.writerow(normalizer.row(*pending))
    load_csv(connection, spool, width + 1)
    spool.unlink()
    extra = ["extra"] * normalizer.has_surplus
    columns = column_names([*head.columns, *extra], width + len(extra))
    notes = [*head.notes, *normalizer.notes()]
    return Sheet(name, columns, [row for _, row in head.rows], notes=notes, left_out=left_out)


def _load_plain(
    connection: Any, text: str, dialect: Dialect, head: Head, even_rows: int, spool: Path
) -> bool:
    """Load the rows with DuckDB's reader; return False, without rows, where some may be irregular:
    with quotes, unless all `even_rows` have one width."""
    import duckdb

    delimiter = dialect.delimiter
    if not head.rows or not dialect.is_plain or re.search(rf'\n[{delimiter} \t"]*\n', text):
        return False
    start = 0
    for _ in range(head.rows[0][0] - 1):
        start = text.index("\n", start) + 1
    end = len(text.rstrip("\n"))
    last = text[text.rfind("\n", 0, end) + 1 : end]
    is_quoted = bool(dialect.quote) and '"' in text
    # A line in which only one quote opens or closes is a part of a row. Readers differ about spaces
    # before a quote.
    if is_quoted and (
        last.count('"') % 2
        or any("\n" in str(cell) for cell in head.rows[0][1])
        or text[start] in " \t"
        or any(re.search(rf'{start}[ \t]+"', text) for start in ("\n", f"[{delimiter}]"))
    ):
        return False
    _, cells = next(dialect.rows(last))
    if may_be_total(cells or []) or is_blank(cells or []):
        return False
    with spool.open("w", encoding="utf-8", newline="") as file:
        file.write(text[start:end])
    width = len(head.columns)
    rows = text.count("\n", start, end) + 1
    if is_quoted:
        rows = even_rows - head.skipped
        if not even_rows:
            return False
    try:
        load_csv(connection, spool, width, delimiter=delimiter, quote='"' if is_quoted else "")
    except duckdb.Error:
        return False
    [(loaded,)] = connection.execute("SELECT count(*) FROM cells").fetchall()
    return bool(loaded == rows)


def _filled_rows(text: str, dialect: Dialect) -> Iterator[NumberedRow]:
    """Yield each row that is not blank, with the line on which it ends."""
    for line, row in dialect.rows(text):
        if row and any(map(str.strip, row)):
            yield line, row  # type: ignore[misc]  # the cells are text
