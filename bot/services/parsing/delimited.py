"""CSV and its relatives."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from bot.services.parsing.results import Cell, EmptySheet, Sheet, Unreadable
from bot.services.parsing.tabular import (
    Head,
    Levelled,
    NumberedRow,
    cell_text,
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
_MOST_ADDED = 100_000
"""Rows that are added up to see whether the last one is their total."""
_MAX_CELL = 4_000_000


def read_delimited(data: bytes, name: str, to: Path) -> Sheet:
    """Write the table in `data`, whatever its encoding and delimiter, as Parquet to `to`. Return its
    columns and notes, without the rows."""
    text, encoding = decode(data)
    del data
    if not text.strip(f" \n{_DELIMITERS}"):
        raise EmptySheet(f"{name} is empty: it has no row with a value.")
    csv.field_size_limit(_MAX_CELL)
    delimiter = _delimiter(text)
    try:
        with connect(threads=2) as connection:
            sheet = _loaded(connection, name, text, delimiter, to.with_suffix(".csv"))
            del text
            samples = [_samples(sheet.rows, at) for at in range(len(sheet.columns))]
            columns, notes = read_columns(connection, sheet.columns, samples, delimiter=delimiter)
            copy_columns(connection, {each.name: each.read_as for each in columns}, to)
    except csv.Error as error:
        raise Unreadable(f"{name} is not readable as CSV: {error}.") from error
    if name.lower().endswith((".xlsx", ".xlsm")):
        sheet.notes.append("It is called a workbook, and is none: read as CSV.")
    if encoding:
        sheet.notes.append(encoding)
    if delimiter != ",":
        sheet.notes.append(f"Delimiter: {_NAMES.get(delimiter, delimiter)}.")
    return replace(sheet, rows=[], notes=[*sheet.notes, *notes], is_written=True)


def _samples(rows: Sequence[Sequence[Cell]], at: int) -> list[str]:
    """The texts of one column in the first rows, without blank ones."""
    return [text for row in rows if at < len(row) and (text := cell_text(row[at]).strip())]


def _loaded(connection: Any, name: str, text: str, delimiter: str, spool: Path) -> Sheet:
    """Load the rows below the header as the table `cells`. Return the table with its first rows.

    DuckDB reads the text itself where each of its lines is a row like the others; otherwise the rows
    are given one width and form before."""
    rows = (each for each in _rows(text, delimiter) if not is_blank(each[1]))
    head = find_head(name, list(islice(rows, _SAMPLE_ROWS)), typed=False)
    if _load_plain(connection, text, delimiter, head, spool):
        return Sheet(name, head.columns, [row for _, row in head.rows], notes=head.notes)
    width, left_out = len(head.columns), list[str]()
    levelled = Levelled(width)
    held: NumberedRow | None = None
    with spool.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for each in chain(head.rows, rows):
            if held is not None:
                writer.writerow(levelled.row(*held))
            held = each
        if held is not None and may_be_total(held[1]) and levelled.total < _MOST_ADDED:
            every = [each for each in _rows(text, delimiter) if not is_blank(each[1])]
            kept = without_total(every[head.skipped :], width, head.notes, left_out)
            held = held if len(kept) > levelled.total else None
        if held is not None:
            writer.writerow(levelled.row(*held))
    load_csv(connection, spool, width + 1)
    spool.unlink()
    extra = ["extra"] * levelled.has_surplus
    columns = column_names([*head.columns, *extra], width + len(extra))
    notes = [*head.notes, *levelled.notes()]
    return Sheet(name, columns, [row for _, row in head.rows], notes=notes, left_out=left_out)


def _load_plain(connection: Any, text: str, delimiter: str, head: Head, spool: Path) -> bool:
    """Load the rows with DuckDB's reader. False where a line may be no row, or one unlike the others."""
    import duckdb

    if '"' in text or not head.rows or re.search(rf"\n[{delimiter} \t]*\n", text):
        return False
    start = 0
    for _ in range(head.rows[0][0] - 1):
        start = text.index("\n", start) + 1
    end = len(text.rstrip("\n"))
    if may_be_total(text[text.rfind("\n", start, end) + 1 : end].split(delimiter)):
        return False
    with spool.open("w", encoding="utf-8", newline="") as file:
        file.write(text[start:end])
    try:
        load_csv(connection, spool, len(head.columns), delimiter=delimiter, quote="")
    except duckdb.Error:
        return False
    [(loaded,)] = connection.execute("SELECT count(*) FROM cells").fetchall()
    return bool(loaded == text.count("\n", start, end) + 1)


def _rows(text: str, delimiter: str) -> Iterator[NumberedRow]:
    reader = csv.reader(_lines(text), delimiter=delimiter)
    for row in reader:
        yield reader.line_num, row  # type: ignore[misc]  # the cells are text


def _lines(text: str) -> Iterator[str]:
    """The lines of a text one by one: a list of them, or a file in memory, takes four times its size."""
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end


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
