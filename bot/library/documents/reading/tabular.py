"""Rows of a file to a table: header, one width, and Parquet with types."""

# ruff: noqa: S608 - the names in these statements are quoted, the values our own

from __future__ import annotations

import csv
import errno
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from bot.library.documents.cells import cell_text, clean, literal, quoted_name
from bot.library.documents.reading.headers import judge_header
from bot.library.documents.reading.kinds import is_not_finite, looks_like_date, type_of_cells
from bot.library.documents.reading.numerals import (
    is_missing_value,
    is_outlier,
    is_sum,
    is_written_number,
    join_some,
    missing_value_note,
)
from bot.library.documents.reading.sheet_marks import Range, fill_merged
from bot.library.documents.reading.text import shortened
from bot.library.documents.results import Cell, EmptySheet, Sheet, Unreadable

NumberedRow = tuple[int, list[Cell]]
"""A row and the line of the file on which it ends, counted from 1."""

_TOTAL = re.compile(
    r"(?:(?:grand |sub)?totals?|sum|summe|gesamt(?:summe)?|somme|suma)\b", re.IGNORECASE
)
_IS_NUMBER_NAME = re.compile(
    r"#|(?:.*[\W_])?(?:id|no|nr|num|number|index|idx|key|row|rank|pos|position|line|n°|nº)\.?",
    re.IGNORECASE,
)
"""Names of a column that counts 1, 2, 3."""
_MAX_COLUMNS = 2_000
MAX_ROW_BYTES = 16_000_000  # bytes
_MAX_NAME = 200  # characters of a column's name


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a table: the names of its columns, and those of the first rows that are below the
    header; `skipped` counts the rows up to the header."""

    columns: list[str]
    rows: list[NumberedRow]
    skipped: int
    notes: list[str]


def to_sheet(name: str, rows: Iterable[NumberedRow], merged: Sequence[Range] = ()) -> Sheet:
    """Make a sheet of the typed cells of a workbook: find the header, leave out blank rows, lines
    above the header and a total below, give the rows of merged ranges their values, and every row
    one width.

    Raises EmptySheet when there is no row with a value.
    """
    kept = [(line, _trimmed(row)) for line, row in rows if not is_blank(row)]
    head = find_head(name, kept, typed=True)
    left_out: list[str] = []
    filled = fill_merged(dict(head.rows), merged)
    body = without_total(head.rows, len(head.columns), head.notes, left_out)
    normalizer = RowNormalizer(len(head.columns))
    level = [normalizer.row(*each)[:-1] for each in body]
    head.notes.extend(_on_merged(head, filled, merged))
    return Sheet(name, head.columns, level, typed=True, notes=head.notes, left_out=left_out)


def _on_merged(head: Head, filled: Mapping[int, int], merged: Sequence[Range]) -> list[str]:
    """Say which rows have the value of a merged range, and which values stand for several columns."""
    notes = []
    if filled:
        counts = [f"{head.columns[at - 1]} ({count:,})" for at, count in sorted(filled.items())]
        note = f"Merged cells, their value given to each of their rows: {join_some(counts)}."
        values = (row[at - 1] for _, row in head.rows for at in filled if at <= len(row))
        if any(isinstance(value, int | float) for value in values):
            note += " A sum counts the numbers among them once for each row."
        notes.append(note)
    rows = dict(head.rows)
    wide = [area.top for area in merged if area.right > area.left and area.top in rows]
    if wide:
        lines = _line_numbers(sorted(set(wide)))
        notes.append(
            f"Cells merged over several columns; their value is in the first: line {lines}."
        )
    return notes


def find_head(name: str, rows: list[NumberedRow], *, typed: bool) -> Head:
    """Find the header among the first rows of a table, and drop the lines above it.

    `rows` has no blank rows. For a workbook (`typed`) it has all rows, whose empty cells at the end
    are missing. Raises EmptySheet when there are no rows, Unreadable when they are too wide.
    """
    if not rows:
        raise EmptySheet(f"{name} is empty: it has no row with a value.")
    width = _width(rows, typed=typed)
    notes: list[str] = []
    table_rows = _without_preamble(rows, width, notes)
    table_rows = _join_header_rows(table_rows, width, notes) if typed else table_rows
    line, first = table_rows[0]
    verdict = judge_header(first, [row for _, row in table_rows[1:]], width)
    header = first if verdict.is_header else None
    words = row_text(first)[:100]
    if header is None:
        note = "There is no header row; the columns were named column_1, column_2, …."
        notes.append(f"{note} Line {line} ({words}) was read as a row; it may be a header.")
    elif not verdict.is_sure:
        notes.append(f"Line {line} ({words}) was read as the header; it may be a row.")
    if header is not None and not typed:
        header = _align_header(header, table_rows[1:], width, notes)
    width = max(width, len(header or ()))
    if width > _MAX_COLUMNS:
        raise Unreadable(f"{name} has {width:,} columns; {_MAX_COLUMNS:,} can be read.")
    names = column_names(header or (), width)
    if later := _renamed_columns(header or (), names):
        notes.append(f"Columns of the same name: the later ones are called {', '.join(later)}.")
    body = table_rows[1:] if header is not None else table_rows
    return Head(names, body, len(rows) - len(body), notes)


class RowNormalizer:
    """Gives rows one width, and remembers the lines that had another."""

    def __init__(self, width: int) -> None:
        self._width = width
        self.total = 0
        self._short: list[int] = []
        self._long: list[int] = []

    @property
    def has_surplus(self) -> bool:
        return bool(self._long)

    def row(self, line: int, row: list[Cell]) -> list[Cell]:
        """Return the cells of a row, padded with None, and after them the surplus as one text."""
        self.total += 1
        width = self._width
        if len(row) == width:
            return [*row, None]
        surplus = row[width:]
        if len(row) < width:
            self._short.append(line)
        elif not is_blank(surplus):
            self._long.append(line)
            return [*row[:width], ", ".join(map(cell_text, surplus))]
        return [*row[:width], *[None] * (width + 1 - len(row[:width]))]

    def notes(self) -> list[str]:
        """Return a note on the lines that had another width."""
        short, long = self._short, self._long
        parts = []
        if short:
            parts.append(
                f"{len(short):,} with too few cells (line {_line_numbers(short)}), filled with nulls"
            )
        if long:
            parts.append(
                f"{len(long):,} with too many (line {_line_numbers(long)}), the surplus is in column extra"
            )
        odd = f"{len(short) + len(long):,} of {self.total:,} lines were odd: {'; '.join(parts)}."
        return [odd] if parts else []


def column_names(header: Sequence[Cell], width: int) -> list[str]:
    """Return `width` names: column_3 for a blank one, name_2 for a repeated one (in any case)."""
    names: list[str] = []
    seen: set[str] = set()
    for index in range(width):
        written = " ".join(cell_text(header[index]).split()) if index < len(header) else ""
        written = written[:_MAX_NAME]
        base = name = written or f"column_{index + 1}"
        copy = 1
        while name.lower() in seen:
            copy += 1
            name = f"{base}_{copy}"
        seen.add(name.lower())
        names.append(name)
    return names


def _align_header(
    header: list[Cell], rows: list[NumberedRow], width: int, notes: list[str]
) -> list[Cell]:
    """Return the header aligned with its columns, and note where it is shorter than the rows. With
    one name missing, that of the first column is: R writes row numbers without a name."""
    ends = Counter(next((at for at in range(len(row), 0, -1) if row[at - 1]), 0) for _, row in rows)
    filled = max(ends, default=0)
    is_one_short = len(header) + 1 == width
    is_numbered = not _IS_NUMBER_NAME.fullmatch(cell_text(header[0]).strip()) and all(
        row and cell_text(row[0]).strip() == str(n) for n, (_, row) in enumerate(rows, 1)
    )
    if ends[len(header) + 1] * 2 > len(rows) or (is_one_short and is_numbered and len(rows) > 2):
        notes.append(
            "The header has one name fewer than the rows have values: the first column was taken to "
            "have none; it may be the last."
        )
        return [None, *header]
    if len(header) < min(filled, width):
        notes.append(
            f"The header names {len(header)} of {width} columns: the first ones, it seems."
        )
    return header


def _renamed_columns(header: Sequence[Cell], names: Sequence[str]) -> list[str]:
    """Return the new names of columns whose name was taken."""
    written = [" ".join(cell_text(cell).split()) for cell in header]
    return [name for wanted, name in zip(written, names, strict=False) if wanted and wanted != name]


def is_blank(row: Sequence[Cell]) -> bool:
    """Return whether no cell of a row has a value."""
    return not any(cell.strip() if isinstance(cell, str) else cell is not None for cell in row)


def _trimmed(row: list[Cell]) -> list[Cell]:
    end = len(row)
    while end and row[end - 1] is None:
        end -= 1
    return row[:end]


def _width(rows: list[NumberedRow], *, typed: bool) -> int:
    """Return the width of most rows; in a workbook (`typed`), which drops empty cells at the end of
    a row, that of the widest."""
    widths = Counter(len(row) for _, row in rows)
    return max(widths) if typed else max(widths, key=lambda width: (widths[width], width))


def _without_preamble(rows: list[NumberedRow], width: int, notes: list[str]) -> list[NumberedRow]:
    """Drop titles above the header: leading rows that fill at most an eighth of the columns, or one
    cell."""
    most, start = max(1, width // 8), 0
    if width > 1:
        while start < len(rows) and _filled(rows[start][1]) <= most:
            start += 1
    if start == len(rows):
        return rows  # prose, without a header
    if start:
        words = "; ".join(row_text(row) for _, row in rows[:start])
        notes.append(f"{start} line(s) above the header were left out: {shortened(words)}")
    return rows[start:]


def _filled(row: Sequence[Cell]) -> int:
    return sum(not is_blank([cell]) for cell in row)


def _join_header_rows(rows: list[NumberedRow], width: int, notes: list[str]) -> list[NumberedRow]:
    """Two rows that name the columns together, as those with merged cells do, made one: "2025 H1".
    They are where the first column is named in one of them only, and figures follow."""
    if len(rows) < 3 or all(isinstance(cell, str | None) for cell in rows[2][1]):
        return rows
    above, below = ([*row, *[None] * (width - len(row))] for _, row in rows[:2])
    filled = [
        (not is_blank([upper]), not is_blank([lower]))
        for upper, lower in zip(above, below, strict=True)
    ]
    if sum(filled[0]) != 1 or (False, True) not in filled[1:]:
        return rows
    if not all(isinstance(cell, str | None) for cell in below):
        return rows
    names: list[Cell] = []
    group = ""
    for upper, lower in zip(above, below, strict=True):
        of_all = is_blank([upper]) and _is_label(lower)
        group = group if is_blank([upper]) and not is_blank([lower]) else cell_text(upper)
        group = "" if of_all else group
        names.append(f"{group} {cell_text(lower)}".strip())
    notes.append(f"2 rows up to line {rows[1][0]} were read as one header.")
    return [(rows[1][0], names), *rows[2:]]


def without_total(
    rows: list[NumberedRow], width: int, notes: list[str], left_out: list[str]
) -> list[NumberedRow]:
    """Drop a last row that sums up the rows above. Where it only begins like a total, add a note: it
    may be a company called Total."""
    last = rows[-1][1] if len(rows) > 2 else []
    words = row_text(last)
    if not _TOTAL.match(words):
        return rows
    if _is_total([row for _, row in rows], width) or _TOTAL.fullmatch(words):
        left_out.append(f"the last row is a total and was left out: {shortened(words)}")
        return rows[:-1]
    notes.append(f"The last row may be a total of those above: {shortened(words)}")
    return rows


def may_be_total(row: Sequence[Cell]) -> bool:
    """Return whether a row begins with a word for a total."""
    return bool(_TOTAL.match(row_text(row)))


def row_text(row: Sequence[Cell]) -> str:
    """Return the texts of a row on one line, as notes need it."""
    return " ".join(" ".join(map(cell_text, row)).split())


def _is_total(rows: list[list[Cell]], width: int) -> bool:
    """Return whether the last row is a total: a cell is blank or says "Total" where all other rows
    have a value, and its numbers are sums of their columns, or averages beside a sum."""
    columns = [[next(iter(row[at : at + 1]), None) for row in rows] for at in range(width)]
    labels = [cells for cells in columns if is_blank(cells[-1:]) or _is_label(cells[-1])]
    filled = [cells for cells in columns if cells not in labels]
    return (
        any(not any(is_blank([cell]) for cell in cells[:-1]) for cells in labels)
        and any(map(is_sum, filled))
        and not any(map(is_outlier, filled))
    )


def _is_label(cell: Cell) -> bool:
    return isinstance(cell, str) and bool(_TOTAL.fullmatch(cell.strip().rstrip(":")))


def _line_numbers(lines: list[int]) -> str:
    listed = ", ".join(str(line) for line in lines[:5])
    return f"{listed}, …" if len(lines) > 5 else listed


def connect(threads: int = 1, memory: str = "512MB") -> Any:
    """Open an in-memory DuckDB without extensions; times are in UTC."""
    import duckdb  # takes 0.3 s, and not every file needs it

    connection = duckdb.connect(
        ":memory:",
        config={
            "threads": threads,
            "memory_limit": memory,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "python_enable_replacements": False,
        },
    )
    connection.execute("SET TimeZone = 'UTC'; SET temp_directory = ''")
    return connection


def write_parquet(sheet: Sheet, path: Path) -> None:
    """Write a sheet of typed cells as Parquet; each column gets the type that fits all its values."""
    columns = list(zip(*sheet.rows, strict=True)) or [()] * len(sheet.columns)
    if empty_counts := [
        f"{name} ({empty:,})"
        for name, cells in zip(sheet.columns, columns, strict=True)
        if not {float, Decimal}.isdisjoint(map(type, cells))
        and (empty := sum(map(is_not_finite, cells)))
    ]:
        sheet.notes.append(
            f"Values that are no number (NaN or infinite), read as empty: {join_some(empty_counts)}."
        )
    kinds = list(map(type_of_cells, columns))
    texts = {
        name: Counter(filter(None, (text.strip() for text in map(cell_text, cells))))
        for name, cells, kind in zip(sheet.columns, columns, kinds, strict=True)
        if kind == "VARCHAR"
    }
    sheet.notes.extend(_text_notes(texts))
    source = path.with_suffix(".csv")
    with source.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows(zip(*map(_stored_texts, columns), strict=True))
    typed = {
        name: f"CAST(nullif(c{at}, '') AS {kind})"
        for at, (name, kind) in enumerate(zip(sheet.columns, kinds, strict=True))
    }
    with connect() as connection:
        load_csv(connection, source, len(typed))
        source.unlink()
        copy_columns(connection, typed, path)


def _text_notes(columns: Mapping[str, Counter[str]]) -> list[str]:
    """Return notes on text columns of mostly numbers or dates, and on words for a missing value."""
    figures = [
        f"{name} ({next(iter(texts))[:_MAX_NAME]})"
        for name, texts in columns.items()
        if _are_mostly_numbers(texts)
    ]
    counts = {
        name: {text: count for text, count in texts.items() if is_missing_value(text)}
        for name, texts in columns.items()
    }
    notes = [f"Kept as text, as the file has them: {join_some(figures)}."] * bool(figures)
    return [*notes, *missing_value_note(counts)]


def _are_mostly_numbers(texts: Counter[str]) -> bool:
    if all(text.isdecimal() for text in texts) and any(text[0] == "0" for text in texts):
        return False  # codes
    figures = (n for each, n in texts.items() if is_written_number(each) or looks_like_date(each))
    return sum(figures) * 2 > texts.total()


def _stored_texts(cells: Sequence[Cell]) -> Iterable[Cell]:
    """Return the cells of a column as they are written for DuckDB, without a look at each of whole numbers."""
    return cells if set(map(type, cells)) <= {int, type(None)} else map(_stored_text, cells)


def _stored_text(cell: Cell) -> str:
    """Return a cell as `cell_text` does, but numbers with all their digits."""
    if isinstance(cell, float):
        return "" if is_not_finite(cell) else repr(cell)
    if isinstance(cell, Decimal):
        return "" if is_not_finite(cell) else f"{cell:f}"
    return cell_text(cell)


def load_csv(
    connection: Any, source: Path, width: int, *, delimiter: str = ",", quote: str = '"'
) -> None:
    """Load a CSV file without a header, whose rows have one width, as the table `cells` with the text
    columns c0, c1, …"""
    types = ", ".join(f"'c{at}': 'VARCHAR'" for at in range(width))
    options = (
        f"header = false, auto_detect = false, delim = '{delimiter}', quote = '{quote}', "
        f"escape = '{quote}', max_line_size = {MAX_ROW_BYTES}, parallel = false, columns = {{{types}}}"
    )
    connection.execute(
        f"CREATE OR REPLACE TABLE cells AS FROM read_csv({literal(source)}, {options})"
    )


def copy_columns(connection: Any, typed: Mapping[str, str], path: Path) -> None:
    """Write the table `cells` as Parquet; `typed` has SQL for each column name."""
    values = ", ".join(f"{sql} AS {quoted_name(clean(name))}" for name, sql in typed.items())
    connection.execute(f"COPY (SELECT {values} FROM cells) TO {literal(path)} (FORMAT parquet)")


def write_finite(connection: Any, source: str, path: Path) -> list[str]:
    """Write a table as Parquet with NULL in place of NaN and infinity; return notes on them."""
    columns = connection.execute(f"DESCRIBE FROM {source}").fetchall()
    names = [quoted_name(clean(name)) for name, kind, *_ in columns if kind in {"DOUBLE", "FLOAT"}]
    counts = ", ".join(f"count(*) FILTER (WHERE NOT isfinite({name}))" for name in names) or "0"
    counted = connection.execute(f"SELECT {counts} FROM {source}").fetchone()
    empty = {name: count for name, count in zip(names, counted, strict=False) if count}
    values = ", ".join(f"CASE WHEN isfinite({name}) THEN {name} END AS {name}" for name in empty)
    replaced = f"REPLACE ({values})" if empty else ""
    connection.execute(
        f"COPY (SELECT * {replaced} FROM {source}) TO {literal(path)} (FORMAT parquet)"
    )
    empty_counts = [f"{name.strip(chr(34))} ({count:,})" for name, count in empty.items()]
    return (
        [f"Values that are no number (NaN or infinite), read as empty: {join_some(empty_counts)}."]
        if empty_counts
        else []
    )


def is_too_large(error: Exception) -> bool:
    """Return whether a table exceeded this process's file size limit, or a row DuckDB's limit."""
    import duckdb

    if isinstance(error, duckdb.Error):
        return any(words in str(error) for words in ("File too large", "Maximum line size"))
    return isinstance(error, OSError) and error.errno == errno.EFBIG
