"""The index of one output: its figures, dates, words and tables, each with its place."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from bot.evidence.aggregates import Aggregate, Series, aggregates
from bot.evidence.arguments import Arguments
from bot.evidence.characters import folded
from bot.evidence.dates import Day, is_year
from bot.evidence.entries import Entry, EntryKind
from bot.evidence.marks import Marks
from bot.evidence.mentions import Mention
from bot.evidence.notations import Mark
from bot.evidence.quotes import FoldedText
from bot.evidence.tables import Cell, Grid, grids, is_json, json_grids
from bot.evidence.tokens import Kind, Token, tokens
from bot.evidence.units import SCALES, UNITS, Unit, unit_of_name

MOST_CHARACTERS = 300_000
MOST_TOKENS = 5_000
_LONGEST_NAME = 80
_MOST_ARGUMENTS = 20_000
_COMMON = 100


@dataclass(slots=True)
class IndexedOutput:
    """One entry, prepared for the check. Callers only keep it and hand it on.

    `mentions` are in the order of their values, `aggregates` too (of which `totals` are the sums of
    whole columns), and `quantities` in that of their values in base units. `arguments` are those of
    the call, folded; `given` is what they bring into the output. `days` has each date by all less exact ones, `yearless` those without a year;
    `names` has the rows, as numbers of table and row, by each text cell of a row. `is_partial`: it
    was too large to be indexed whole.
    """

    entry: Entry
    starts: list[int] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    aggregates: list[Aggregate] = field(default_factory=list)
    sums: list[float] = field(default_factory=list)
    quantities: list[tuple[float, Mention]] = field(default_factory=list)
    days: dict[Day, Token] = field(default_factory=dict)
    yearless: dict[Day, Token] = field(default_factory=dict)
    clocks: dict[tuple[int, int], Token] = field(default_factory=dict)
    phones: list[Token] = field(default_factory=list)
    totals: list[Aggregate] = field(default_factory=list)
    marks: Marks = field(default_factory=Marks)
    arguments: str = ""
    given: Arguments = field(default_factory=Arguments)
    folded: FoldedText = field(default_factory=lambda: FoldedText("", []))
    grids: list[Grid] = field(default_factory=list)
    names: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    columns: frozenset[str] = frozenset()
    rows: dict[tuple[int, int], list[Mention]] = field(default_factory=dict)
    prose: list[Mention] = field(default_factory=list)
    currencies: frozenset[str] = frozenset()
    is_partial: bool = False

    @property
    def is_output(self) -> bool:
        """Whether a tool returned it: a person's message alone is nothing that was looked up."""
        return self.entry.kind in (EntryKind.READ, EntryKind.CALCULATED)

    def between(self, low: float, high: float) -> list[Mention]:
        """Return the figures from `low` to `high`, up to 40."""
        at = bisect_left(self.values, low)
        return self.mentions[at : min(bisect_right(self.values, high), at + 40)]

    def aggregates_between(self, low: float, high: float) -> list[Aggregate]:
        """Return what was computed of columns and rows, from `low` to `high`, up to 40."""
        at = bisect_left(self.sums, low)
        return self.aggregates[at : min(bisect_right(self.sums, high), at + 40)]

    def quantities_between(self, kind: str, low: float, high: float) -> list[Mention]:
        """Return the figures whose unit is of `kind` from `low` to `high` base units, up to 40."""
        at = bisect_left(self.quantities, low, key=lambda each: each[0])
        found = self.quantities[at : at + 40]
        return [one for base, one in found if base <= high and one.unit and one.unit.kind == kind]

    def beside(self, mention: Mention) -> list[Mention]:
        """Return the other figures of its row, or of its line."""
        if mention.grid >= 0:
            found = self.rows.get((mention.grid, mention.row), [])
        else:
            line = self.line_of(mention.start)
            found = [each for each in self.prose if self.line_of(each.start) == line]
        return [each for each in found if each is not mention]

    def line_of(self, offset: int) -> int:
        """Return the number, from 0, of the line at an offset."""
        return max(0, bisect_right(self.starts, offset) - 1)

    def row_names(self, mention: Mention) -> set[str]:
        """Return the texts in the row of a figure, the name of its column included."""
        if mention.grid < 0:
            return set()
        grid = self.grids[mention.grid]
        cells = grid.rows[mention.row].cells
        named = {folded(cell.text) for n, cell in cells.items() if n != mention.column}
        return named | {folded(grid.columns[mention.column])}


def index(entry: Entry) -> IndexedOutput:
    """Index an entry for the check.

    Bounded: reads 300 kB and 5,000 figures, takes under 0.5 s for any text, and never holds the
    interpreter for long, so it may run in a thread. Raises nothing.
    """
    if entry.kind is EntryKind.NONE:
        return IndexedOutput(entry)
    text = entry.text[:MOST_CHARACTERS]
    lines = text.split("\n")
    found = IndexedOutput(entry, is_partial=len(text) < len(entry.text))
    at = 0
    for line in lines:
        found.starts.append(at)
        at += len(line) + 1
    found.arguments = folded(entry.arguments[:_MOST_ARGUMENTS])
    found.given = Arguments.of(entry)
    found.folded, found.marks = FoldedText.of(lines), Marks.of(lines)
    found.grids = list(json_grids(text) if is_json(text) else grids(lines, found.starts))
    indexer = _Indexer(found, text)
    indexer.read()
    found.mentions.sort(key=lambda each: each.value)
    found.values = [each.value for each in found.mentions]
    found.quantities = sorted(
        (
            (each.value * each.unit.size, each)
            for each in found.mentions
            if each.unit and not each.unit.is_currency
        ),
        key=lambda each: each[0],
    )
    found.aggregates = sorted(aggregates(indexer.series, found.grids), key=lambda each: each.value)
    found.totals = [each for each in found.aggregates if each.is_total]
    found.sums = [each.value for each in found.aggregates]
    return found


class _Indexer:
    """What is needed while an output is read: its text, and what of it is no evidence."""

    def __init__(self, output: IndexedOutput, text: str) -> None:
        self.output, self.text = output, text
        self.series: list[Series] = []
        self.left = MOST_TOKENS
        self.head = text.find("\n") if "\n" in text else len(text)
        self.untraced = frozenset(output.entry.untraced)
        self.currencies: set[str] = set()
        is_calculated = output.entry.kind is EntryKind.CALCULATED  # 1.234 has decimals
        self.mark = Mark.POINT if is_calculated else Mark.UNKNOWN

    def read(self) -> None:
        """Fill the output's figures, dates and names."""
        if is_json(self.text):
            self._read_grids()
        else:
            in_grids = [grid.lines for grid in self.output.grids]
            starts, at = self.output.starts, 0
            for first, after in [*in_grids, (len(starts), len(starts))]:
                self._read_prose(at, starts[first] if first < len(starts) else len(self.text))
                at = starts[after] if after < len(starts) else len(self.text)
            self._read_grids()
        self.output.currencies = frozenset(self.currencies)
        self.output.is_partial = self.output.is_partial or self.left <= 0

    def _read_prose(self, start: int, end: int) -> None:
        if start >= end:
            return
        text = self.text[start:end]
        for token in self._bounded(text):
            token.start += start
            token.end += start
            line = self.output.starts[self.output.line_of(token.start)]
            if token.start < self.head and token.text in self.output.entry.arguments:
                continue
            label = _LABEL.fullmatch(self.text, line, token.start)
            self._take(token, column=unit_of_name(label[1]) if label else (None, 1.0))

    def _read_grids(self) -> None:
        columns = set()
        for number, grid in enumerate(self.output.grids):
            columns |= {folded(each) for each in grid.columns}
            units = [unit_of_name(each) for each in grid.columns]
            found: dict[int, dict[int, Mention]] = {}
            for row_number, row in enumerate(grid.rows):
                for n, cell in row.cells.items():
                    if grid.is_profile and grid.columns[n] in ("nulls", "distinct"):
                        continue
                    one = self._read_cell(cell, (number, row_number, n), units[n])
                    if one and not grid.is_profile:
                        found.setdefault(n, {})[row_number] = one
            self.series += [Series(number, n, figures, units[n][1]) for n, figures in found.items()]
        self.output.columns = frozenset(columns)

    def _read_cell(
        self, cell: Cell, at: tuple[int, int, int], column: tuple[Unit | None, float]
    ) -> Mention | None:
        """Take in a cell. Return its figure if that is all of it."""
        is_name = len(cell.text) <= _LONGEST_NAME and not self.output.grids[at[0]].is_profile
        name = folded(cell.text) if is_name else ""
        if name and not _NUMBER.fullmatch(name):
            self.output.names.setdefault(name, []).append(at[:2])
        if (told := UNITS.get(name)) and told.is_currency:
            self.currencies.add(told.kind)
        if cell.start < 0 or self.left <= 0:
            return None
        unit, scale = column
        if _NUMBER.fullmatch(cell.text):
            self.left -= 1
            digits = cell.text.lstrip("+-")
            size = abs(float(cell.text))
            sign = cell.text[0] if cell.text[0] in "+-" else ""
            end = cell.start + len(cell.text)
            one = Mention(size, sign, unit, cell.start, end, *at)
            return self._add(one, scale, may_be_year=is_year(digits.removesuffix(".0")))
        first = None
        found = list(self._bounded(cell.text))
        for token in found:
            token.start += cell.start
            token.end += cell.start
            taken = self._take(token, at, column)
            first = first or taken
        whole = len(found) == 1 and len(found[0].text) >= len(cell.text.strip()) - 1
        return first if whole else None

    def _bounded(self, text: str) -> Iterator[Token]:
        """Yield tokens until the output has been found to have too many."""
        for token in tokens(text, mark=self.mark):
            if self.left <= 0:
                return
            self.left -= 1
            if token.text not in self.untraced:
                yield token

    def _take(
        self,
        token: Token,
        at: tuple[int, int, int] = (-1, -1, -1),
        column: tuple[Unit | None, float] = (None, 1.0),
    ) -> Mention | None:
        output = self.output
        if token.kind is Kind.DATE:
            for day in token.days:
                self._add_day(day, token)
        if token.clock:
            output.clocks.setdefault(token.clock, token)
        if token.kind is Kind.PHONE:
            output.phones.append(token)
        if not token.readings:
            return None
        if token.is_bare and is_year(token.digits):
            self._add_day(Day(int(token.digits)), token)
        if token.unit and token.unit.is_currency:
            self.currencies.add(token.unit.kind)
        counts = at[0] < 0 and token.unit is None and bool(_NOUN.match(self.text, token.end))
        unit = token.unit or column[0]
        size = token.readings[0].value
        one = Mention(size, token.sign, unit, token.start, token.end, *at, counts)
        return self._add(one, column[1])

    def _add_day(self, day: Day, token: Token) -> None:
        if day in self.output.given.days:
            return
        if not day.year:
            self.output.yearless.setdefault(day, token)
        for key in day.keys:
            self.output.days.setdefault(key, token)

    def _add(self, one: Mention, scale: float, *, may_be_year: bool = False) -> Mention | None:
        if one.value in self.output.given.values or self._is_echo(one):
            return None
        self.output.mentions.append(one)
        if one.grid >= 0:
            self.output.rows.setdefault((one.grid, one.row), []).append(one)
        else:
            self.output.prose.append(one)
        if may_be_year:
            token = Token(Kind.FIGURE, one.start, one.end, str(int(one.value)))
            self._add_day(Day(int(one.value)), token)
        if scale != 1:
            scaled = Mention(
                one.value * scale,
                one.sign,
                one.unit,
                one.start,
                one.end,
                one.grid,
                one.row,
                one.column,
            )
            self.output.mentions.append(scaled)
        return one

    def _is_echo(self, one: Mention) -> bool:
        """Return whether a figure stands under the name of the argument that it was given as.

        Small ones and years are told of many things.
        """
        is_common = one.value <= _COMMON or is_year(f"{one.value:.0f}")
        if not self.output.given.echoes or one.grid < 0 or is_common:
            return False
        name = self.output.grids[one.grid].columns[one.column]
        return (folded(name), one.value) in self.output.given.echoes


_NUMBER = re.compile(r"[-+]?\d{1,18}(?:\.\d{1,18})?")
_LABEL = re.compile(r"[ \t*•-]{0,8}([^\W\d][\w ()%€$/-]{0,30}):[ \t*]{0,4}")
_JOINING = "and|or|to|und|oder|bis|et|ou|y|o|e|a|i|x"
_NOUN = re.compile(rf"[ \xa0-](?!(?:{_JOINING}|{'|'.join(SCALES)})\b)[^\W\d_]{{2,}}", re.IGNORECASE)
