"""By what a question wants its figures told: columns of names, or the days, months and years of a date."""

from __future__ import annotations

import re

from .asking import (
    COMPARE,
    DOWN,
    FOLLOW_UP,
    GROUPERS,
    OVER_TIME,
    PEOPLE,
    PERIOD_BEFORE,
    PERIODS,
    RANKERS,
    THINGS,
    UP,
    WHAT_SOLD,
    chart_of,
)
from .columns import columns_named, date_column, identifies
from .filters import Filter
from .outputs import Table
from .words import has, stems


def columns_after(words: list[str], table: Table) -> tuple[tuple[str, ...], set[int]]:
    """Text columns after "by", "per", "which" or "top 5", and where they were named."""
    groups: list[str] = []
    used: set[int] = set()
    for index, word in enumerate(words):
        ranked = word.isdigit() and index and words[index - 1] in ("top", "bottom", "best", "first")
        listed = word == "and" and index - 1 in used
        if not (ranked or listed or word in GROUPERS | RANKERS):
            continue
        for place in range(index + 1, min(index + 4, len(words))):
            found = [c for c in columns_named(words[place], table) if _groupable(c, table)]
            if found and place not in used:
                groups.append(found[0])
                used.add(place)
                break
            if columns_named(words[place], table) or words[place] in ("of", "in", "for"):
                break
    return tuple(dict.fromkeys(groups)), used


def of_people_or_things(text: str, table: Table) -> tuple[str, ...]:
    """ "Who sold most" is a question by the column that names people, "what sold most" of things."""
    if not has(text, f"{DOWN}|{UP}"):
        return ()
    people = set() if {*stems(table.source)} & THINGS else PEOPLE
    kinds = people if has(text, "who") else THINGS if has(text, WHAT_SOLD) else set()
    named = [c for c in table.columns if set(stems(c)) & kinds and _groupable(c, table)]
    return tuple(sorted(named, key=identifies)[:1])


def of_things_by(text: str, table: Table) -> tuple[str, ...]:
    """The column that names what is ranked by a figure, as in "customers by amount"."""
    said = re.search(r"\b([a-z_]+)\s+by\s+(?:the |their |total )*([a-z_]+)", text, re.IGNORECASE)
    figure = columns_named(said[2].lower(), table)[:1] if said else []
    if said is None or not figure or not table.numeric(figure[0]):
        return ()
    things = [c for c in columns_named(said[1].lower(), table) if _groupable(c, table)]
    return tuple(sorted(things, key=identifies)[:1])


def period_of(text: str, table: Table) -> str | None:
    """The period by which figures are told: one that is named, or months where a course is asked for."""
    if found := named_period(text, table):
        return found
    when = has(text, "when") and has(text, f"{DOWN}|{UP}")
    over_time = (
        when
        or has(text, OVER_TIME)
        or (chart_of(text) in ("line", "area") and not re.search(FOLLOW_UP, text, re.IGNORECASE))
    )
    return "month" if over_time and date_column(table) else None


def named_period(text: str, table: Table) -> str | None:
    """The period that stands after "by", "per" and the like."""
    if date_column(table) is None:
        return None
    for name, pattern in PERIODS.items():
        if has(text, rf"(?:{PERIOD_BEFORE})\s+(?:{pattern})") or has(
            text, f"{name}ly" if name != "day" else "daily"
        ):
            return name
    return None


def bounded_period(text: str, table: Table) -> str | None:
    """The period of which the figures are bounded, as "is there any month below 65,000"."""
    if date_column(table) is None:
        return None
    kinds = (
        name for name, pattern in PERIODS.items() if has(text, f"(?:any|no|only|the) (?:{pattern})")
    )
    return next(kinds, None)


def compared_period(text: str, filters: tuple[Filter, ...]) -> str | None:
    """The period of which several are set side by side, as "Q1 versus Q2"."""
    times = (
        each.column.split(":")[0]
        for each in filters
        if each.column and ":" in each.column and len(each.values) > 1
    )
    return next(times, None) if has(text, COMPARE) else None


def _groupable(column: str, table: Table) -> bool:
    return not table.dated(column) and (not table.numeric(column) or identifies(column))
