"""What may follow the head of a question, or change the question before: by what, when, which, how shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from .filters import Filter
from .names import Name
from .patterns import AGGREGATES, HIGH, Scan, pattern
from .query import Query
from .times import among, beside, between

Modify = Callable[[Scan, Query], Query | None]
"""Returns the query with what was said; None where it cannot be said of that one."""
COMPARISONS = {
    ">": r"(?:over|above|more than|greater than|higher than|exceeding|>)", ">=": r"(?:at least|>=|≥|> =)",
    "<": r"(?:under|below|less than|fewer than|lower than|<)", "<=": r"(?:at most|up to|<=|≤|< =)",
}  # fmt: skip
CMP = "|".join(f"(?P<{name}>{words})" for name, words in zip(("gt", "ge", "lt", "le"), COMPARISONS.values(), strict=True))  # fmt: skip
OPERATORS = {"gt": ">", "ge": ">=", "lt": "<", "le": "<="}
SIDES = {">=": r"(?:since|from|starting(?: in| from)?)", ">": "after", "<": "before", "<=": r"(?:until|till|up to|through)"}  # fmt: skip
KINDS = {"bars": "bar", "column": "bar", "lines": "line", "donut": "pie"}
FILES = {"excel": "xlsx", "spreadsheet": "xlsx", "word": "docx", "file": "csv", "": "csv"}
IT = r"(?:it|this|that|them|these|those|the results?|the table|the answer|the rows|the list)"


def bound(scan: Scan, column: str, number: str = "x") -> Filter:
    """The condition that a comparison and its number say of a column."""
    operator = next(sign for name, sign in OPERATORS.items() if scan[name])
    return Filter(column, operator, (scan.one(number).number,))


def told_by(query: Query, names: list[Name]) -> Query | None:
    """The figures by these columns and at most one period."""
    groups = tuple(name.group for name in names if name.group)
    periods = [name.period for name in names if name.period != query.period and not name.group]
    if len(periods) + (query.period is not None) > 1 or {*groups} & {*query.groups}:
        return None
    return replace(query, groups=(*query.groups, *groups), period=next(iter(periods), query.period))


def of_values(query: Query, names: list[Name], operator: str = "in") -> Query | None:
    """The rows with these values; more values of one column beside each other."""
    found: dict[str, list[str]] = {}
    for name in names:
        if name.value:
            found.setdefault(name.value[0], []).append(name.value[1])
    if {*found} & {each.column for each in query.filters}:
        return None
    filters = (Filter(column, operator, tuple(values)) for column, values in found.items())
    return replace(query, filters=(*query.filters, *filters))


def _grouped(scan: Scan, query: Query) -> Query | None:
    found = told_by(query, scan.all("by"))
    ranked = query.told_by and query.descending is not None  # "the top product in each region"
    return replace(found, limit=query.limit or 1) if found and ranked else found


def _over_time(scan: Scan, query: Query) -> Query | None:
    if query.period or not scan.date:
        return None
    return replace(query, period=scan.all("p")[0].period if scan["p"] else "month")


def _values(scan: Scan, query: Query) -> Query | None:
    compared = re.search(r"\b(?:vs|versus|against|than|with|to)\b", scan["v"]) or scan["compare"]
    found = of_values(query, scan.all("v"))
    if found is None or not compared:
        return found
    columns = {name.value[0] for name in scan.all("v") if name.value}
    if len(columns) > 1 or len(scan.all("v")) < 2:
        return None
    return replace(found, groups=tuple(dict.fromkeys((*found.groups, *columns))))


def _without(scan: Scan, query: Query) -> Query | None:
    return of_values(query, scan.all("v"), "not in")


def _flag(scan: Scan, query: Query) -> Query | None:
    value = "false" if scan["no"] else "true"
    return replace(query, filters=(*query.filters, Filter(scan.one("f").flag, "in", (value,))))


def _dated(scan: Scan, query: Query, filters: tuple[Filter, ...] | None) -> Query | None:
    if not filters or any(each.dated for each in query.filters):
        return None
    told = (replace(each, named=each.of != scan.date) for each in filters)
    return replace(query, filters=(*query.filters, *told))


def _column(scan: Scan) -> str:
    return scan.one("d").date if scan["d"] else scan.date


def _in_times(scan: Scan, query: Query) -> Query | None:
    times = [name.time for name in scan.all("t") if name.time]
    found = _dated(scan, query, among(times, _column(scan)))
    compared = re.search(r"\b(?:vs|versus|against|than|with|to)\b", scan["t"]) or scan["compare"]
    if found is None or not compared or found.period:
        return found
    period = {"monthday": "day"}.get(times[0].kind, times[0].kind)
    single = all(len(time.values) == 1 for time in times)  # halves are no periods
    return replace(found, period=period) if len(times) > 1 and single else None


def _between_times(scan: Scan, query: Query) -> Query | None:
    first, last = scan.one("a").time, scan.one("b").time
    return _dated(scan, query, between(first, last, _column(scan))) if first and last else None


def _beside_time(scan: Scan, query: Query) -> Query | None:
    time = scan.one("t").time
    column = _column(scan)
    years = {end[:4] for end in scan.table.ranges.get(column, ("", "", ""))[1:]}
    if time is None or (len(years) > 1 and not time.has_year):
        return None
    operator = next(sign for sign, words in SIDES.items() if re.fullmatch(words, scan["side"]))
    return _dated(scan, query, beside(operator, time, column))


def _before(scan: Scan, query: Query) -> Query | None:
    """The month, quarter or year before the one that was told of."""
    period = (scan.all("earlier") or scan.all("previous"))[0].period
    told = query.back or query.period or any(each.dated for each in query.filters)
    return None if told else replace(query, back=period)


def _measure(scan: Scan, query: Query) -> str | None:
    """The column that is named, or the figure; None where it is that of the question before."""
    if scan["m"]:
        return scan.one("m").measure
    of_rows = query.listing or query.aggregate == "count"
    return query.measure or (scan.default if of_rows else None)


def _bounded(scan: Scan, query: Query) -> Query | None:
    """A bound of the column that is named, or of the figure that was; of rows it is one of money."""
    column = _measure(scan, query)
    if not (scan["m"] or query.told_by or column in (None, scan.default)):
        return None  # "average units of orders over 100"
    if column is None:
        return replace(query, having=(*query.having, bound(scan, "")))
    return replace(query, filters=(*query.filters, bound(scan, column)))


def _within(scan: Scan, query: Query) -> Query | None:
    column = _measure(scan, query)
    if column is None:
        return None
    sides = ((">=", scan.one("a")), ("<=", scan.one("b")))
    filters = (Filter(column, operator, (name.number,)) for operator, name in sides)
    return replace(query, filters=(*query.filters, *filters))


def _counted(scan: Scan, query: Query) -> Query | None:
    """A bound of how many rows there are of each."""
    if not query.groups or query.aggregate not in (None, "count"):
        return None
    noun = scan.one("n").said
    return replace(query, aggregate="count", noun=noun, having=(bound(scan, "count"),))


def _first(scan: Scan, query: Query) -> Query | None:
    """The first few, or in which order."""
    if query.limit or query.descending is not None:
        return None
    return replace(query, limit=scan.number, descending=bool(re.match(HIGH, scan["super"])))


def _sorted(scan: Scan, query: Query) -> Query | None:
    names = scan.all("by")
    column = next((name.measure or name.group or name.date for name in names), None)
    if names and not (column or names[0].period):
        return None
    if query.measure is None and column and names[0].measure and not query.listing:
        query = replace(query, measure=column)
    of_figure = column is None or bool(names and names[0].measure)
    down = scan["desc"] or (of_figure and not scan["asc"])
    sort = None if column == query.measure and not query.listing else column
    listing = query.listing or bool(scan["n"])
    return replace(query, sort=sort, descending=bool(down), listing=listing)


def _by_date(scan: Scan, query: Query) -> Query | None:
    if not scan.date:
        return None
    return replace(query, sort=scan.date, descending=bool(scan["desc"]))


def _charted(scan: Scan, query: Query) -> Query | None:
    kind = scan["kind"].strip()
    return None if query.chart else replace(query, chart=KINDS.get(kind, kind) or "auto")


def _filed(scan: Scan, query: Query) -> Query | None:
    kind = scan["file"].strip()
    return None if query.file else replace(query, file=FILES.get(kind, kind))


def _shares(_: Scan, query: Query) -> Query:
    return replace(query, shares=True)


def _widened(scan: Scan, query: Query) -> Query:
    columns = tuple(name.group for name in scan.all("g")) or ("*",)
    return replace(query, widened=columns)


def _figure(scan: Scan, query: Query) -> Query | None:
    """Another figure, of a question that names none."""
    if query.measure or query.aggregate or query.listing:
        return None
    aggregate = AGGREGATES[scan["agg"].strip()] if scan["agg"] else None
    return replace(query, measure=scan.one("m").measure if scan["m"] else None, aggregate=aggregate)


def _listed(_: Scan, query: Query) -> Query:
    return replace(query, listing=True)


def _how_many(_: Scan, query: Query) -> Query | None:
    return replace(query, aggregate="count") if query == Query() else None


def _main_date(scan: Scan, query: Query) -> Query | None:
    """A verb that says nothing more than the dates do, as in "joined per month"."""
    return query if scan.one("d").date == scan.date else None


def _same(_: Scan, query: Query) -> Query:
    return query


WORDS = {
    "CMP": CMP, "IT": IT, "SIDE": "|".join(SIDES.values()),
    "KIND": r"(?P<kind>(?:bar|line|pie|area|column|bars|lines|donut) )",
    "PLACE": r"(?:in|for|from|of|on|at|to|with|within|among|about)",
    "ONLY": rf"(?:(?:only|just|filter(?:ed)?|show|keep) (?:{IT} )?(?:by |to |on )?)",
    "THAT": r"(?:(?:that|who|which|where|and) )?(?:(?:are|is|was|were|have|has|had|still) )*",
    "FILE": r"(?P<file>csv|excel|xlsx|spreadsheet|pdf|word|docx|file)",
}  # fmt: skip
_LINES: tuple[tuple[str, Modify], ...] = (
    (r"(?:(?:split|grouped|broken down|break|sort) (?:it |this |that |them )?(?:down )?)?(?:by|per|for each|for every|in each|across|each|every) (?:the |our )?{GP+:by}", _grouped),
    (r"(?:over time|over the (?:months|year)|month by month) ", _over_time),
    (r"how (?:did|has|have|do|does) (?:it|this|that|they|these|the figures?|the numbers?) (?:develop|change|evolve|go|grow)(?:ed|d)? (?:over time )?", _over_time),
    (r"(?:(?:were |was |are |is |who |that )*{D})?(?:from|between) {T:a}(?:to|and|until|till|through) {T:b}", _between_times),
    (r"(?:(?:were |was |are |is |who |that )*{D})?(?:in |for )?{T:a}(?:to|until|till|through) {T:b}", _between_times),
    (r"(?:(?:were |was |are |is |who |that )*{D})?(?P<side>{SIDE}) {T}(?:on |onwards )?", _beside_time),
    (r"(?:{PLACE} )?(?:the )?(?:{P:earlier}before (?:that |this )?|previous {P:previous})", _before),
    (r"(?P<compare>(?:compared? )(?:it |that |this )?(?:to |with )?)?(?:(?:were |was |are |is |who |that )*{D})?(?:{ONLY})?(?:{PLACE} |during |back in )?(?:the )?{T+}", _in_times),
    (r"(?:but )?(?:without|except(?: for)?|excluding|not|other than|ignor(?:e|ing)|leave out|remove|are not|is not|that are not) (?:in |for |from |of )?(?:the )?{V+}", _without),
    (r"(?P<compare>compare (?:it |that |this )?(?:to |with )?)?(?:{ONLY})?(?:{THAT}{PLACE} |{THAT})?(?:the |our |a |an )?{V+}(?:{N:_}|ones )?", _values),
    (r"{THAT}(?P<no>not )?(?:been )?{F}", _flag),
    (r"(?:with |having |that have |who have |which have |have )?(?:{CMP}) {X}{N}", _counted),
    (r"{THAT}(?:with |having |whose )?(?:a |an |the )?(?:{AGG} )?{M}(?:is |are |was |of |that is )?(?:{CMP}) {X}", _bounded),
    (r"{THAT}(?:with |having |worth |costing |cost |of )?(?:{CMP}) {X}(?:(?:of |in )?{M}|(?!<[a-z]*v))", _bounded),
    (r"(?:with |having )?(?:a |an |the )?{M}between {X:a}and {X:b}", _within),
    (r"between {X:a}and {X:b}{M}", _within),
    (r"(?:in |from )?(?P<super>descending|ascending) (?:order |{N:_})?", lambda scan, query: replace(query, descending=scan["super"] == "descending")),
    (r"(?:show )?(?:only |just )?(?:the )?(?P<super>{SUPER}) {X}(?:only |ones |of them )?", _first),
    (r"(?:the )?(?P<super>{SUPER}) (?:first|ones|one) ", _first),
    (r"(?:which|what) (?:one |of them |of those )?(?:was|is|are|were|has|had) (?:the )?(?P<super>{SUPER}) (?:one )?", _first),
    (r"(?:the )?(?P<super>{SUPER}) \Z", lambda scan, query: _first(scan, query) if query == Query() else None),
    (r"(?:and )?(?:sort|rank|arrange|order)(?:ed|d)? (?:{IT} |(?:the )?{N})?by (?:the )?(?:{AGG} )?{MGDP:by}(?:in )?(?P<desc>descending )?(?P<asc>ascending )?(?:order |{N:_})?", _sorted),
    (r"(?:and )?(?:sort|rank|arrange|order)(?:ed|d)? (?:{IT} |(?:the )?{N})?by (?:the )?(?:date|time) (?P<desc>descending )?(?:ascending )?", _by_date),
    (r"(?:sort|rank|arrange|order)(?:ed|d)? (?:it |them |this |that )?(?P<desc>descending )?(?P<asc>ascending )?", _sorted),
    (r"(?:(?:and |now |also )*(?:show|draw|make|create|plot|give|display|put|turn|add|visuali[sz]e)(?: me)? )?(?:{IT} )?(?:also )?(?:as |in |into |with )?(?:a |an |the )?{KIND}?(?:chart|graph|plot|diagram) ", _charted),
    (r"(?:(?:show|draw|make|plot|put|turn)(?: me)? )?(?:{IT} )?(?:as |into )(?:a |an )?{KIND}", _charted),
    (r"(?:plot|chart|draw|graph|visuali[sz]e) {IT} ", _charted),
    (r"(?:(?:export|download|save|send|share|give|make|turn|convert|create|want|get|put)(?: me)? )?(?:{IT} )?(?:as |to |into |in )(?:a |an )?{FILE} (?:file |report |document )?(?:of {IT} |too |here )?", _filed),
    (r"(?:export|download|save|share) {IT} (?:here )?", _filed),
    (r"(?:give|send|make|create)(?: me)? (?:a |an ){FILE} (?:file |report |document )?(?:of {IT} |from {IT} |too |with {IT} )?", _filed),
    (r"(?:(?:show )?(?:it |that |this )?(?:in|as) (?:a )?(?:percent|percentages?|shares?)|(?:with )?percentages|percentage wise) (?:of (?:the )?(?:total|whole) )?", _shares),
    (r"(?:for |in |of |show )*(?:all|every) (?:of )?(?:the |our )?{G+}", _widened),
    (r"(?:show |for )?(?:everything|all of (?:it|them)|reset(?: all| the)?(?: filters?)?|no filters?|without filters?) ", _widened),
    (r"(?:the )?(?P<agg>{AGG} )(?:of )?(?:the )?{M}?", _figure),
    (r"(?:the )?(?:for |in |of )?{M}", _figure),
    (r"(?:which (?:ones?|of (?:them|these|those))|(?:show|list|name|give)(?: me)? (?:all of )?(?:them|those|these)) (?:all )?", _listed),
    (r"how many (?:(?:are|were) (?:there|that)|of (?:them|these|those)|is that) ", _how_many),
    (r"(?:that |who |which |were |was |are |have )*{D}", _main_date),
    (r"(?:of|for|from|in) (?:all )?(?:the |our )?{N}", _same),
    (r"(?:(?:show|with|as|in) )?(?:a|the) table ", _same),
    (r"{SOLD}", _same),
    (r"(?:and|,|please|thanks|thank you|too|again|instead|and by how much) ", _same),
)  # fmt: skip
MODIFIERS = tuple((pattern(line, WORDS), modify) for line, modify in _LINES)
"""Each is tried where the one before it ended; the first that fits takes its words."""
