"""Rows as files have them to tables: a header, one width, and Parquet with types."""

# ruff: noqa: S608 - the names in these statements are quoted, the values our own

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

from bot.parsing.kinds import is_nan, kind_of_cells, kind_of_texts
from bot.parsing.numerals import adds_up, some_of, stands_out
from bot.parsing.results import Cell, EmptySheet, Sheet, Unreadable
from bot.parsing.text import clean

NumberedRow = tuple[int, list[Cell]]
"""A row and the line of the file on which it ends, counted from 1."""

_NUMBER = re.compile(r"[-+]?[\d.,]+%?|\d{4}-\d{2}-\d{2}.*")
_TOTAL = re.compile(
    r"(?:(?:grand |sub)?totals?|sum|summe|gesamt(?:summe)?|somme|suma)\b", re.IGNORECASE
)
_MAX_COLUMNS = 2_000
_MAX_LINE = 16_000_000


def to_sheet(name: str, rows: Iterable[NumberedRow], *, typed: bool) -> Sheet:
    """Find the header, leave out blank rows, lines above the header and a total below, and give
    every row one width: short rows are filled with nulls, the surplus of long ones goes to a column
    `extra`.

    Raises EmptySheet when there is no row with a value.
    """
    kept = [(line, _trimmed(row) if typed else row) for line, row in rows if not _blank(row)]
    if not kept:
        raise EmptySheet(f"{name} is empty: it has no row with a value.")
    width = _width(kept, typed=typed)
    notes: list[str] = []
    kept = _without_preamble(kept, width, notes)
    kept = _with_one_header(kept, width) if typed else kept
    header = kept[0][1] if _is_header(kept, width) else None
    if header is None:
        notes.append("There is no header row; the columns were named column_1, column_2, ….")
    width = max(width, len(header or ()))
    if width > _MAX_COLUMNS:
        raise Unreadable(f"{name} has {width:,} columns; {_MAX_COLUMNS:,} can be read.")
    body = kept[1:] if header is not None else kept
    left_out: list[str] = []
    body = _without_total(body, width, notes, left_out)
    names = column_names(header or (), width)
    if later := _renamed(header or (), names):
        notes.append(f"Columns of the same name: the later ones are called {', '.join(later)}.")
    columns, level = _level(body, names, notes, typed=typed)
    return Sheet(name, columns, level, typed, notes, left_out)


def column_names(header: Sequence[Cell], width: int) -> list[str]:
    """`width` names: blank ones as column_3, repeated ones (in any case) as name_2."""
    names: list[str] = []
    seen: set[str] = set()
    for index in range(width):
        given = " ".join(cell_text(header[index]).split()) if index < len(header) else ""
        base = name = given or f"column_{index + 1}"
        copy = 1
        while name.lower() in seen:
            copy += 1
            name = f"{base}_{copy}"
        seen.add(name.lower())
        names.append(name)
    return names


def _renamed(header: Sequence[Cell], names: Sequence[str]) -> list[str]:
    """The names of columns that another has in the header as well."""
    given = [" ".join(cell_text(cell).split()) for cell in header]
    return [name for said, name in zip(given, names, strict=False) if said and said != name]


def _blank(row: Sequence[Cell]) -> bool:
    return all(cell is None or (isinstance(cell, str) and not cell.strip()) for cell in row)


def _trimmed(row: list[Cell]) -> list[Cell]:
    end = len(row)
    while end and row[end - 1] is None:
        end -= 1
    return row[:end]


def _width(rows: list[NumberedRow], *, typed: bool) -> int:
    """Cells of a usual row. A workbook leaves out empty cells at the end of a row, so there it is
    the widest row."""
    widths = Counter(len(row) for _, row in rows)
    return max(widths) if typed else max(widths, key=lambda width: (widths[width], width))


def _without_preamble(rows: list[NumberedRow], width: int, notes: list[str]) -> list[NumberedRow]:
    """Leave out titles above the header: leading rows with one value in a wider table."""
    start = 0
    if width > 1:
        while start < len(rows) - 1 and sum(not _blank([cell]) for cell in rows[start][1]) == 1:
            start += 1
    if start:
        words = "; ".join(_words(row) for _, row in rows[:start])
        notes.append(f"{start} line(s) above the header were left out: {words[:200]}")
    return rows[start:]


def _with_one_header(rows: list[NumberedRow], width: int) -> list[NumberedRow]:
    """Two rows that name the columns together, as those with merged cells do, made one: "2025 H1".
    They are where the first column is named in one of them only, and figures follow."""
    if len(rows) < 3 or all(isinstance(cell, str | None) for cell in rows[2][1]):
        return rows
    above, below = ([*row, *[None] * (width - len(row))] for _, row in rows[:2])
    filled = [
        (not _blank([upper]), not _blank([lower]))
        for upper, lower in zip(above, below, strict=True)
    ]
    if sum(filled[0]) != 1 or (False, True) not in filled[1:]:
        return rows
    if not all(isinstance(cell, str | None) for cell in below):
        return rows
    names: list[Cell] = []
    group = ""
    for upper, lower in zip(above, below, strict=True):
        of_all = _blank([upper]) and _is_label(lower)
        group = group if _blank([upper]) and not _blank([lower]) else cell_text(upper)
        group = "" if of_all else group
        names.append(f"{group} {cell_text(lower)}".strip())
    return [(rows[1][0], names), *rows[2:]]


def _without_total(
    rows: list[NumberedRow], width: int, notes: list[str], left_out: list[str]
) -> list[NumberedRow]:
    """Leave out a last row that adds up those above. Where it only begins like one the notes tell of
    it: it may be a company called Total."""
    last = rows[-1][1] if len(rows) > 2 else []
    words = _words(last)
    if not _TOTAL.match(words):
        return rows
    if _is_total([row for _, row in rows], width) or _TOTAL.fullmatch(words):
        left_out.append(f"the last row is a total and was left out: {words[:200]}")
        return rows[:-1]
    notes.append(f"The last row may be a total of those above: {words[:200]}")
    return rows


def _words(row: Sequence[Cell]) -> str:
    """What a row says, on one line: notes are read line by line."""
    return " ".join(" ".join(map(cell_text, row)).split())


def _is_total(rows: list[list[Cell]], width: int) -> bool:
    """Whether the last row has a cell that is blank, or says "Total", where all others have a value,
    and tells nothing but sums, or averages beside them."""
    columns = [[next(iter(row[at : at + 1]), None) for row in rows] for at in range(width)]
    labels = [cells for cells in columns if _blank(cells[-1:]) or _is_label(cells[-1])]
    filled = [cells for cells in columns if cells not in labels]
    return (
        any(not any(_blank([cell]) for cell in cells[:-1]) for cells in labels)
        and any(map(adds_up, filled))
        and not any(map(stands_out, filled))
    )


def _is_label(cell: Cell) -> bool:
    return isinstance(cell, str) and bool(_TOTAL.fullmatch(cell.strip().rstrip(":")))


def _is_header(rows: list[NumberedRow], width: int) -> bool:
    """Text in all of its cells, none like a number or a date, and most of the width filled."""
    first = [cell for cell in rows[0][1] if not _blank([cell])]
    names = [
        cell for cell in first if isinstance(cell, str) and not _NUMBER.fullmatch(cell.strip())
    ]
    return len(names) == len(first) and len(first) >= max(1, width // 2)


def _level(
    rows: list[NumberedRow], columns: list[str], notes: list[str], *, typed: bool
) -> tuple[list[str], list[list[Cell]]]:
    width = len(columns)
    level: list[list[Cell]] = []
    short: list[int] = []
    long: list[int] = []
    extras: dict[int, str] = {}
    for line, row in rows:
        surplus = row[width:]
        if len(row) < width:
            short.append(line)
        elif not _blank(surplus):
            long.append(line)
            extras[len(level)] = ", ".join(map(cell_text, surplus))
        level.append([*row[:width], *[None] * (width - len(row))])
    if extras:
        columns = column_names([*columns, "extra"], width + 1)
        level = [[*row, extras.get(index)] for index, row in enumerate(level)]
    if (short or long) and not typed:
        notes.append(_odd_lines(len(rows), short, long))
    return columns, level


def _odd_lines(total: int, short: list[int], long: list[int]) -> str:
    parts = []
    if short:
        parts.append(f"{len(short):,} with too few cells (line {_some(short)}), filled with nulls")
    if long:
        parts.append(
            f"{len(long):,} with too many (line {_some(long)}), the surplus is in column extra"
        )
    return f"{len(short) + len(long):,} of {total:,} lines were odd: {'; '.join(parts)}."


def _some(lines: list[int]) -> str:
    shown = ", ".join(str(line) for line in lines[:5])
    return f"{shown}, …" if len(lines) > 5 else shown


def cell_text(cell: Cell) -> str:
    """A cell as text: ISO dates, floats without binary noise, bytes in hex, null as nothing."""
    match cell:
        case None:
            text = ""
        case bool():
            text = "true" if cell else "false"
        case float():
            text = repr(float(f"{cell:.15g}"))
        case datetime():
            midnight = cell.time() == time() and cell.tzinfo is None
            text = str(cell.date()) if midnight else cell.isoformat(sep=" ")
        case bytes():
            text = cell.hex()
        case _:
            text = clean(str(cell))
    return text


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """CSV (RFC 4180, but lines end in a line feed) with a header; without a final line feed."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([cell_text(column) for column in columns])
    writer.writerows([cell_text(cell) for cell in row] for row in rows)
    return out.getvalue().rstrip("\n")


def connect(threads: int = 1, memory: str = "512MB") -> Any:
    """An in-memory DuckDB without extensions; times are in UTC."""
    import duckdb  # 0.3 s to import, and not every file needs it

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
    """Write `sheet` as Parquet, each column with the type that all its values have."""
    columns = list(zip(*sheet.rows, strict=True)) or [()] * len(sheet.columns)
    kind_of = kind_of_cells if sheet.typed else _kind_of_column
    kinds = [kind_of(cells) for cells in columns]
    if told := [
        f"{name} ({empty:,})"
        for name, cells in zip(sheet.columns, columns, strict=True)
        if (empty := sum(map(is_nan, cells)))
    ]:
        sheet.notes.append(f"Values that are no number (NaN), read as empty: {some_of(told)}.")
    source = path.with_suffix(".csv")
    with source.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([_stored_text(cell) for cell in row] for row in sheet.rows)
    with connect() as connection:
        copy_csv(connection, source, sheet.columns, kinds, path)
    source.unlink()


def _kind_of_column(cells: Sequence[Cell]) -> str:
    return kind_of_texts({str(each).strip() for each in cells if each is not None} - {""})


def _stored_text(cell: Cell) -> str:
    """A cell as `cell_text` has it, but numbers with all their digits."""
    if isinstance(cell, float):
        return "" if is_nan(cell) else repr(cell)
    if isinstance(cell, Decimal):
        return "" if is_nan(cell) else f"{cell:f}"
    return cell_text(cell)


def copy_csv(
    connection: Any, source: Path, columns: Sequence[str], kinds: Sequence[str], path: Path
) -> None:
    """Copy a CSV file without a header to Parquet, each column under its name and of its kind."""
    found = ", ".join(f"'c{at}': 'VARCHAR'" for at in range(len(columns)))
    options = (
        "header = false, auto_detect = false, delim = ',', quote = '\"', escape = '\"', "
        f"max_line_size = {_MAX_LINE}, parallel = false, columns = {{{found}}}"
    )
    values = ", ".join(
        f"{_typed(f'c{at}', kind)} AS {_identifier(name)}"
        for at, (name, kind) in enumerate(zip(columns, kinds, strict=True))
    )
    connection.execute(
        f"COPY (SELECT {values} FROM read_csv({_quoted(source)}, {options})) "
        f"TO {_quoted(path)} (FORMAT parquet)"
    )


def _typed(column: str, kind: str) -> str:
    return column if kind == "VARCHAR" else f"CAST(nullif(trim({column}), '') AS {kind})"


def _identifier(name: str) -> str:
    return '"' + clean(name).replace('"', '""') + '"'


def _quoted(value: object) -> str:
    return "'" + str(value).replace("'", "''") + "'"
