"""Which database and table a question is about."""

from __future__ import annotations

from .asking import DOWN, UP
from .columns import MONEY, default_measure
from .query import understand
from .schemas import Listed, Section, joined
from .words import content, has, overlap, stems

SOLD = r"did we (?:make|earn)|sells?|sold|selling|buys?|bought|spends?|spent|valuable"


def fitting(question: str, sections: list[Section]) -> tuple[Section, Listed | None]:
    """The database that the words of a question fit best, and its table."""
    section = max(sections, key=lambda each: _section_fits(question, each))
    tables = section[2]
    return section, max(tables, key=lambda each: _fits(question, each, tables), default=None)


def is_named(question: str, tables: list[Listed]) -> bool:
    """Whether a question speaks of a table, or of a column that is not of every day."""
    asked = content(question)
    return any(overlap(asked, stems(each.table.source)) >= 1 for each in tables)


def is_of(question: str, listed: Listed, tables: list[Listed]) -> bool:
    """Whether the table has the figure that is asked for, or what it is asked by."""
    asked = understand(question, joined(listed, tables)[0])
    return asked.measure is not None or has(question, SOLD)


def _fits(question: str, listed: Listed, tables: list[Listed]) -> float:
    asked = content(question)
    table, _ = joined(listed, tables)
    measured = understand(question, listed.table).measure is not None
    named = overlap(asked, stems(table.source))
    return 2 * named + 2 * measured + overlap(asked, stems(" ".join(table.columns)))


def with_figures(question: str, listed: Listed, tables: list[Listed]) -> Listed:
    """ "Our biggest customers" are those of the greatest orders: the table that refers to them, and
    has the money."""
    asked = understand(question, listed.table)
    if (
        asked.measure
        or asked.aggregate == "distinct"
        or (asked.aggregate == "count" and is_named(asked.noun, tables))
        or not has(question, f"{DOWN}|{UP}|{SOLD}")
    ):
        return listed
    return next((each for each in tables if _counts_money(each, listed)), listed)


def _counts_money(listed: Listed, of: Listed) -> bool:
    refers = any(target == of.table.source for target, _ in listed.links.values())
    return refers and bool({*stems(default_measure(listed.table) or "")} & {*MONEY})


def _section_fits(question: str, section: Section) -> float:
    name, _, tables = section
    named = 3 * overlap(content(question), stems(name))
    return named + max((_fits(question, each, tables) for each in tables), default=0.0)
