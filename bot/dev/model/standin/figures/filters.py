"""A condition on rows."""

from __future__ import annotations

from dataclasses import dataclass

SPANS = ("month", "yearmonth", "quarter", "week", "monthday", "day")
REPLACING = dict.fromkeys(SPANS, SPANS) | {"year": ("yearmonth", "day")}
"""The parts of a date a condition on which takes the place of one on that part."""


@dataclass(frozen=True)
class Filter:
    """A condition on rows: texts are compared whatever their case. Of a column of dates it may be on a
    part of them, as in `month:sold_on`."""

    column: str
    operator: str
    values: tuple[str, ...]
    named: bool = False
    """Whether another date than the first of the table was named, as in "closed in May"."""

    @property
    def of(self) -> str:
        """The column, also of a condition on a part of it."""
        return self.column.rpartition(":")[2]

    @property
    def part(self) -> str:
        """The part of a date that it is on, as "month"; "" for a condition on anything else."""
        return self.column.rpartition(":")[0]

    @property
    def dated(self) -> bool:
        """Whether it is a condition on a time."""
        return ":" in self.column

    def replaced_by(self, other: Filter) -> bool:
        """Whether a later condition takes its place; what is left out is left out beside it."""
        both_out = self.operator == other.operator == "not in"
        if self.column == other.column:
            return not both_out
        return self.of == other.of and other.part in REPLACING.get(self.part, ())

    def is_pinned(self, groups: tuple[str, ...], period: str | None) -> bool:
        """Whether figures by these would have one row, because of it."""
        told_by = self.part == period if self.dated else self.column in groups
        return told_by and self.operator == "in" and len(self.values) == 1
