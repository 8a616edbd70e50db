"""A condition on rows."""

from __future__ import annotations

from dataclasses import dataclass

SPANS = ("month", "yearmonth", "quarter", "week", "monthday", "day")
REPLACING = dict.fromkeys(SPANS, SPANS) | {"year": ("yearmonth", "day")}
"""The parts of a date a condition on which takes the place of one on that part."""


@dataclass(frozen=True)
class Filter:
    """A condition on rows. A column of None means any text column; texts are compared whatever
    their case. Of a column of dates one may be on a part of them, as in `month:sold_on`."""

    column: str | None
    operator: str
    values: tuple[str, ...]

    def replaced_by(self, other: Filter) -> bool:
        """Whether a later condition takes its place; what is left out is left out beside it."""
        if self.column is None and other.operator == "in" and ":" not in (other.column or ":"):
            return True  # a name that is in no column, where one is named that is
        both_out = self.operator == other.operator == "not in"
        if self.column == other.column:
            return not both_out
        kind, _, dated = (self.column or "").partition(":")
        other_kind, _, other_dated = (other.column or "").partition(":")
        return dated == other_dated and other_kind in REPLACING.get(kind, ())

    def is_pinned(self, groups: tuple[str, ...], period: str | None) -> bool:
        """Whether figures by these would have one row, because of it."""
        kind, _, dated = (self.column or "").partition(":")
        told_by = kind == period if dated else self.column in groups
        return told_by and self.operator == "in" and len(self.values) == 1
