"""Mentions: the figures of an output."""

from __future__ import annotations

from dataclasses import dataclass

from bot.evidence.units import Unit


@dataclass(slots=True)
class Mention:
    """A figure in an output: `value` without its `sign`, in its scale.

    `row` and `column` are numbers in the table `grid`, -1 outside of tables. `counts` tells that a
    noun follows: "46 people".
    """

    value: float
    sign: str
    unit: Unit | None
    start: int
    end: int
    grid: int = -1
    row: int = -1
    column: int = -1
    counts: bool = False

    @property
    def signed(self) -> float:
        """The value with its sign."""
        return -self.value if self.sign == "-" else self.value
