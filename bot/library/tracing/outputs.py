"""Outputs: what a model has read, and the tables that were shown in it, which references name."""

from __future__ import annotations

import csv
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple, overload

from typing_extensions import override

_HEAD = re.compile(
    r"^handle: (?P<handle>tbl_[0-9a-z]{6,16}) · "
    r"(?:(?P<rows>\d[\d,]{0,14}) rows × (?P<columns>\d[\d,]{0,14}) columns|"
    r"rows (?P<first>\d[\d,]{0,14})–(?P<last>\d[\d,]{0,14}) of [\d,]+)"
)
_FIRST = re.compile(r"first (\d{1,4}) rows:")
_MESSAGE = re.compile(r"(\d{1,4}) \[(\d{4}-\d\d-\d\d \d\d:\d\d)\] ([^:\n]{1,80}): (.*)")
_OF_A_MESSAGE = ("n", "time", "person", "text", "link")
_MOST_MESSAGES = 1_000
_HEADING_LINES = ("columns: ", "note: ", "profile:", "first ")
_MOST_LINES = 200  # of one row
_RESULT = re.compile(r"result: ([^\n]{1,100})(?:\n|\Z)")


_FIGURE = re.compile(r"^handle: (fig_[0-9a-z]{6,16})$", re.MULTILINE)


class Counts(StrEnum):
    """What an output counts as. Values are stored."""

    READ = "read"  # the output of a tool that reads
    PERSON = "person"  # a message of a person; its `text` is what they wrote
    CALCULATED = "calculated"  # the output of a tool that only computes from its arguments
    NONE = "none"  # of a tool that changes something: evidence for that alone


@dataclass(frozen=True, slots=True)
class Source:
    """A source of an output: its title and its address, "" without one."""

    title: str
    url: str = ""


@dataclass(frozen=True, eq=False)
class Output:
    """One output, in the order in which the model read it.

    - `text`: exactly what the model read. `arguments`: the call's arguments as JSON, "" for a
      message; what stands in them is no evidence when it comes back.
    - `made`, `used`: handles of what the call saved and read. Other handles that a text names are
      the words of strangers.
    - `link`: the address of a message.
    - `untraced`: claims of a report that were traced to nothing, as it writes them.
    """

    call_id: str
    text: str
    tool: str = ""
    arguments: str = ""
    counts: Counts = Counts.READ
    sources: tuple[Source, ...] = ()
    made: tuple[str, ...] = ()
    used: tuple[str, ...] = ()
    link: str = ""
    untraced: tuple[str, ...] = ()

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def figure(self) -> Cell | None:
        """The single figure that a calculation gave under a handle, None without one."""
        if self.counts is not Counts.CALCULATED:
            return None
        value, named = _RESULT.match(self.text), _FIGURE.search(self.text)
        return Cell(self, named[1], value[1].strip(), 1) if value and named else None

    @property
    def handles(self) -> tuple[str, ...]:
        """The handles that a reference may name."""
        return (*self.made, *self.used, *([self.figure.handle] if self.figure else []))

    @cached_property
    def tables(self) -> tuple[ShownTable, ...]:
        """The tables that the text shows under a handle of the call, in order. Linear in the text."""
        return tuple(_tables_in(self))

    @cached_property
    def messages(self) -> ShownTable | None:
        """The numbered messages that the text shows under a handle of the call, as a table in which
        each has its link: its address is not in the text, but a source of the output."""
        return next(_messages_in(self), None)


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


class ShownRow(NamedTuple):
    """A row: its number in the table, from 1, the line of the output that it begins in, its cells."""

    number: int
    line: int
    cells: tuple[str, ...]


class _Rows(Sequence[ShownRow]):
    """The rows of a table, each read when it is asked for: of a long table few are. `first` is the
    number of the first one."""

    def __init__(
        self, first: int, lines: list[tuple[int, str | tuple[str, ...]]], end: int
    ) -> None:
        self.first, self._lines, self._end = first, lines, end

    @override
    def __len__(self) -> int:
        return len(self._lines)

    @overload
    @override
    def __getitem__(self, at: int) -> ShownRow: ...
    @overload
    @override
    def __getitem__(self, at: slice) -> list[ShownRow]: ...
    @override
    def __getitem__(self, at: int | slice) -> ShownRow | list[ShownRow]:
        if isinstance(at, slice):
            return [self._row(number) for number in range(*at.indices(len(self._lines)))]
        return self._row(range(len(self._lines))[at])

    def _row(self, number: int) -> ShownRow:
        line, written = self._lines[number]
        cells = tuple(written.split(",")) if isinstance(written, str) else written
        return ShownRow(self.first + number, line, cells)

    def on_line(self, line: int) -> ShownRow | None:
        """Return the row that a line of the output belongs to."""
        at = bisect_right(self._lines, line, key=lambda entry: entry[0]) - 1
        if at < 0 or (at == len(self._lines) - 1 and line >= self._end):
            return None
        return self._row(at)

    def with_text(self, text: str) -> Iterator[ShownRow]:
        """Yield the rows in which a text stands."""
        for number, (_, written) in enumerate(self._lines):
            if text in written or (
                not isinstance(written, str) and any(text in c for c in written)
            ):
                yield self._row(number)


@dataclass(frozen=True, eq=False, slots=True)
class ShownTable:
    """A part of a table that an output showed; `line` is that of its head."""

    output: Output
    handle: str
    line: int
    columns: tuple[str, ...]
    rows: _Rows

    def row_on(self, line: int) -> ShownRow | None:
        """Return the row that a line of the output belongs to, None outside of the table."""
        return self.rows.on_line(line)

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


def _tables_in(output: Output) -> Iterator[ShownTable]:
    lines = output.lines
    at, seen = 0, set[str]()
    while at < len(lines):
        line = lines[at]
        head = _HEAD.match(line) if line.startswith("handle: ") else None
        at += 1
        if head is None or head["handle"] in seen or head["handle"] not in output.handles:
            continue
        if at < len(lines) and _MESSAGE.match(lines[at]):
            continue
        seen.add(head["handle"])
        number = at
        columns, at = _heading(lines, at, _count(head["columns"] or "0"))
        if not columns:
            continue
        first = _count(head["first"] or "1")
        most = _count(head["rows"] or head["last"]) - first + 1
        if only_first := _FIRST.fullmatch(lines[at - 2]):
            most = min(most, int(only_first[1]))
        rows, at = _rows(lines, at, len(columns), first, most)
        yield ShownTable(output, head["handle"], number, columns, rows)


def _count(written: str) -> int:
    return int(written.replace(",", ""))


def _messages_in(output: Output) -> Iterator[ShownTable]:
    for at, line in enumerate(output.lines[:-1], 1):
        head = _HEAD.match(line)
        if head and head["handle"] in output.made and _MESSAGE.match(output.lines[at]):
            entries, end = _messages(output, at)
            rows = _Rows(1, [(number, cells) for number, cells in entries], end)
            yield ShownTable(output, head["handle"], at, _OF_A_MESSAGE, rows)


def _messages(output: Output, at: int) -> tuple[list[tuple[int, tuple[str, ...]]], int]:
    """Return the line and the cells of each message from a line on, and the line after them. A number
    that is not shown has a row of its own without text."""
    entries = list[tuple[int, tuple[str, ...]]]()
    for number, line in enumerate(output.lines[at:], at + 1):
        if (match := _MESSAGE.match(line)) and len(entries) < int(match[1]) <= _MOST_MESSAGES:
            while len(entries) < int(match[1]):
                n = len(entries)
                link = output.sources[n].url if n < len(output.sources) else ""
                entries.append((number, (str(n + 1), "", "", "", link)))
            entries[-1] = (number, (*match.groups(), entries[-1][1][-1]))
        elif entries and line.startswith("  "):
            *cells, text, link = entries[-1][1]
            entries[-1] = (entries[-1][0], (*cells, f"{text}\n{line[2:]}", link))
    return entries, len(output.lines) + 1


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
            while at < len(lines) and not lines[at].startswith("first "):
                _, at = _record(lines, at)  # a line within a cell begins nothing
        elif not line.startswith(_HEADING_LINES):
            try:
                names = tuple(next(csv.reader([line]), []))
            except csv.Error:
                break
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


def _record(lines: Sequence[str], at: int) -> tuple[tuple[str, ...], int]:
    """Return the cells that begin on a line, none for what is no CSV, and the line after them."""
    if '"' not in lines[at]:
        return tuple(lines[at].split(",")), at + 1
    reader = csv.reader(f"{line}\n" for line in lines[at : at + _MOST_LINES])
    try:
        return tuple(next(reader)), at + reader.line_num
    except csv.Error:
        return (), at + 1


def _rows(lines: Sequence[str], at: int, width: int, first: int, most: int) -> tuple[_Rows, int]:
    """Return the rows from a line on, at most `most`, and the line after them. What stands below a
    table is none of it, though it may look like a row: a table of one column has any line."""
    rows = list[tuple[int, str | tuple[str, ...]]]()
    while at < len(lines) and len(rows) < most:
        line = lines[at]
        if '"' not in line:
            if (
                line.count(",") != width - 1
                or not line
                or (width == 1 and line.startswith("[rows "))
            ):
                break
            rows.append((at + 1, line))
            at += 1
            continue
        cells, end = _record(lines, at)
        if len(cells) != width:
            at = at if end - at < _MOST_LINES else len(lines)  # what follows may be of the cell
            break
        rows.append((at + 1, cells))
        at = end
    return _Rows(first, rows, at + 1), at
