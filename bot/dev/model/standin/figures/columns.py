"""Which columns of a table a word means."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..outputs import Table
from ..words import related, stem, stems, tokens

MONTH = re.compile(r"\d{4}-\d\d")
LEVELS = {
    "price", "rate", "rating", "score", "age", "percent", "percentage", "temperature", "satisfaction", "progress",
    "probability", "likelihood", "ratio",
}  # fmt: skip
MONEY = ("revenue", "sale", "amount", "turnover", "income", "total", "value")


def columns_named(word: str, table: Table) -> tuple[list[str], list[str], list[str]]:
    """Columns that a word means: those of its name, those that have it in theirs, and those for which
    it is another word."""
    wanted = stem(word)
    exact, part, like = [], [], []
    for column in table.columns:
        pieces = stems(column)
        if pieces == [wanted]:
            exact.append(column)
        elif wanted in pieces:
            part.append(column)
        elif any(related(wanted, stem(each)) for each in tokens(column) if not each.endswith("ed")):
            like.append(column)
    return exact, part, like


FEW = 20
"""Rows of a table that may be ranked one by one."""
DATES = {
    "date",
    "day",
    "month",
    "year",
    "time",
    "on",
    "at",
    "period",
    "week",
    "quarter",
    "timestamp",
}
"""Stems that tell no column of dates from another."""


def words_of(column: str) -> list[str]:
    """The stems of a column's name without its unit: "Lead time (days)" tells no day."""
    return stems(re.sub(r"\([^)]*\)", "", column)) or stems(column)


def date_column(table: Table) -> str | None:
    """The column that tells when, the first of several."""
    dated = [column for column in table.columns if table.dated(column)]
    named = [
        column
        for column in table.columns
        if set(words_of(column)) & {"date", "month", "day", "timestamp"}
        and not (column in table.texts and _is_word(table.ranges.get(column, ("", "", ""))[1]))
    ]
    return next(iter(dated + named), None)


def in_order(column: str, table: Table) -> bool:
    """Whether the values of a column follow each other in time: "Q1", 2026, "2026-01"."""
    ends = table.ranges.get(column, ("", "", ""))[1:]
    return bool({*stems(column)} & {"quarter", "year"}) or all(map(MONTH.fullmatch, ends))


def _is_word(value: str) -> bool:
    """Whether a time is told in letters, as "Jul": it is a name then, and nothing to reckon with."""
    return value[:1].isalpha()


def default_measure(table: Table) -> str | None:
    """The column one means when one names none: money, or the only figure there is."""
    numeric = [c for c in table.columns if table.numeric(c) and not identifies(c)]
    sums = [column for column in numeric if not is_level(column, table)]
    money = (column for name in MONEY for column in sums if name in stems(column))
    return next(money, numeric[0] if len(numeric) == 1 else None)


def is_level(column: str, table: Table) -> bool:
    """Whether a column says how high something is, which adds up to nothing."""
    if table.units.get(column) == "%":
        return True
    return "%" in column or is_of_one(column) or bool({*stems(column)} & LEVELS)


def is_of_one(column: str) -> bool:
    """Whether a column says what one piece is or costs, as "unit price" does."""
    return "unit" in tokens(column)[:-1]


def identifies(column: str) -> bool:
    """Whether a column names or dates a row rather than measuring something, as "days taken" does."""
    if tokens(column)[:2] == ["number", "of"]:
        return False
    said = {stem(word) for word in tokens(column) if not re.fullmatch("(?:day|month|year)s", word)}
    return bool(
        {*words_of(column)} & said & {"id", "year", "month", "day", "no", "number", "zip", "code"}
    )


def invites(column: str, measure: str | None, table: Table) -> bool:
    """Whether a `measure`, or the number of rows, told by a column says more than the rows do."""
    if column == "name" or identifies(column):
        return False
    different = int(table.ranges.get(column, ("",))[0] or 0)
    if table.total > FEW:
        return 2 * different <= table.total
    is_summed = measure is not None and not is_level(measure, table)
    return is_summed or different < max(table.total, 2)


def empty_among(columns: Iterable[str | None], table: Table) -> str:
    """The first of some columns that holds nothing; "" when all hold something."""
    found = (each for each in columns if each and table.ranges.get(each, ("1",))[0] == "0")
    return next(found, "")
