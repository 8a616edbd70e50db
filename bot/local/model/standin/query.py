"""A question about a table, understood as far as rules go."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from .asking import (
    AGGREGATES,
    COMPARE,
    COUNTS,
    DOWN,
    GROUPERS,
    LATEST,
    LISTING,
    ONE_ROW,
    ONES,
    OVER_TIME,
    PART,
    PEOPLE,
    PER_PERIOD,
    PERIOD_BEFORE,
    PERIODS,
    RANKERS,
    ROWS,
    SORT,
    THEM,
    THINGS,
    UP,
    WHAT_SOLD,
    chart_of,
    is_descending,
    limit_of,
)
from .bounding import bounds_of, counts_rows_of, subject
from .columns import columns_named, date_column, identifies, sorted_by, words_of
from .conditions import STATES, conditions
from .counting import counts_rows, distinct_column, most_of, noun_of
from .filters import Filter
from .measures import Figure, several
from .outputs import Table
from .words import has, stem, stems, tokens


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
    part: tuple[str, ...] = ()
    """The values whose share of the whole is asked for."""
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

    def then(self, new: Query) -> Query:
        """This query, changed by a follow-up."""
        kept = [
            old for old in self.filters if not any(old.replaced_by(each) for each in new.filters)
        ]
        grouped = new.groups or new.period
        return Query(
            measure=new.measure or self.measure,
            aggregate=new.aggregate or self.aggregate,
            groups=new.groups if grouped else self.groups,
            period=new.period if grouped else self.period,
            filters=(*kept, *new.filters),
            descending=self.descending
            if new.descending is None and not new.period
            else new.descending,
            limit=new.limit or (None if grouped else self.limit),
            chart=new.chart,
            listing=new.listing,
            part=new.part,
            noun=new.noun if new.aggregate else self.noun,
            more=new.more if new.measure or new.aggregate else self.more,
        )


def understand(text: str, table: Table) -> Query:
    """The query that a question asks of this table."""
    words = tokens(text)
    one = has(text, ONE_ROW) and has(text, f"{DOWN}|{UP}")
    groups, used = _groups(words, table)
    groups = groups or _people(text, table)
    different = distinct_column(text, table)
    measure = different or _written_out(text, table) or _measure(words, table, used)
    counted = "distinct" if different else _aggregate(text) or most_of(text, table)
    chart = chart_of(text)
    period = _period(text, table) if not groups else _explicit_period(text, table)
    filters = conditions(text, table, None if different else measure)
    period = period or _compared_period(text, filters)
    latest = _latest(text, table) if not (groups or period or counted) else None
    if latest:
        return replace(latest, filters=filters)
    groups = tuple(g for g in groups if not any(g in STATES and f.column == g for f in filters))
    groups, filters, part = _set_apart(text, groups, filters)
    having: tuple[Filter, ...] = ()
    about = subject(text, table)
    if about and not period and (having := bounds_of(filters, table)):
        groups, filters = (about,), tuple(each for each in filters if each not in having)
        counted = "count" if counts_rows_of(text, table) else "sum"
        measure = None if counted == "count" else having[0].column
    per_period = counted == "avg" and has(text, PER_PERIOD) and not groups
    if per_period:
        counted = "sum"
    if counted == "count" and counts_rows(text, table):
        measure = None
    if column := sorted_by(text, table):
        measure = column
    first, *more = several(text, table, grouped=bool(groups or period)) or ((counted, measure),)
    return Query(
        measure=first[1],
        aggregate=first[0],
        more=tuple(more),
        groups=groups,
        period=period,
        part=part,
        having=having,
        per_period=per_period,
        filters=filters,
        descending=is_descending(text),
        limit=1 if one else limit_of(text),
        chart=chart,
        listing=one or _lists(text, groups),
        noun=noun_of(text, table) if counted == "count" else "rows",
    )


def _latest(text: str, table: Table) -> Query | None:
    """The newest or oldest rows, as "the last 5 orders"; "last month" is a time, not a place."""
    found = LATEST.search(text)
    column = date_column(table)
    if found is None or column is None:
        return None
    many = (found["many"] or ("10" if found[0].endswith("s") else "1")).lower()
    newest = not re.match("oldest|earliest", found[0], re.IGNORECASE)
    limit = COUNTS.get(many) or int(many)
    return Query(measure=column, descending=newest, limit=limit, listing=True)


def _lists(text: str, groups: tuple[str, ...]) -> bool:
    """Whether the rows themselves are wanted."""
    if groups or has(text, "how many|number of|count"):
        return False
    plain = re.fullmatch(
        rf"\W*(?:(?:show|give|list|me|the|please)\W+)*{ROWS}\W*", text, re.IGNORECASE
    )
    sorts = has(text, SORT) and not has(text, "rank(?:ed)?") and _aggregate(text) is None
    return (
        bool(plain)
        or has(text, f"{THEM}|{ONES}")
        or sorts
        or (has(text, LISTING) and _aggregate(text) is None)
    )


def _written_out(text: str, table: Table) -> str | None:
    """A column of numbers whose name of several words stands in the question as it is."""
    said = " ".join(stems(text))
    names = [c for c in table.columns if table.numeric(c) and len(words_of(c)) > 1]
    return next((c for c in names if f" {' '.join(words_of(c))} " in f" {said} "), None)


def _groups(words: list[str], table: Table) -> tuple[tuple[str, ...], set[int]]:
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


def _people(text: str, table: Table) -> tuple[str, ...]:
    """ "Who sold most" is a question by the column that names people, "what sold most" of things."""
    if not has(text, f"{DOWN}|{UP}"):
        return ()
    kinds = PEOPLE if has(text, "who") else THINGS if has(text, WHAT_SOLD) else set()
    named = [c for c in table.columns if set(stems(c)) & kinds and _groupable(c, table)]
    return tuple(sorted(named, key=identifies)[:1])


def _set_apart(
    text: str, groups: tuple[str, ...], filters: tuple[Filter, ...]
) -> tuple[tuple[str, ...], tuple[Filter, ...], tuple[str, ...]]:
    """Values that are compared stand side by side; one whose share is asked, beside all others."""
    for each in filters:
        if each.operator != "in" or each.column is None or ":" in each.column:
            continue
        others = tuple(f for f in filters if f != each)
        if not groups and has(text, PART):
            return (each.column,), others, each.values
        if not groups and has(text, COMPARE) and has(text, "others?|rest"):
            return (each.column,), others, ()
        if len(each.values) > 1 and each.column not in groups and has(text, COMPARE):
            groups = (*groups, each.column)
    return groups, filters, ()


def _groupable(column: str, table: Table) -> bool:
    return not table.dated(column) and (not table.numeric(column) or identifies(column))


def _measure(words: list[str], table: Table, used: set[int]) -> str | None:
    best: tuple[int, str] | None = None
    for index, word in enumerate(words):
        if index in used or len(word) < 3:
            continue
        for column in columns_named(word, table):
            if not table.numeric(column) or identifies(column):
                continue
            pieces = stems(column)
            score = 3 if pieces == [stem(word)] else 2 if stem(word) in pieces else 1
            if word in ("total", "count", "sum"):
                score = 0
            if score and (best is None or score > best[0]):
                best = (score, column)
            break
    return best[1] if best else None


def _aggregate(text: str) -> str | None:
    for name, pattern in AGGREGATES.items():
        if has(text, pattern):
            return name
    return None


def _period(text: str, table: Table) -> str | None:
    if found := _explicit_period(text, table):
        return found
    over_time = has(text, OVER_TIME)
    return "month" if over_time and date_column(table) else None


def _explicit_period(text: str, table: Table) -> str | None:
    if date_column(table) is None:
        return None
    for name, pattern in PERIODS.items():
        if has(text, rf"(?:{PERIOD_BEFORE})\s+(?:{pattern})") or has(
            text, f"{name}ly" if name != "day" else "daily"
        ):
            return name
    return None


def _compared_period(text: str, filters: tuple[Filter, ...]) -> str | None:
    """The period of which several are set side by side, as "Q1 versus Q2"."""
    times = (
        each.column.split(":")[0]
        for each in filters
        if each.column and ":" in each.column and len(each.values) > 1
    )
    return next(times, None) if has(text, COMPARE) else None
