"""Puts the result of a query into sentences with its numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath

from ..findings import Findings
from ..outputs import Table
from ..words import listed, number, plural, shown, singular, some_of, verb
from .filters import Filter
from .groups import Group, added_up, groups_of
from .query import Query
from .relating import (
    MOST_SHARES,
    empty_between,
    is_told_by,
    tell_absent,
    tell_part,
    tell_parts,
    tell_shares,
)
from .scoping import COMPARED, in_scope
from .shaping import holds_nothing, month_in_words, rows_shown, side_by_side
from .sql import Statement

MOST_ROWS, MOST_ASKED = 20, 100
CUT = "The table shows its first {} rows only; “as a CSV file” gives you all."


def tell(found: Findings, result: Table, statement: Statement, query: Query, source: str) -> None:
    """Fill in summary, points and table from the rows that came back."""
    own = len(result.header) - len(statement.more)
    rows = [row[:own] for row in result.rows if statement.value is None or row[own - 1]]
    total = result.total - len(result.rows) + len(rows)
    first = replace(result, header=result.header[:own], rows=rows, total=total)
    _tell(found, first, statement, query, source)
    if 1 < (query.limit or len(rows)) < len(rows):
        found.points.append(f"The last of them are equal, so these are {len(rows)}.")
    if query.period == "week" and len(rows) > 1:
        found.gaps.append("The first and the last week may not be whole.")
    if statement.more and result.rows:
        found.points = [each.replace(":", f" ({statement.what}):", 1) for each in found.points]
        _tell_more(found, result, statement)


def _tell_more(found: Findings, result: Table, statement: Statement) -> None:
    """The figures beside the first, each in a sentence, and all of them in the table."""
    for place, what in enumerate(statement.more, start=-len(statement.more)):
        figures = {number(row[place]) or 0.0: row for row in result.rows}
        row = figures[max(figures)]
        name = ", ".join(map(month_in_words, row[: len(statement.labels)]))
        where = f" highest for {name}:" if len(figures) > 1 else " the same for all:"
        where = where if len(result.rows) > 1 else ""
        found.summary += f" The {what} {verb(what)}{where} **{shown(row[place])}**."
    if statement.labels:
        found.columns = [*statement.labels, statement.what, *statement.more]
        found.rows = rows_shown(result.header, result.rows[:MOST_ROWS], texts=result.texts)
        if result.total > len(found.rows) and CUT.format(len(found.rows)) not in found.gaps:
            found.gaps.append(CUT.format(len(found.rows)))


def _tell(found: Findings, result: Table, statement: Statement, query: Query, source: str) -> None:
    if statement.value is None and len(result.rows) > 1 and not query.noun.endswith("s"):
        query = replace(query, noun=plural(query.noun))  # several are the largest order
    scope = in_scope(query.filters, f"{statement.what} {query.noun}")
    if not query.having and holds_nothing(result):
        found.summary = f"{source} has no rows{scope or ' that match'}."
        found.lower(
            "Nothing fits: there may be no figures for it, or a name is written differently."
        )
        return
    if query.having:
        names = [month_in_words(row[0]) for row in result.rows]
        what = f"{statement.what}{scope}"
        found.summary = in_words(names, statement.labels[0], what, query.having)
    elif statement.value is None:
        _tell_rows(found, result, statement, query, scope)
    elif not statement.labels:
        found.figure = number(result.rows[0][-1])
        found.summary = _figure_in_words(shown(result.rows[0][-1]), statement, query, scope)
    else:
        _tell_groups(found, result, statement, query)
    if result.rows and (statement.value is None or statement.labels):
        _table(found, result, statement, query, scope, source)
    one = len(statement.labels) == 1 and _has_parts(result, statement, query)
    if query.shares and one:
        tell_shares(found, groups_of(result, query), query, statement.what, scope)
    elif query.shares:
        found.lower("My rules tell shares of a total by one thing only, so there are none here.")


def in_words(names: list[str], column: str, what: str, having: tuple[Filter, ...]) -> str:
    """Which ones have a figure, `what`, within the bounds."""
    bounds = listed([f"{COMPARED[each.operator]} {shown(each.values[0])}" for each in having])
    many = f"**{len(names)}**" if names else "No"
    noun = column.replace("_", " ")
    has_it = f"{noun} has" if len(names) < 2 else f"{plural(noun)} have"
    a = "" if what.startswith("total") else "an " if what.startswith("average") else "a "
    named = f": {some_of(names)}" if names else ""
    return f"{many} {has_it} {a}{what} {bounds}{named}."


def _table(
    found: Findings, result: Table, statement: Statement, query: Query, scope: str, source: str
) -> None:
    """The rows themselves, as many as were asked for within reason, with what they are."""
    purpose = statement.purpose
    if statement.value is None:
        things = query.noun if query.noun != "rows" else f"rows of {PurePath(source).stem}"
        purpose = purpose.replace("rows", things, 1)
    found.caption = f"{purpose[:1].upper()}{purpose[1:]}{scope}"
    header, rows = result.header, result.rows
    wide = False
    if len(statement.labels) == 2 and len(header) == 3 and rows:
        wide = True
        header, rows = side_by_side(header, rows)
        if not query.period:
            rows.sort(key=lambda row: -sum(number(cell) or 0.0 for cell in row[1:]))
    found.columns = [heading.replace("_", " ") for heading in header]
    found.rows = rows_shown(header, rows[: _most(query)], texts=result.texts, alike=wide)
    if len(rows) > len(found.rows) or result.total > len(result.rows):
        found.gaps.append(CUT.format(len(found.rows)))


def _figure_in_words(value: str, statement: Statement, query: Query, scope: str) -> str:
    """One figure as a sentence: things are counted, anything else is named."""
    counted = query.noun if query.aggregate == "count" and query.measure is None else ""
    if query.aggregate == "distinct" and query.measure:
        counted = f"different {plural(query.measure.replace('_', ' '))}"
    if not counted:
        return f"The {statement.what}{scope} {verb(statement.what)} **{value}**."
    if value == "1":
        return f"There is **1** {singular(counted)}{scope}."
    return f"There are **{value}** {counted}{scope}."


def _tell_rows(
    found: Findings, result: Table, statement: Statement, query: Query, scope: str
) -> None:
    """Rows as they are; the one with the highest or lowest figure in words."""
    rows, measure = result.rows, statement.ordered_by
    if query.limit == 1 and measure in result.header:
        place = result.header.index(measure)
        rest = [
            f"{name.replace('_', ' ')} {shown(cell)}"
            for name, cell in zip(result.header, rows[0], strict=True)
            if name != measure and cell and not name.endswith("_id")
        ]
        plain = measure.replace("_", " ")
        extreme = "lowest" if query.descending is False else "highest"
        if result.dated(measure):
            extreme = "earliest" if query.descending is False else "latest"
            plain = plain if plain == "date" else f"date of “{plain}”"
        told = f": {', '.join(rest)}" if len(rows) == 1 else f", of {len(rows)} {query.noun}"
        found.summary = (
            f"The {extreme} {plain}{scope} {verb(plain)} **{shown(rows[0][place])}**{told}."
        )
    elif len(rows) == 1:
        found.summary = f"There is one row{scope}."
    else:
        number_shown = min(len(rows), _most(query))
        is_first = number_shown in (query.limit, *range(result.total))
        which = "the first" if is_first else "all" if number_shown > 2 else "the"
        which = "the" if statement.ordered_by else which
        of = f", of {result.total:,} in all" if number_shown < result.total else ""
        what = statement.what.replace("rows", query.noun, 1)
        by = f", by “{measure.replace('_', ' ')}”" if result.dated(measure) else ""
        found.summary = f"Here are {which} {number_shown} {what}{scope}{of}{by}."


def _most(query: Query) -> int:
    """How many rows an answer's table has."""
    return max(MOST_ROWS, min(query.limit or 0, MOST_ASKED))


def _tell_groups(found: Findings, result: Table, statement: Statement, query: Query) -> None:
    # What is compared stands in the sentence anyway.
    of_one = len(result.rows) == 1
    apart = (f for f in query.filters if not is_told_by(f, query) or (f.dated and not of_one))
    scope = in_scope(tuple(apart), statement.what)
    groups = groups_of(result, query)
    tell_absent(found, result, query)
    parts = _has_parts(result, statement, query)
    if query.part and parts:
        tell_part(found, groups, statement, query, scope)
    elif len(statement.labels) == 2 and parts:
        groups = added_up(result, by=1 if query.period else 0)
        _tell_ranked(found, groups, statement, query, scope)
        if query.course:
            _tell_courses(found, result, query)
    elif query.course and query.descending is None and len(statement.labels) == 1:
        _tell_course(found, groups, statement, query, scope)
    else:
        if query.period == "week" and len(statement.labels) == 1:
            groups = [replace(group, name=f"Week of {group.name}") for group in groups]
        _tell_ranked(found, groups, statement, query, scope)
    if parts:
        tell_parts(found, groups, query, statement, empty_between(result, query))


def _has_parts(result: Table, statement: Statement, query: Query) -> bool:
    """Whether the figures make up a whole, and all of them are there."""
    total = sum(group.value for group in groups_of(result, query))
    whole = len(result.rows) >= result.total and not (query.limit or query.having) and total > 0
    counts = not statement.what.startswith("number of different")  # which has some more than once
    return whole and counts and statement.what.startswith(("total", "number"))


def _tell_ranked(
    found: Findings, groups: list[Group], statement: Statement, query: Query, scope: str
) -> None:
    """Who leads, who follows, who is last."""
    ranked = sorted(groups, key=lambda group: -group.value)
    extreme, other = "highest", "lowest"
    if query.descending is False:
        ranked.reverse()
        extreme, other = other, extreme
    first, last = ranked[0], ranked[-1]
    named = any(is_told_by(each, query) and len(each.values) == 1 for each in query.filters)
    if len(groups) == 1 and (named or not query.limit):
        apart = f" for {first.name}{scope}"
        if first.name.lower() in scope.lower():
            apart = scope
        elif scope.startswith(" for "):
            apart = f"{scope} ({first.name})"
        found.summary = f"The {statement.what}{apart} {verb(statement.what)} **{first.text}**."
        return
    leading = [group.name for group in ranked if group.value == first.value]
    told = f"the {extreme} {statement.what.removeprefix(extreme).strip()}{scope}: **{first.text}**"
    if len(leading) > 1:
        found.summary = f"{some_of(leading)} have {told} each."
    else:
        found.summary = f"**{first.name}** has {told}"
        found.summary += f", then {ranked[1].name} with {ranked[1].text}." if ranked[1:] else "."
    if len(ranked) > 2 and not query.limit and ranked[-2].value != last.value:
        found.summary += f" {last.name} has the {other}: {last.text}."


def _tell_course(
    found: Findings, groups: list[Group], statement: Statement, query: Query, scope: str
) -> None:
    """From when to when, how much it changed, and when it peaked."""
    first, last = groups[0], groups[-1]
    top = max(groups, key=lambda group: group.value)
    bottom = min(groups, key=lambda group: group.value)
    at = _at(query)
    if first is last:
        scope = scope.removesuffix(f" in {first.name[-4:]}")  # its year
        found.summary = f"The {statement.what}{scope} {at} {first.name} {verb(statement.what)} **{first.text}**."
        return
    if top.value == bottom.value:
        found.summary = f"The {statement.what}{scope} is **{top.text}** in every {query.period}."
        return
    found.summary = (
        f"The {statement.what} per {query.period}{scope} went from **{first.text}** {at} "
        f"{first.name} to **{last.text}** {at} {last.name}{_change(first, last)}."
    )
    found.points.append(f"Highest {at} {top.name}: **{top.text}**")
    found.points.append(f"Lowest {at} {bottom.name}: **{bottom.text}**")


def _tell_courses(found: Findings, result: Table, query: Query) -> None:
    """From when to when, and how much, each series changed."""
    at = _at(query)
    courses: dict[str, list[Group]] = {}
    figures = replace(result, rows=[[when, value] for when, _, value in result.rows])
    for row, group in zip(result.rows, groups_of(figures, query), strict=True):
        courses.setdefault(row[1] or "(none)", []).append(group)
    several = {name: groups for name, groups in courses.items() if len(groups) > 1}
    for name, groups in sorted(several.items())[:MOST_SHARES]:
        first, last = groups[0], groups[-1]
        found.points.append(
            f"{name}: from {first.text} {at} {first.name} to **{last.text}** {at} {last.name}"
            f"{_change(first, last)}"
        )


def _at(query: Query) -> str:
    """What stands before one of its periods."""
    return {"day": "on", "week": "in the week of"}.get(query.period or "", "in")


def _change(first: Group, last: Group) -> str:
    """By how much it changed, where that can be told."""
    change = f"{last.value / first.value - 1:+.0%}" if first.value > 0 else ""
    return f" ({change})" if change.strip("+-") not in ("", "0%") else ""
