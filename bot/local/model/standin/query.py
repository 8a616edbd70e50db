"""A question about a table, understood as far as rules go."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from .asking import (
    COMPARE,
    COUNTS,
    DOWN,
    HOW_FAR,
    LATEST,
    ONE_ROW,
    PART,
    PER_PERIOD,
    PERCENT,
    SORT,
    UP,
    aggregate_of,
    chart_of,
    is_descending,
    limit_of,
    lists_rows,
)
from .bounding import ROWS, begins_with_rows, bounds_of, counts_rows_of, is_of_rows, subject
from .columns import (
    SORTED,
    columns_beside,
    date_column,
    sorted_by,
    with_columns_in_one_word,
)
from .conditions import STATES, conditions
from .counting import counts_rows, distinct_column, most_of, named_by, noun_of, units_of_value
from .filters import Filter
from .grouping import (
    bounded_period,
    columns_after,
    compared_period,
    named_period,
    of_people_or_things,
    of_things_by,
    period_of,
)
from .measures import Figure, measure_named, several
from .outputs import Table
from .words import has, tokens

OF_THE_WHOLE = re.compile(r"\bof (?:the |our )?(?:total|whole)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Query:
    """What is asked of a table; None where the question is silent."""

    measure: str | None = None
    aggregate: str | None = None
    groups: tuple[str, ...] = ()
    period: str | None = None
    filters: tuple[Filter, ...] = ()
    descending: bool | None = None
    limit: int | None = None
    chart: str | None = None
    listing: bool = False
    sort: str | None = None
    """The column in whose order rows, or the groups made by it, are to stand."""
    beside: tuple[str, ...] = ()
    """Further columns that rows are to be told with."""
    part: tuple[str, ...] = ()
    """The values whose share of the whole is asked for."""
    shares: bool = False
    """Whether the share of each group in the whole is asked for."""
    gap: bool = False
    """Whether it is asked how far the first is ahead of the second."""
    noun: str = "rows"
    having: tuple[Filter, ...] = ()
    """Bounds of the figure of each group."""
    per_period: bool = False
    """Whether the average of what each period has in all is asked for."""
    more: tuple[Figure, ...] = ()
    """Further figures of the same rows."""

    @property
    def silent(self) -> bool:
        """Whether the question asked nothing that a query could answer."""
        return self == Query()

    @property
    def course(self) -> bool:
        """Whether the figures follow each other in time, as those of weekdays do not."""
        return self.period not in (None, "weekday")

    def then(self, new: Query) -> Query:
        """This query, changed by a follow-up, whose own are what is not named here."""
        grouped = new.groups or new.period
        kept = [
            old
            for old in self.filters
            if not any(old.replaced_by(each) for each in new.filters)
            and not old.is_pinned(new.groups, new.period)
        ]
        # Of all that was told apart: "the total", "how many units".
        total = new.aggregate in ("sum", "count" if new.measure else "") and not grouped
        extreme = grouped and self.aggregate in ("min", "max")
        one = new.descending is not None and not (
            new.listing or grouped or self.groups or self.period or new.aggregate
        )
        odd = new.measure and self.aggregate in ("median", "stddev")
        recounts = self.aggregate == "distinct" and new.aggregate
        lists = self.listing and not (grouped or new.measure or new.aggregate or new.chart)
        return replace(
            new,
            listing=new.listing or lists or one,
            measure=new.measure or (None if new.aggregate == "count" or recounts else self.measure),
            aggregate=new.aggregate or (None if extreme or one or odd else self.aggregate),
            groups=new.groups if grouped or total else self.groups,
            period=new.period if grouped or total else self.period,
            filters=(*kept, *new.filters),
            descending=self.descending
            if new.descending is None and not new.period
            else new.descending,
            limit=new.limit or (1 if one else None if grouped or total else self._kept_limit(new)),
            beside=new.beside or self.beside,
            sort=new.sort or (self.sort if new.descending is None and not grouped else None),
            having=new.having or (() if grouped or new.aggregate or new.listing else self.having),
            per_period=new.per_period if new.aggregate else self.per_period,
            noun=new.noun if new.aggregate else self.noun,
            more=new.more
            if (new.measure or new.aggregate) and new.sort != self.measure
            else self.more,
        )

    def _kept_limit(self, new: Query) -> int | None:
        """Of one row nobody wants a chart or a share."""
        return (
            None
            if self.limit == 1 and (new.chart or new.shares or new.sort or new.gap)
            else self.limit
        )


def understand(text: str, table: Table) -> Query:
    """The query that a question asks of this table."""
    text = with_columns_in_one_word(text, table)
    text = OF_THE_WHOLE.sub("", text) if has(text, PERCENT) else text
    sort = sorted_by(text, table)
    query = _named(SORTED.sub(r"\g<lead>", text) if sort else text, table)
    latest = _latest(text, table)
    if latest and not (query.groups or query.period or query.aggregate):
        return replace(latest, filters=query.filters)
    query = _set_apart(query, text)
    query = _bounded(query, text, table)
    query = _with_figures(query, text, table)
    if begins_with_rows(text, table) and _is_of_bounded_rows(query):
        query = replace(query, measure=None, listing=True)
    if sort and table.numeric(sort):
        query = replace(query, measure=sort)
    one = has(text, ONE_ROW) and has(text, f"{DOWN}|{UP}")
    listing = (
        query.listing
        or one
        or (
            lists_rows(text, query.groups)
            and not (query.period and (query.aggregate or has(text, SORT)))
        )
    )
    goes_down = _goes_down(sort, text, table)
    descending = is_descending(text, of_figures=goes_down)
    if descending is None and sort and listing:
        descending = goes_down
    return replace(
        query,
        beside=columns_beside(text, table) if listing else (),
        descending=descending,
        sort=sort,
        gap=has(text, HOW_FAR),
        shares=not query.part and has(text, f"{PERCENT}|{PART}"),
        limit=1 if one else limit_of(text),
        chart=chart_of(text),
        listing=listing,
    )


def _goes_down(sort: str | None, text: str, table: Table) -> bool:
    """Whether what is sorted starts with the greatest, or the latest rows, where nothing is said."""
    return not sort or table.numeric(sort) or has(text, "by date")


def _named(text: str, table: Table) -> Query:
    """The columns, values and times that the question names, each for what it seems to be."""
    words = tokens(text)
    groups, used = columns_after(words, table)
    groups = groups or of_people_or_things(text, table) or of_things_by(text, table)
    different = distinct_column(text, table)
    measure = different or measure_named(text, table, used)
    filters = conditions(text, table, None if different else measure)
    period = named_period(text, table) if groups else period_of(text, table)
    return Query(
        measure=measure,
        aggregate="distinct"
        if different
        else aggregate_of(text)
        or most_of(text, table)
        or (None if measure else named_by(text, table)),
        groups=groups,
        period=period or compared_period(text, filters),
        filters=filters,
    )


def _bounded(query: Query, text: str, table: Table) -> Query:
    """Things with a figure above or below another are their sums, not rows that are so."""
    about, having = subject(text, table), bounds_of(query.filters, table)
    counts = counts_rows_of(text, table)
    if having and not query.groups and not is_of_rows(text, table):  # "any month below 65,000"
        period = query.period or bounded_period(text, table)
        query = replace(query, period=period)
        about = None if period else about
    if query.groups and not is_of_rows(text, table):  # "revenue per customer over 10,000"
        about = about or (query.groups[0] if having and query.measure == having[0].column else None)
    of_period = query.period and not query.groups and not is_of_rows(text, table)
    if not having or not (of_period or (about and not query.period)):
        return query
    return replace(
        query,
        measure=None if counts else having[0].column,
        aggregate="count" if counts else "sum",
        groups=(about,) if about and not of_period else (),
        filters=tuple(each for each in query.filters if each not in having),
        having=having,
    )


def _is_of_bounded_rows(query: Query) -> bool:
    """Whether a figure is named for its bound only, as in "orders with a quantity over 9"."""
    bounded = any(
        each.column == query.measure and each.operator not in ("in", "not in")
        for each in query.filters
    )
    return bounded and not (query.aggregate or query.groups or query.period or query.more)


def _with_figures(query: Query, text: str, table: Table) -> Query:
    """What is worked out of which column: one figure, or several that are listed."""
    of_rows = has(text, rf"(?:average|mean|avg) (?:{'|'.join(ROWS)})")  # "average order value"
    of_period = query.aggregate == "avg" and has(text, PER_PERIOD) and not (query.groups or of_rows)
    of_group = query.aggregate == "count" and has(text, "average|mean") and len(query.groups) == 1
    per_period = of_period or of_group
    aggregate = "sum" if of_period else query.aggregate
    counts = aggregate == "count"
    measure = None if counts and counts_rows(text, table) else query.measure
    if counts and (units := units_of_value(noun_of(text, table), query.filters, table)):
        aggregate, measure, counts = "sum", units, False  # "how many desk lamps": not how many rows
    asked = (aggregate, measure)
    first, *more = several(text, table, grouped=bool(query.groups or query.period)) or (asked,)
    return replace(
        query,
        aggregate=first[0],
        measure=first[1],
        more=tuple(more),
        per_period=per_period,
        noun=noun_of(text, table) if counts else "rows",
    )


def _latest(text: str, table: Table) -> Query | None:
    """The newest or oldest rows, as "the last 5 orders"; "last month" is a time, not a place."""
    found = LATEST.search(text)
    column = date_column(table)
    if found is None or column is None:
        return None
    said = found["many"] or found["before"] or found["alone"]
    many = (said or ("10" if found[0].endswith("s") else "1")).lower()
    newest = not has(found[0], "oldest|earliest|first")
    limit = COUNTS.get(many) or int(many)
    return Query(sort=column, descending=newest, limit=limit, listing=True)


def _set_apart(query: Query, text: str) -> Query:
    """Values that are compared stand side by side; one whose share is asked, beside all others."""
    stated = {each.column for each in query.filters} & {*STATES}
    groups = tuple(column for column in query.groups if column not in stated)
    for each in query.filters:
        if each.operator != "in" or each.column is None or ":" in each.column:
            continue
        of_others = has(text, COMPARE) and has(text, "others?|rest")
        if not groups and (has(text, PART) or of_others):
            part = each.values if has(text, PART) else ()
            others = tuple(f for f in query.filters if f != each)
            return replace(query, groups=(each.column,), filters=others, part=part)
        if len(each.values) > 1 and each.column not in groups and has(text, f"{COMPARE}|ratio"):
            groups = (*groups, each.column)
    return replace(query, groups=groups)
