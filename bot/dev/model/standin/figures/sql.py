"""Writes a `Query` as SQL, for DuckDB and for SQLite."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..outputs import Table
from ..words import listed, stems
from .columns import date_column, default_measure, in_order, is_level
from .filters import Filter
from .query import Figure, Query
from .times import WEEKDAYS

WORDS = {
    "sum": "total",
    "avg": "average",
    "count": "number of",
    "median": "median",
    "distinct": "number of different values in",
}
EXTREMES = {True: "max", False: "min"}
EXTREME_WORDS = {"max": "highest", "min": "lowest"}
PERIODS = {"month": "%Y-%m", "day": "%Y-%m-%d", "week": "%Y-%m-%d", "year": "%Y"}
"""How the first day of a period is written."""

TEXT_OF_DAYS = {"day": "%Y-%m-%d", "monthday": "%m-%d", "yearmonth": "%Y-%m"}


@dataclass(frozen=True)
class Statement:
    """SQL, and what its columns are: labels first, then the value under `value`."""

    sql: str
    labels: tuple[str, ...]
    value: str | None
    what: str
    assumed: str | None = None
    more: tuple[str, ...] = ()
    """What the further columns are, which stand after the value."""
    ordered_by: str = ""
    """The column in whose order rows come as they are."""

    @property
    def by(self) -> str:
        """What the value is grouped by, as " by month and region"."""
        return f" by {' and '.join(self.labels)}".replace("_", " ") if self.labels else ""

    @property
    def purpose(self) -> str:
        """What it finds out, in words."""
        return f"{listed([self.what, *self.more])}{self.by}"


def write(query: Query, table: Table, *, of: str, lite: bool = False) -> Statement:
    """The statement for a query of `of`: a quoted name, or a subquery with its alias."""
    where = _where(query.filters, table, lite)
    labels = _labels(query, table, lite)
    measure, assumed = _measure(query, table, bool(labels))
    aggregate = _aggregate(query, bool(labels), measure, table)
    source = f"FROM {of}{where}"
    if aggregate is None:
        measure = query.sort or measure
        order = _row_order(query, measure)
        limit = f" LIMIT {query.limit}" if query.limit else ""
        what = "rows"
        if order and table.dated(str(measure)):
            what = "latest rows" if query.descending else "earliest rows"
        elif order and not table.numeric(str(measure)):
            what += f" by {str(measure).replace('_', ' ')}"
        elif order:
            extreme = EXTREME_WORDS[EXTREMES[bool(query.descending)]]
            what += f" with the {extreme} {str(measure).replace('_', ' ')}"
        if order and query.limit and (query.limit == 1 or table.numeric(str(measure))):
            column = quoted(str(measure))
            rows = f"SELECT {column} AS figure {source}{order}{limit}"
            order = f"{' AND' if where else ' WHERE'} {_to_the_last(column, rows, query)}{order}"
            limit = ""
        sql, ordered_by = f"SELECT * {source}{order}{limit}", measure if order else None
        return Statement(sql, (), None, what, assumed, ordered_by=ordered_by or "")
    figures = [_figure(each, query, table) for each in ((aggregate, measure), *query.more)]
    (value, what, _), *others = figures
    more = tuple(said for _, said, _ in others)
    expressions = ", ".join(f"{code} AS {quoted(name)}" for name, _, code in figures)
    if not labels:
        return Statement(f"SELECT {expressions} {source}", (), value, what, assumed, more)
    selected = ", ".join(f"{code} AS {quoted(label)}" for label, code in labels.items())
    numbers = ", ".join(str(place + 1) for place in range(len(labels)))
    figure = figures[0][2]
    whole = next(iter(labels.values())) if len(labels) > 1 and not query.limit else ""
    sums = f"sum({figure}) OVER (PARTITION BY {whole}) DESC, " if whole else ""
    order = _order(query, len(labels), sums, table, lite)
    bounds = [f"{figure} {each.operator} {each.values[0]}" for each in query.having]
    if query.limit:
        by = ", ".join(labels.values())
        groups = f"SELECT {figure} AS figure {source} GROUP BY {by}{_having(bounds)} ORDER BY 1 {_way(query)} LIMIT {query.limit}"
        bounds.append(_to_the_last(figure, groups, query))
    sql = f"SELECT {selected}, {expressions} {source} GROUP BY {numbers}{_having(bounds)}{order}"
    return Statement(sql, tuple(labels), value, what, assumed, more)


def _to_the_last(figure: str, first: str, query: Query) -> str:
    """The condition of being among the `first`, or equal to the last of them."""
    last, sign = ("max", "<=") if query.descending is False else ("min", ">=")
    return f"{figure} {sign} (SELECT {last}(figure) FROM ({first}))"  # noqa: S608 - every name is quoted


def _having(bounds: list[str]) -> str:
    return f" HAVING {' AND '.join(bounds)}" if bounds else ""


def _way(query: Query) -> str:
    return "ASC" if query.descending is False else "DESC"


def _figure(figure: Figure, query: Query, table: Table) -> tuple[str, str, str]:
    """The name of a column, what it is in words, and its expression."""
    aggregate, measure = figure
    if measure is None or aggregate == "count":
        what = f"number of {query.noun}"
        return what.replace(" ", "_"), what, "count(*)"
    value, what = _value(aggregate, measure, table)
    return value, what, _expression(aggregate, measure, table)


def quoted(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: str) -> str:
    """Text as an SQL literal."""
    return "'" + value.replace("'", "''") + "'"


def _labels(query: Query, table: Table, lite: bool) -> dict[str, str]:
    labels = {}
    if query.period and (column := date_column(table)):
        labels[query.period] = _period(query.period, column, lite)
    labels.update({column: quoted(column) for column in query.groups})
    if query.chart and len(labels) > (1 if query.chart == "pie" else 2):
        # A chart has one column of labels, and one more that makes the series.
        return {" and ".join(labels): " || ' · ' || ".join(labels.values())}
    return labels


def _period(period: str, column: str, lite: bool) -> str:
    if period == "weekday":
        return _weekday(column, lite)
    if period == "quarter":
        return (
            f"{_date_part('year', column, lite)} || '-Q' || {_date_part('quarter', column, lite)}"
        )
    form = PERIODS[period]
    if lite:
        monday = ", 'weekday 0', '-6 days'" if period == "week" else ""
        return f"strftime('{form}', {quoted(column)}{monday})"
    return f"strftime(date_trunc('{period}', {_timestamp(column)}), '{form}')"


def _weekday(column: str, lite: bool) -> str:
    """The name of the day in the week."""
    if not lite:
        return f"dayname({_timestamp(column)})"
    names = " ".join(f"WHEN {n} THEN {literal(day.title())}" for n, day in enumerate(WEEKDAYS))
    return f"CASE {_day_number(column, lite)} {names} END"


def _day_number(column: str, lite: bool) -> str:
    """The place of the day in the week, Monday first."""
    if not lite:
        return f"isodow({_timestamp(column)})"
    return f"(strftime('%w', {quoted(column)}) + 6) % 7"


def _timestamp(column: str) -> str:
    """A date, or the first of a month that is written as "2026-01"."""
    whole = f"TRY_CAST({quoted(column)} AS TIMESTAMP)"
    return (
        f"coalesce({whole}, TRY_CAST({quoted(column)} || '-01' AS TIMESTAMP))"
        if _of_months(column)
        else whole
    )


def _of_months(column: str) -> bool:
    return "month" in stems(column)


def _date_part(part: str, column: str, lite: bool) -> str:
    if not lite:
        return f"{part}({_timestamp(column)})"
    if part == "week":  # that of its Thursday, as ISO 8601 has it
        return f"((strftime('%j', {quoted(column)}, '-3 days', 'weekday 4') - 1) / 7 + 1)"
    if part == "quarter":
        return f"((CAST(strftime('%m', {quoted(column)}) AS INTEGER) + 2) / 3)"
    return f"CAST(strftime('{'%Y' if part == 'year' else '%m'}', {quoted(column)}) AS INTEGER)"


def _where(filters: tuple[Filter, ...], table: Table, lite: bool) -> str:
    conditions = [_condition(each, table, lite) for each in filters]
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def _condition(each: Filter, table: Table, lite: bool) -> str:
    if part := re.match(r"(\w*day|yearmonth):(.+)", each.column):
        return _on_days(each, TEXT_OF_DAYS.get(part[1], ""), part[2], lite)
    if dated := re.match(r"(year|month|quarter|week):(.+)", each.column):
        return f"{_date_part(dated[1], dated[2], lite)} IN ({', '.join(each.values)})"
    if table.numeric(each.column) or table.flag(each.column):
        if each.operator in ("in", "not in"):
            return f"{quoted(each.column)} {each.operator.upper()} ({', '.join(each.values)})"
        return f"{quoted(each.column)} {each.operator} {each.values[0]}"
    values = ", ".join(literal(value.lower()) for value in each.values)
    test = f"lower({quoted(each.column)}) IN ({values})"
    return f"NOT ({test})" if each.operator == "not in" else test


def _on_days(each: Filter, form: str, column: str, lite: bool) -> str:
    """A condition on dates as text."""
    if not form:
        days = ", ".join(literal(value.title()) for value in each.values)
        return f"{_weekday(column, lite)} IN ({days})"
    text = f"strftime('{form}', {quoted(column)})"
    if not lite:
        text = f"strftime({_timestamp(column)}, '{form}')"
    if each.operator == "in":
        return f"{text} IN ({', '.join(map(literal, each.values))})"
    return f"{text} {each.operator} {literal(each.values[0])}"


def _measure(query: Query, table: Table, grouped: bool) -> tuple[str | None, str | None]:
    if query.measure or query.aggregate == "count" or (query.listing and query.sort):
        return query.measure, None
    wanted = query.aggregate or grouped or query.descending is not None
    if found := default_measure(table) if wanted else None:
        return found, f"No column was named, so I used `{found}`."
    is_ranked = query.descending is not None and query.aggregate is None and query.noun == "rows"
    return None, "No column was named, so I counted the rows." if grouped and is_ranked else None


def _aggregate(query: Query, grouped: bool, measure: str | None, table: Table) -> str | None:
    if query.listing:
        return None
    if query.aggregate == "count" and query.measure:
        return "sum"
    if query.aggregate:
        return query.aggregate if measure or query.aggregate == "count" else "count"
    if grouped:
        return _of_groups(query, measure, table)
    whole = "avg" if is_level(query.measure or "", table) else "sum"
    return whole if query.measure and query.limit is None else None


def _of_groups(query: Query, measure: str | None, table: Table) -> str:
    if measure and is_level(measure, table):  # adding them up says nothing
        return "avg" if query.descending is None else EXTREMES[query.descending]
    return "sum" if measure else "count"


def _value(aggregate: str, measure: str, table: Table) -> tuple[str, str]:
    words = WORDS.get(aggregate) or EXTREME_WORDS[aggregate]
    plain = measure.replace("_", " ")
    what = plain if plain.lower().startswith(words) else f"{words} {plain}"
    return (f"{what}_" if what in table.columns else what), what


def _expression(aggregate: str, measure: str, table: Table) -> str:
    if aggregate == "distinct":
        return f"count(DISTINCT {quoted(measure)})"
    whole = "INT" in table.columns.get(measure, "").upper() and aggregate in ("sum", "max", "min")
    code = f"{aggregate}({quoted(measure)})"
    return code if whole else f"round({code}, 2)"


def _order(query: Query, labels: int, sums: str, table: Table, lite: bool) -> str:
    """In time, as it is sorted, or the highest first: of two labels by the `sums` of the first, as they
    stand in a table."""
    charted = query.chart and labels == 1 and query.descending is None
    if charted and any(in_order(each, table) for each in query.groups):
        return " ORDER BY 1"
    if query.sort in query.groups and not query.limit:
        place = labels - len(query.groups) + query.groups.index(query.sort) + 1
        return f" ORDER BY {place} {'DESC' if query.descending else 'ASC'}"
    in_time = query.sort is not None and query.sort == date_column(table)
    is_course = query.descending is None or in_time or (labels > 1 and not query.limit)
    if query.period == "weekday" and is_course and (column := date_column(table)):
        rest = "".join(f", {place + 1}" for place in range(1, labels))
        return f" ORDER BY min({_day_number(column, lite)}){rest}"
    if query.period and is_course:  # it is told in its order
        way = " DESC" if in_time and query.descending else ""
        return f" ORDER BY {', '.join(f'{place + 1}{way}' for place in range(labels))}"
    return f" ORDER BY {sums}{labels + 1} {_way(query)}"


def _row_order(query: Query, measure: str | None) -> str:
    if measure is None or query.descending is None:
        return ""
    return f" ORDER BY {quoted(measure)} {'DESC' if query.descending else 'ASC'} NULLS LAST"
