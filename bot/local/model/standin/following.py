"""Questions that lean on those before: what they keep of these, and what they change."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from .asking import (
    AFRESH,
    COMPARE,
    CORRECTS,
    FOLLOW_UP,
    FURTHER,
    HOW_FAR,
    LEANS,
    ONES,
    SHARE,
    SORT,
    THEIRS,
    THEM,
    WHOLE,
    WIDER,
)
from .columns import columns_named
from .conditions import COMPARISONS
from .counting import PIECES, RECORDS
from .filters import Filter
from .findings import Findings
from .outputs import Table
from .query import Query, understand
from .scoping import in_scope
from .sql import LEVELS
from .words import has, stems, tokens

ROW = "|".join(f"{each}s?" for each in RECORDS)
PAYS = r"how much (?:did|has|have|does|do) .+ (?:spend|spent|pay|paid|cost|order(?:ed)?|buy|bought)"
"""Money of whom the question names itself."""
NAMES = r"(?:what|who|which|list|show|give)\b.*\bnames?"
FORMS = frozenset(("csv", "tsv", "xlsx", "xls", "excel", "pdf", "docx"))
BARE = 3  # words of a figure that is named and nothing else


def says_that_it_leans(text: str) -> bool:
    """Whether a question leans on the one before by its words, as "and in May?"."""
    return bool(re.search(FOLLOW_UP, text, re.IGNORECASE)) or has(text, LEANS)


def follows_up(text: str) -> bool:
    """Whether a question leans on the one before: it says so, or is a fragment."""
    if says_that_it_leans(text):
        return True
    return len(tokens(text)) <= 4 and not re.match(WHOLE, text, re.IGNORECASE)


def leans(text: str, new: Query) -> bool:
    """Whether a question goes on with the one before: it says so, is a fragment, or names no figure
    and no records of its own."""
    whole = new.measure and new.groups  # as "revenue by region", however short
    fragment = follows_up(text) and not whole
    if fragment or says_that_it_leans(text) or has(text, THEIRS) or is_form_only(new):
        return True
    if new.silent or has(text, AFRESH) or (new.filters and has(text, PAYS)):
        return False
    counts = new.aggregate == "count" and new.noun != "rows"
    figure = replace(Query(), measure=new.measure, aggregate=new.aggregate, noun=new.noun)
    if len(tokens(text)) <= BARE and new == figure:  # as "total revenue"
        return True
    return not (new.measure or new.listing or new.more or new.having or counts)


class Asked(NamedTuple):
    """A question: whether it starts afresh whatever it says, and whether it was of another table."""

    text: str
    afresh: bool = False
    elsewhere: bool = False


def understand_all(turns: Iterable[Asked], table: Table) -> Query:
    """The query of the last of several questions; a follow-up changes the one before it. Names in
    questions of other tables that this one does not know are none of its conditions."""
    *earlier, (last, afresh, _) = turns
    query = Query()
    for text, is_first, elsewhere in earlier:
        new = understand(text, table)
        if elsewhere:
            new = replace(new, filters=tuple(each for each in new.filters if each.column))
        if not new.silent or has(text, "same"):
            query = _changed(_widened(query, text, table), text, new) if not is_first else new
        elif has(text, SHARE) and {*stems(table.source)} & {*stems(text)} - FORMS:
            query = new  # all of it was shared
        if elsewhere:  # its figure is of another table
            query = Query(filters=query.filters, groups=query.groups, period=query.period)
    new = understand(last, table)
    if (widened := _widened(query, last, table)) is not query:
        query = widened
    elif afresh or (new.silent and not has(last, f"{SHARE}|again|same|that|it|as (?:a )?table")):
        return new
    return _changed(query, last, new)


def _widened(query: Query, text: str, table: Table) -> Query:
    """Without the conditions that are dropped: "all regions" drops those on the region, "all" any."""
    if not (follows_up(text) and has(text, WIDER)):
        return query
    named = re.search(r"\b(?:all|every)(?: of)?(?: the)? (\w+)", text, re.IGNORECASE)
    columns = columns_named(named[1].lower(), table) if named else []
    kept = (each for each in query.filters if columns and each.column not in columns)
    return replace(query, filters=tuple(kept))


def tell_kept(found: Findings, text: str, table: Table, query: Query) -> None:
    """Say which conditions of earlier questions a whole question was taken to keep."""
    own = understand(text, table)
    if is_form_only(own):
        return
    kept = tuple(each for each in query.filters if each not in own.filters)
    if kept and not follows_up(text):
        found.points.append(f"As in the question before, only{in_scope(kept, '')}")


def _changed(query: Query, text: str, new: Query) -> Query:
    """A query as the next question changes it, if that leans on it."""
    if not leans(text, new):
        return new
    is_same = new.silent and has(text, "same")  # in another form, its chart as well
    if is_same or re.match(CORRECTS, text, re.IGNORECASE):
        new = replace(new, chart=new.chart or query.chart)
    how_many = has(text, "how many") and new.aggregate == "count" and new.noun == "rows"
    of_pieces = {*stems(query.measure or "")} & PIECES and not {
        *stems(query.measure or "")
    } & LEVELS
    if how_many and (query.having or of_pieces):
        new = replace(new, aggregate=None)  # "how many in May?", of what was asked
    if has(text, HOW_FAR) and not new.measure and (query.groups or query.period):
        new = replace(new, aggregate=None)  # "by how much?"
    if query.aggregate == "distinct" and query.measure and has(text, f"{THEM}|{ONES}"):
        new = replace(new, listing=False, groups=(query.measure,), aggregate="count")
    new = _left_of(query, _named(query, new, text))
    query, new = _of_a_share(query, new)
    if has(text, "include|back"):
        return _with_again(query, new)
    if query.groups or query.period:
        new = _of_what_was_told(query, new, text)
    if has(text, FURTHER) and new.groups:
        new = replace(
            new,
            groups=tuple(dict.fromkeys((*query.groups, *new.groups))),
            period=new.period or query.period,
        )
    if has(text, THEIRS) and not new.period:
        having = new.having or (query.having if not new.groups else ())
        new = replace(new, groups=new.groups or query.groups, having=having)
    if has(text, f"{COMPARE}|add"):
        new = _beside(query, new, text)
    return query.then(new)


def _of_a_share(query: Query, new: Query) -> tuple[Query, Query]:
    """A share and what follows it: "and task chairs?" is of another part, "and in the East?" of the same;
    the course in time is that of the part."""
    if not (query.part and query.groups):
        return query, new
    if new.period:
        of_part = Filter(query.groups[0], "in", query.part)
        return replace(query, part=(), groups=(), filters=(*query.filters, of_part)), new
    if not replace(new, filters=()).silent:
        return query, new
    part = next((each for each in new.filters if each.column in query.groups), None)
    rest = tuple(each for each in new.filters if each is not part)
    values = part.values if part else query.part
    return query, replace(new, filters=rest, part=values, groups=query.groups)


def _named(query: Query, new: Query, text: str) -> Query:
    """The rows themselves, where the names of what was counted are asked for."""
    counted = query.aggregate == "count" and new.groups and not new.aggregate
    return replace(new, listing=True, groups=()) if counted and has(text, NAMES) else new


def _of_what_was_told(query: Query, new: Query, text: str) -> Query:
    """What ranks, sorts or bounds the groups that were told, rather than the rows that they are of."""
    if has(text, f"{SORT}|asc(?:ending)?|desc(?:ending)?"):
        in_time = query.period and new.sort not in (None, new.measure, *query.groups)
        if in_time and not new.descending:
            return replace(Query(), groups=query.groups, period=query.period)
        return replace(new, listing=False)
    own = new.groups or new.period or new.measure or new.aggregate or new.sort
    if new.descending is not None and not own and not has(text, ROW):
        return replace(new, listing=False, limit=new.limit or 1)
    bounds = tuple(
        each
        for each in new.filters
        if each.operator in COMPARISONS and ":" not in (each.column or "")
    )
    of_figure = all(
        each.column == query.measure or not {*stems(each.column or "")} & {*stems(text)}
        for each in bounds
    )
    if not bounds or query.listing or own not in (None, bounds[0].column) or has(text, ROW):
        return new
    if not of_figure:  # "price over 100", of what is counted: of which rows
        return replace(new, measure=None)
    kept = tuple(each for each in new.filters if each not in bounds)
    return replace(new, measure=None, listing=False, filters=kept, having=bounds)


def _left_of(query: Query, new: Query) -> Query:
    """What is left of several values when some of them are to be left out."""
    filters = []
    for each in new.filters:
        before = next(
            (f for f in query.filters if f.column == each.column and f.operator == "in"), None
        )
        rest = tuple(v for v in before.values if v not in each.values) if before else ()
        fewer = before and rest and rest != before.values and each.operator == "not in"
        filters.append(replace(before, values=rest) if before and fewer else each)
    return replace(new, filters=tuple(filters))


def _with_again(query: Query, new: Query) -> Query:
    """A query that no longer leaves out what the next question names."""
    named = {value for each in new.filters for value in each.values}
    left = (
        replace(each, values=tuple(value for value in each.values if value not in named))
        if each.operator == "not in"
        else each
        for each in query.filters
    )
    return replace(query, filters=tuple(each for each in left if each.values))


def is_form_only(new: Query) -> bool:
    """Whether a question says how to show it and nothing of what."""
    return new.chart is not None and replace(new, chart=None).silent


def _together(values: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    """Both, each once; months and years as they follow each other."""
    both = tuple(dict.fromkeys((*values, *more)))
    return tuple(sorted(both, key=int)) if all(each.isdigit() for each in both) else both


def _beside(old: Query, new: Query, text: str) -> Query:
    """What is compared with what was asked before: its times or values beside those."""
    for each in new.filters:
        before = next((f for f in old.filters if f.column == each.column), None)
        if before is None or each.column is None or each.operator != "in":
            continue
        if len(each.values) > 1 and not has(text, "with|to|it|that|this"):
            continue  # what is compared was named whole
        both = replace(each, values=_together(before.values, each.values))
        filters = tuple(both if f is each else f for f in new.filters)
        kind, dated, _ = each.column.partition(":")
        if dated:
            groups = old.groups if len(old.groups) == 1 else ()
            return replace(new, filters=filters, period=kind, groups=new.groups or groups)
        return replace(new, filters=filters, groups=(each.column,), period=new.period or old.period)
    return new
