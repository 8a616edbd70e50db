"""Tables as outputs of tools showed them: the only cells that a reference can name."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.library.tracing.outputs import Output

_HEAD = re.compile(
    r"^handle: (?P<handle>tbl_[0-9a-z]{6,16}) · "
    r"(?:[\d,]+ rows × (?P<columns>[\d,]+) columns|rows (?P<first>[\d,]+)–[\d,]+ of [\d,]+)"
)
_HEADING_LINES = ("columns: ", "note: ", "profile:", "first ")
_RESULT = re.compile(r"result: ([^\n]{1,100})(?:\n|\Z)")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell that an output showed. `line` is its line in the output, from 1; `row` the row's number
    in its table, from 1, `key` the first cell of the row. A single figure has no column."""

    output: Output
    handle: str
    text: str
    line: int
    column: str = ""
    row: int = 1
    key: str = ""


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row: its number in the table, from 1, the line of the output that it begins in, its cells."""

    number: int
    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A part of a table that an output showed."""

    output: Output
    handle: str
    columns: tuple[str, ...]
    rows: tuple[ShownRow, ...]

    def cell(self, row: ShownRow, column: int) -> Cell:
        """Return a cell. Raises IndexError for a column that is not there."""
        return Cell(
            self.output,
            self.handle,
            row.cells[column],
            row.line,
            self.columns[column],
            row.number,
            row.cells[0],
        )


def figure_in(output: Output) -> Cell | None:
    """Return the single figure of an output under its handle, None without one."""
    value = _RESULT.match(output.text)
    return Cell(output, output.figure, value[1].strip(), 1) if value and output.figure else None


def tables_in(output: Output) -> Iterator[ShownTable]:
    """Yield the tables of an output, in order. Linear in its text."""
    lines = output.text.split("\n")
    at, seen = 0, set[str]()
    while at < len(lines):
        head = _HEAD.match(lines[at])
        at += 1
        if head is None or head["handle"] in seen or head["handle"] not in output.handles:
            continue
        seen.add(head["handle"])
        columns, at = _heading(lines, at, int((head["columns"] or "0").replace(",", "")))
        if not columns:
            continue
        first = int(head["first"].replace(",", "")) if head["first"] else 1
        rows, at = _rows(lines, at, len(columns), first)
        yield ShownTable(output, head["handle"], columns, rows)


def _heading(lines: Sequence[str], at: int, count: int) -> tuple[tuple[str, ...], int]:
    """Return the names of the columns and the line after them. `count` is 0 where the head does not
    say how many there are."""
    named = ""
    while at < len(lines):
        line = lines[at]
        if _HEAD.match(line):
            break
        at += 1
        if line.startswith("columns: "):
            named = line
        elif line == "profile:":
            at = next((n for n in range(at, len(lines)) if lines[n].startswith("first ")), at)
        elif not line.startswith(_HEADING_LINES):
            names = tuple(next(csv.reader([line]), []))
            if names and (not count or len(names) == count) and _is_named(names, named):
                return names, at
    return (), at


def _is_named(names: Sequence[str], columns_line: str) -> bool:
    """Return whether the line of the columns names these, in this order; it may name only the first."""
    at = len("columns: ")
    for name in names if columns_line else ():
        if not columns_line.startswith(f"{name} ", at):
            return columns_line.startswith("… (", at)
        comma = columns_line.find(", ", at + len(name))
        while comma >= 0 and columns_line.count("(", at, comma) > columns_line.count(
            ")", at, comma
        ):
            comma = columns_line.find(", ", comma + 2)  # DECIMAL(18, 2)
        at = comma + 2 if comma >= 0 else len(columns_line)
    return True


def _rows(
    lines: Sequence[str], at: int, width: int, first: int
) -> tuple[tuple[ShownRow, ...], int]:
    """Return the rows from a line on, and the line after them."""
    rows = list[ShownRow]()
    begin = at
    reader = csv.reader(f"{line}\n" for line in lines[begin:])
    try:
        for cells in reader:
            if len(cells) != width or (width == 1 and cells[0].startswith("[rows ")):
                break
            rows.append(ShownRow(first + len(rows), at + 1, tuple(cells)))
            at = begin + reader.line_num
    except csv.Error:
        pass
    return tuple(rows), at
