"""Which columns of a table a word means."""

from __future__ import annotations

from .outputs import Table
from .words import related, stem, stems

MONEY = ("revenue", "sale", "amount", "turnover", "income", "total", "value")


def columns_named(word: str, table: Table) -> list[str]:
    """Columns that a word means, the best match first."""
    wanted = stem(word)
    exact, part, like = [], [], []
    for column in table.columns:
        pieces = stems(column)
        if pieces == [wanted]:
            exact.append(column)
        elif wanted in pieces:
            part.append(column)
        elif any(related(wanted, piece) for piece in pieces):
            like.append(column)
    return exact + part + like


def date_column(table: Table) -> str | None:
    """The column that tells when."""
    dated = [column for column in table.columns if table.dated(column)]
    named = [c for c in table.columns if set(stems(c)) & {"date", "month", "day", "timestamp"}]
    return next(iter(dated + named), None)


def default_measure(table: Table) -> str | None:
    """The column one means when one names none: money first, else the last that can be summed."""
    numeric = [c for c in table.columns if table.numeric(c) and not identifies(c)]
    for name in MONEY:
        for column in numeric:
            if name in stems(column):
                return column
    return numeric[-1] if numeric else None


def identifies(column: str) -> bool:
    """Whether a column names or dates a row rather than measuring something."""
    return bool(set(stems(column)) & {"id", "year", "month", "day", "no", "number", "zip", "code"})
