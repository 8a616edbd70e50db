"""Evidence: the outputs that count as read, and the names of what they hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

from bot.core.findings import Place
from bot.evidence.aggregates import Aggregate
from bot.evidence.arguments import Operand
from bot.evidence.characters import folded
from bot.evidence.dates import Day
from bot.evidence.entries import EntryKind
from bot.evidence.indexing import IndexedOutput
from bot.evidence.mentions import Mention
from bot.evidence.places import place_at

_MOST_NAMES = 3_000
_MOST_ROWS = 4
_MOST_TOTALS = 30


@dataclass(slots=True)
class Evidence:
    """What counts as read: outputs, people's messages, and results calculated from these.

    `totals` are the sums of columns, the newest first, up to 30. `names` are the names of all rows,
    `columns` those of all columns, `sources` the titles. `weekdays` are the days on which somebody
    named a weekday (Monday is 0), once they were looked for.
    """

    outputs: list[IndexedOutput]
    today: date | None = None
    names: frozenset[str] = frozenset()
    columns: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()
    currencies: frozenset[str] = frozenset()
    newest_first: list[IndexedOutput] = field(default_factory=list)
    totals: list[tuple[IndexedOutput, Aggregate]] = field(default_factory=list)
    weekdays: dict[int, set[date]] = field(default_factory=dict)

    @classmethod
    def of(cls, outputs: Sequence[IndexedOutput], today: date | None) -> Evidence:
        """Take the outputs in the order of the run, so that operands come before their results."""
        found, hollow = cls([], today), set[str]()  # handles of what is made of no evidence
        for each in outputs:
            if hollow.isdisjoint(each.entry.used) and found.trusts(each):
                found.outputs.append(each)
            else:
                hollow.update(each.entry.made)
        found.newest_first = found.outputs[::-1]
        found.totals = [(o, each) for o in found.newest_first for each in o.totals][:_MOST_TOTALS]
        names = [name for each in found.outputs for name in each.names]
        titles = (source.title for each in found.outputs for source in each.entry.sources)
        found.names = frozenset(name for name in names[:_MOST_NAMES] if len(name) > 1)
        found.columns = frozenset(name for each in found.outputs for name in each.columns)
        found.currencies = frozenset(code for each in found.outputs for code in each.currencies)
        found.sources = frozenset(map(folded, titles))
        return found

    def trusts(self, output: IndexedOutput) -> bool:
        """Return whether an output counts as read: a calculation only if its operands were."""
        if output.entry.kind is EntryKind.NONE:
            return False
        given = output.given
        return not given.computes or (
            not given.is_partial and all(map(self._has_operand, given.operands))
        )

    def _has_operand(self, operand: Operand) -> bool:
        return any(self.day(each) or each.is_near(self.today) for each in operand.days) or any(
            self.has_between(each.value - each.step / 2, each.value + each.step / 2)
            for each in operand.readings
        )

    def has_between(self, low: float, high: float) -> bool:
        """Return whether a figure, or the sum or mean of a column, is in a range."""
        return any(o.between(low, high) or o.aggregates_between(low, high) for o in self.outputs)

    def figures_named(self, name: str) -> list[tuple[IndexedOutput, Mention]]:
        """Return the figures of the rows that have a text, in all tables."""
        return [
            (output, mention)
            for output in self.outputs
            for row in output.names.get(name, [])[:_MOST_ROWS]
            for mention in output.rows.get(row, [])
        ]

    def cells_named(self, name: str) -> list[str]:
        """Return the texts of the rows that have a text, in all tables."""
        return [
            cell.text
            for output in self.outputs
            for grid, row in output.names.get(name, [])[:_MOST_ROWS]
            for cell in output.grids[grid].rows[row].cells.values()
        ]

    def day(self, day: Day) -> Place | None:
        """Return where a date was read.

        One without a year counts where its year is told elsewhere.
        """
        for output in reversed(self.outputs):
            token = output.days.get(day)
            if token is None and day.year and Day(day.year) in output.days:
                token = output.yearless.get(Day(0, day.month, day.day))
            if token:
                return place_at(output, token.start, token.end)
        return None
