"""Tables in outputs: CSV as our tools write it, Markdown, and JSON of MCP servers."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

MOST_ROWS = 2_000
_MOST_COLUMNS = 60
_MOST_DEPTH = 30


@dataclass(slots=True)
class Cell:
    """A cell: its text, and where it begins in the output."""

    text: str
    start: int


@dataclass(slots=True)
class Row:
    """A row: its cells by column number. A cell that is the row's key in JSON begins at -1."""

    cells: dict[int, Cell] = field(default_factory=dict)


@dataclass(slots=True)
class Grid:
    """A table: names of columns, and rows. `is_whole` unless the output says that rows are missing.

    Of JSON, each object of a list is a row, and an object outside of a list a row by itself.
    `lines` are the first line and the one after the last, both 0 for JSON.
    """

    columns: list[str]
    rows: list[Row] = field(default_factory=list)
    lines: tuple[int, int] = (0, 0)
    is_whole: bool = True
    is_profile: bool = False


_SHAPE = re.compile(r"(?:^|· )([\d,]+) rows ×")
_SHOWN = re.compile(r"first (\d+) rows?:")
_CUT = re.compile(r"^\[|^… |^and \d+ more")
_OURS = re.compile(r"(?:columns|handle|note|profile|source|canvas|title|date): ")
_RULE = re.compile(r"[\s|:-]+")


def grids(lines: list[str], starts: list[int]) -> Iterator[Grid]:
    """Yield the tables of the lines of an output; `starts` are the offsets of the lines."""
    total, shown, at = 0, 0, 0
    while at < len(lines):
        line = lines[at]
        if not line:
            at += 1
            continue
        if found := _SHAPE.search(line):
            total, shown = int(found[1].replace(",", "")), 0
        elif found := _SHOWN.fullmatch(line):
            shown = int(found[1])
        grid, after = _grid(lines, starts, at)
        if grid:
            cut = after < len(lines) and bool(_CUT.match(lines[after]))
            is_ours = at > 0 and lines[at - 1].startswith(("columns:", "first ", "note:"))
            missing = is_ours and total > len(grid.rows)
            grid.is_whole = not (cut or missing or (shown and shown < total))
            grid.is_profile = lines[at].startswith("column,type,nulls")
            yield grid
        at = after


def _grid(lines: list[str], starts: list[int], at: int) -> tuple[Grid | None, int]:
    """Return the table that begins at a line, and the line after it."""
    is_markdown = lines[at].lstrip().startswith("|")
    header = _split(lines[at], is_markdown=is_markdown)
    after = at + 1
    is_header = 1 < len(header) <= _MOST_COLUMNS and not _OURS.match(lines[at])
    if not is_header or any(_is_number(text) for text, _ in header):
        return None, after
    grid = Grid([text.strip() for text, _ in header])
    while after < len(lines) and len(grid.rows) < MOST_ROWS:
        cells = _split(lines[after], is_markdown=is_markdown)
        if len(cells) != len(header):
            break
        if not (is_markdown and _RULE.fullmatch(lines[after])):
            found = {n: Cell(text, starts[after] + start) for n, (text, start) in enumerate(cells)}
            grid.rows.append(Row(found))
        after += 1
    grid.lines = (at, after)
    has_numbers = any(_is_number(cell.text) for row in grid.rows for cell in row.cells.values())
    return grid if has_numbers else None, after


def _split(line: str, *, is_markdown: bool) -> list[tuple[str, int]]:
    """Return the cells of a line with their offsets in it."""
    if is_markdown:
        inner = line.strip().removeprefix("|").removesuffix("|").split("|")
        cells = [each.strip() for each in inner]
    elif "," not in line or len(line) > 10_000 or line[:1] in " -[":
        return []
    elif '"' in line:
        cells = next(csv.reader([line]), [])
    else:
        cells = line.split(",")
    found, at = [], 0
    for cell in cells:
        start = line.find(cell, at)
        found.append((cell, max(start, 0)))
        at = start + len(cell) if start >= 0 else at
    return found


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"[-+−$€£]{0,2}\s?\d[\d,.'’\s]*\s?[%€]?", text.strip()))


# A string without an end is passed over as a whole: looked into, each of its quotes would be followed
# to the end again.
_JSON = re.compile(
    r""""((?:[^"\\]|\\.)*+)(?:"(\s*:)?|(\\?\Z))|([-+]?\d[\d.eE+-]*)|([{}\[\]])|true|false|null""",
    re.DOTALL,
)


_JSON_BEGINS = re.compile(r"""\s*(?:\{\s*["}]|\[\s*(?:[\[{"\]]|-?\d[\d.eE+-]*+\s*(?:,|\]\s*\Z)))""")


def is_json(text: str) -> bool:
    """Return whether a text begins as JSON with objects or lists.

    The time of a message in brackets is none.
    """
    return bool(_JSON_BEGINS.match(text))


def json_grids(text: str) -> Iterator[Grid]:
    """Yield the objects of a JSON text as tables: those of one list are the rows of one table.

    Reads broken JSON as far as it goes.
    """
    stack: list[_Level] = [_Level("", is_list=True)]
    key = ""
    for found in _JSON.finditer(text):
        said, colon, is_cut, number, bracket = found.groups()
        if is_cut is not None:
            continue
        if bracket in ("{", "[") and len(stack) <= _MOST_DEPTH:
            stack.append(_Level(key or stack[-1].name, is_list=bracket == "["))
            key = ""
        elif bracket in ("}", "]") and len(stack) > 1:
            closed = stack.pop()
            yield from stack[-1].take(closed)
            key = ""
        elif colon:
            key = said or ""
        elif said is not None or number:
            start = found.start() + (0 if number else 1)
            stack[-1].values.append((key, Cell(number or said or "", start)))
            key = ""
    for level in reversed(stack):
        yield from level.tables()


class _Level:
    """An open object or list of a JSON text: what it holds so far."""

    def __init__(self, name: str, *, is_list: bool) -> None:
        self.name, self.is_list = name, is_list
        self.values: list[tuple[str, Cell]] = []
        self.objects: list[_Level] = []

    def take(self, closed: _Level) -> Iterator[Grid]:
        """Take in an object or list that has ended; yield the tables that are complete by that."""
        if not closed.is_list and self.is_list:
            self.objects.append(closed)
            return
        yield from closed.tables()

    def tables(self) -> Iterator[Grid]:
        """Yield the table of the objects of a list, or of one object."""
        levels = self.objects if self.is_list else [self]
        columns: dict[str, int] = {}
        rows = []
        for level in levels[:MOST_ROWS]:
            row = Row()
            if level.name and not self.is_list:
                row.cells[columns.setdefault("", len(columns))] = Cell(level.name, -1)
            for key, cell in level.values:
                row.cells[columns.setdefault(key, len(columns))] = cell
            rows.append(row)
        if any(row.cells for row in rows):
            yield Grid(list(columns), rows, is_whole=len(levels) <= MOST_ROWS and self.is_list)
