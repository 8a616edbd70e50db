"""A condition on rows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Filter:
    """A condition on rows. A column of None means any text column; texts are compared whatever
    their case. Of a column of dates one may be on a part of them, as in `month:sold_on`."""

    column: str | None
    operator: str
    values: tuple[str, ...]

    def replaced_by(self, other: Filter) -> bool:
        """Whether a later condition takes its place; what is left out is left out beside it."""
        both_out = self.operator == other.operator == "not in"
        return self.column == other.column and not both_out
