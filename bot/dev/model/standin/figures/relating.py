"""How the figures of a grouped result stand to each other: their shares, how far the first is ahead,
and which are not there."""

from __future__ import annotations

import re
from dataclasses import replace

from ..findings import Findings
from ..outputs import Table
from ..words import listed, plural, some_of
from .filters import Filter
from .groups import Group, figure
from .query import Query
from .scoping import values_in_words
from .shaping import month_in_words
from .sql import Statement

MONTHS, QUARTERS = 12, 4
MOST_SHARES = 8


def tell_shares(found: Findings, groups: list[Group], query: Query, what: str, scope: str) -> None:
    """What each makes up of the whole; a course is told as one."""
    total = sum(group.value for group in groups)
    shares = {group.name: f"{group.value / total:.1%}" for group in groups}
    ranked = sorted(groups, key=lambda group: -group.value)
    first, last = ranked[0].name, ranked[-1].name
    found.summary = (
        found.summary
        if query.course
        else (
            f"Of the {what}{scope}, {figure(total, groups)} in all, **{first}** makes up "
            f"**{shares[first]}** and {last} {shares[last]}."
        )
    )
    if len(found.columns) == 2 and len(found.rows) <= len(groups):
        found.columns = [*found.columns, "share"]
        pairs = zip(found.rows, groups, strict=False)
        found.rows = [[*row, shares[group.name]] for row, group in pairs]


def tell_part(
    found: Findings, groups: list[Group], statement: Statement, query: Query, scope: str
) -> None:
    """The share of what was asked for in the whole."""
    wanted = {value.lower() for value in query.part}
    value = sum(group.value for group in groups if group.name.lower() in wanted)
    total = sum(group.value for group in groups)
    found.summary = (
        f"{listed([f'**{name}**' for name in query.part])} make{'s' * (len(wanted) == 1)} up "
        f"**{value / total:.0%}** of the {statement.what}{scope}: {figure(value, groups)} of "
        f"{figure(total, groups)}."
    )


def tell_parts(
    found: Findings,
    groups: list[Group],
    query: Query,
    statement: Statement,
    empty: list[str] | None,
) -> None:
    """The whole, and how it is made up; periods without a row count in the average."""
    found.figure = total = sum(group.value for group in groups)
    if len(groups) < 2:
        return
    # Of two labels the figures are added up by the first, of a course by what has it.
    told_by = statement.labels[-1 if query.period else 0]
    noun = f" {plural(told_by.replace('_', ' '))}" if told_by.islower() else ""  # not "Filiales"
    every = "Both" if len(groups) == 2 else f"All {len(groups)}"
    with_rows = " with rows" if query.course and empty is None else ""
    found.points.append(f"{every}{noun}{with_rows} together: **{figure(total, groups)}**")
    if (query.course or query.per_period) and len(statement.labels) == 1:
        mean = f"**{figure(total / (len(groups) + len(empty or [])), groups)}**"
        if empty:
            found.gaps.append(f"There are no rows in {some_of([*map(month_in_words, empty)])}.")
        if query.per_period:
            found.summary = f"On average the {statement.what} per {told_by}{with_rows} is {mean}. {found.summary}"
        else:
            found.points.append(f"On average per {query.period}{with_rows}: {mean}")
        return
    ranked = sorted(groups, key=lambda group: -group.value)
    first, last = ranked[0].value, ranked[-1].value
    if len(ranked) == 2 and first > last > 0:
        times = f"{first / last:.2f}"
        share = f"{times} times as much, or " if times != "1.00" else "nearly the same, only "
        found.summary += f" That is {share}{figure(first - last, groups)} more."
    if len(ranked) <= MOST_SHARES:
        shares = [f"{group.name} {group.value / total:.0%}" for group in ranked]
        found.points.append(f"Shares: {', '.join(shares)}")


def tell_absent(found: Findings, result: Table, query: Query) -> None:
    """Which of the values or times that were named have no rows."""
    for each in () if query.limit else query.filters:
        if not is_told_by(each, query) or len(each.values) < 2:
            continue
        dated = ":" in each.column
        label = query.period if dated else each.column
        if label not in result.header:
            continue
        there = {row[result.header.index(label)].lower() for row in result.rows}
        ends = {re.split(r"[-q]", label)[-1].lstrip("0") for label in there} if dated else there
        if absent := tuple(value for value in each.values if value.lower() not in ends):
            named = values_in_words(replace(each, values=absent))
            found.gaps.append(f"There are no rows for {listed(named)}.")


def is_told_by(each: Filter, query: Query) -> bool:
    """Whether a condition is on what the figures are told by."""
    kind, _, dated = (each.column).partition(":")
    return each.operator == "in" and (
        kind == query.period if dated else each.column in query.groups
    )


def empty_between(result: Table, query: Query) -> list[str] | None:
    """The months, quarters or years between the first and the last that have no row; None where
    that is not known: of days and weeks, and where a condition leaves some of them out."""
    in_a_year = {"month": MONTHS, "quarter": QUARTERS, "year": 1}.get(query.period or "")
    labels = {row[0] for row in result.rows}
    chosen = any(re.match(r"(?!year:)\w+:", each.column) for each in query.filters)
    if (
        in_a_year is None
        or chosen
        or not all(re.fullmatch(r"\d{4}(?:-Q?\d+)?", each) for each in labels)
    ):
        return None
    places = [int(each[:4]) * in_a_year + int(each[4:].strip("-Q") or 1) - 1 for each in labels]
    form = {MONTHS: "{}-{:02}", QUARTERS: "{}-Q{}", 1: "{}"}[in_a_year]
    every = (
        form.format(at // in_a_year, at % in_a_year + 1) for at in range(min(places), max(places))
    )
    return [each for each in every if each not in labels]
