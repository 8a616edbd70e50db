"""The rows of a grouped result, with their figures in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..outputs import Table
from ..words import number, shown
from .query import Query
from .shaping import month_in_words, rows_shown


@dataclass(frozen=True)
class Group:
    """One row of a grouped result: its labels in words, and its figure."""

    name: str
    value: float
    text: str


def groups_of(result: Table, query: Query) -> list[Group]:
    """The rows of a grouped result."""
    groups = []
    figures = rows_shown(["figure"], [row[-1:] for row in result.rows])
    for row, [text] in zip(result.rows, figures, strict=True):
        labels = [month_in_words(row[0]) if query.period else row[0], *row[1:-1]]
        name = ", ".join(label or "(none)" for label in labels)
        groups.append(Group(name, number(row[-1]) or 0.0, text))
    return groups


def added_up(result: Table, *, by: int) -> list[Group]:
    """Rows of two labels added up by one of them."""
    sums: dict[str, float] = {}
    for *labels, value in result.rows:
        label = labels[by] or "(none)"
        sums[label] = sums.get(label, 0.0) + (number(value) or 0.0)
    groups = groups_of(result, Query())
    return [Group(name, value, figure(value, groups)) for name, value in sums.items()]


def figure(value: float, beside: Sequence[Group]) -> str:
    """A figure made of others, with decimals where these have some."""
    has_decimals = any("." in group.text for group in beside)
    return shown(f"{value:.2f}", decimals=2 if has_decimals else 0)
