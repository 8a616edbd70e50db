"""What a figure leaves out or throws together: rows without one, other currencies, periods that are not
whole."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta

from ..outputs import Table
from ..words import listed, stems
from .columns import default_measure
from .query import Query
from .shaping import holds_nothing, month_in_words

UNITS = frozenset(("currency", "ccy", "unit", "uom"))
"""Stems of columns that say what a figure is in."""

ONE_NAME = re.compile(r"Columns of the same name: the later ones are called (.+)\.")

LACKING = {"month": 7, "quarter": 14, "year": 31}
"""Days at the edge of a period on which nothing needs to have happened for it to count as whole."""
MONTHS_IN = {"month": 1, "quarter": 3, "year": 12}


def caveats(query: Query, table: Table) -> list[str]:
    """What to say of a figure of this table, as its profile tells."""
    measure = query.measure or default_measure(table) or ""
    if query.listing:
        return []
    more = [column for _, column in query.more if column]
    by = [*query.groups, *(each.column for each in query.filters)]
    if query.aggregate in ("count", "distinct") or not measure:
        return [*_of_one_name([*more, *by], table)]
    return [
        *_of_one_name([measure, *more, *by], table),
        *_missing(measure, table),
        *_mixed(measure, query, table),
    ]


def _of_one_name(columns: Sequence[str], table: Table) -> Iterator[str]:
    """Those that other columns of the file are called as well."""
    told = next((each[1] for each in map(ONE_NAME.match, table.notes) if each), "")
    for column in dict.fromkeys(columns):
        others = [
            each
            for each in told.split(", ")
            if re.fullmatch(rf"{re.escape(column)}_\d+", each, re.I)
        ]
        if others:
            names = listed([f"`{each}`" for each in others])
            yield f"The file has {len(others) + 1} columns `{column}`: this is the first. I call the other{'s' * (len(others) > 1)} {names}."


def in_units(query: Query, table: Table, shown: Sequence[str]) -> Iterator[str]:
    """What the figures are in, where it was written with them; of rows the columns are `shown`."""
    measures = [
        column or default_measure(table) or ""
        for aggregate, column in ((query.aggregate, query.measure), *query.more)
        if aggregate not in ("count", "distinct")
    ]
    for column in dict.fromkeys(shown if query.listing else measures):
        if sign := table.units.get(column):
            yield f"`{column}` is in {'per cent' if sign == '%' else sign}."


def _missing(measure: str, table: Table) -> Iterator[str]:
    missing = table.nulls.get(measure, 0)
    verbs = ("has", "counts") if missing == 1 else ("have", "count")
    if missing:
        yield f"{missing:,} of {table.total:,} rows {verbs[0]} no `{measure}` and {verbs[1]} for nothing."


def _mixed(measure: str, query: Query, table: Table) -> Iterator[str]:
    told = {each.column for each in query.filters}
    for column in table.texts:
        kinds = [each for each in table.listed.get(column, ()) if each]
        if not ({*stems(column)} <= UNITS and len(kinds) > 1) or column in told:
            continue
        if column in query.groups:
            yield f"These figures differ in `{column}`: together they make no sum."
        else:
            yield f"`{measure}` is in more than one `{column}` ({listed(kinds)}), taken together as it stands."


@dataclass(frozen=True)
class Days:
    """The first and last date of a table, in ISO form, and how many different ones it has."""

    first: str = ""
    last: str = ""
    number: str = ""


def asks_for_days(result: Table, query: Query) -> bool:
    """Whether something is to be said of the days that the table has."""
    is_of_a_time = any(each.dated and not each.named for each in query.filters)
    return query.period in LACKING or (is_of_a_time and holds_nothing(result))


def told_of_days(result: Table, query: Query, days: Days) -> list[str]:
    """Which days there are, where there are none of the time asked for; else what to say of the first
    and last period of a result, where the table has days enough to tell."""
    if not asks_for_days(result, query):
        return []
    if holds_nothing(result) or query.period not in LACKING:
        return [*_span(days)]
    labels = {row[0] for row in result.rows}
    return [said for label, said in _edges(query.period, days) if label in labels]


def _span(days: Days) -> Iterator[str]:
    with suppress(ValueError):
        first, last = (date.fromisoformat(each[:10]) for each in (days.first, days.last))
        yield f"Its dates go from {_day(first)} {first.year} to {_day(last)} {last.year}."


def _edges(period: str, days: Days) -> Iterator[tuple[str, str]]:
    """The periods that are not whole, by their labels, and the sentence that says so."""
    try:
        first, last = (date.fromisoformat(each[:10]) for each in (days.first, days.last))
        usual = (last - first).days / max(int(days.number) - 1, 1)  # between two dates
    except ValueError:
        return
    if first.day == last.day == 1:  # the figures are those of months
        last = _around(last, "month")[2]
    lacking = max(LACKING[period], 2 * usual)
    label, start, _ = _around(first, period)
    if (first - start).days > lacking:
        yield label, f"{month_in_words(label)} has figures from {_day(first)} on only."
    label, _, end = _around(last, period)
    if (end - last).days > lacking:
        yield label, f"{month_in_words(label)} has figures up to {_day(last)} only."


def _around(day: date, period: str) -> tuple[str, date, date]:
    """The label of the period a day is in, its first and its last day."""
    months = MONTHS_IN[period]
    at = (day.month - 1) // months
    start = date(day.year, at * months + 1, 1)
    after = date(day.year + (start.month + months > 12), (start.month + months - 1) % 12 + 1, 1)
    labels = {"month": f"{start:%Y-%m}", "quarter": f"{day.year}-Q{at + 1}", "year": str(day.year)}
    return labels[period], start, after - timedelta(1)


def _day(day: date) -> str:
    return f"{day.day} {day:%B}"
