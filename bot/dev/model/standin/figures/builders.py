"""What the head of a question asks for: each takes what its pattern in `heads` matched, and returns None
where the table has no such thing."""

from __future__ import annotations

import re
from dataclasses import replace

from ..words import stems, tokens
from .columns import MONEY
from .modifiers import of_values, told_by
from .patterns import AGGREGATES, Scan
from .query import Query
from .times import among

PIECES = frozenset(("quantity", "qty", "unit", "piece"))
RECORD = re.compile(r"(<[a-z]*n[a-z]*\d+>) (?=<[a-z]*m)")
"""What a figure is of, as "order" in "order amount"."""
EVERY_ROW = 1_000_000


def figures(scan: Scan) -> Query | None:
    """One figure, or several that are listed."""
    records = " ".join(RECORD.findall(scan["figures"]))
    if any(name.said.endswith("s") for name in scan.named.all(records)):
        return None  # "products cost", which is no "order amount"
    figures: list[tuple[str | None, str | None]] = []
    pending: list[str] = []
    latest: list[str | None] = [None]
    noun = "rows"
    for word in RECORD.sub("", scan["figures"]).split():
        names = scan.named.all(word)
        if word in AGGREGATES:
            pending.append(AGGREGATES[word])
        elif names and names[0].measure:
            latest, pending = list(pending) or latest, []
            figures += [(each, names[0].measure) for each in latest]
        elif names:
            figures, noun, pending = [*figures, ("count", None)], names[0].said, []
    if not figures or pending:
        return None
    first, *more = list(dict.fromkeys(figures))
    default = "sum" if more else None
    query = Query(
        measure=first[1], aggregate=first[0] or default, noun=noun,
        more=tuple((aggregate or "sum", column) for aggregate, column in more),
    )  # fmt: skip
    return _told(scan, query)


def _told(scan: Scan, query: Query | None) -> Query | None:
    """With what stands before the noun: "monthly", "North", "March"."""
    if query and scan["v"]:
        query = of_values(query, scan.all("v"))
    if query and scan["t"]:
        times = [name.time for name in scan.all("t") if name.time]
        query = replace(query, filters=(*query.filters, *(among(times, scan.date) or ())))
    return told_by(query, scan.all("p")) if query and scan["p"] else query


def compared(scan: Scan) -> Query | None:
    """A figure of some, beside each other."""
    query = figures(scan)
    columns = {name.value[0] for name in scan.all("v") if name.value}
    return replace(query, groups=tuple(columns)) if query and len(columns) == 1 else None


def average_per_period(scan: Scan) -> Query | None:
    """The average of what each period has in all, as "average revenue per month"."""
    period = scan.one("p").period
    if scan["m"]:
        return Query(measure=scan.one("m").measure, aggregate="sum", period=period, per_period=True)
    return Query(aggregate="count", noun=scan.one("n").said, period=period, per_period=True)


def extreme(scan: Scan) -> Query | None:
    """The highest or lowest figure."""
    return Query(measure=scan.one("m").measure, aggregate="max" if scan.is_high else "min")


def counted(scan: Scan) -> Query | None:
    """How many rows there are, or what a column counts."""
    name = scan.one("n")
    if tokens(name.measure)[:2] == ["number", "of"]:  # the rows are not what is counted
        return _told(scan, Query(measure=name.measure, aggregate="sum"))
    return _told(scan, Query(aggregate="count", noun=name.said))


def rows_counted(_scan: Scan) -> Query:
    """How many rows there are of each of what follows."""
    return Query(aggregate="count")


def summed(scan: Scan) -> Query | None:
    """The sum of a column; how many there are of what it counts: a "customer" of 1001 is none of many."""
    measure = scan.one("m").measure
    counts = {*stems(measure)} & PIECES or re.search(r"[^s]s\b", measure.replace("_", " "))
    if not counts and "many" in scan.match[0]:
        return None
    return _told(scan, Query(measure=measure, aggregate="sum"))


def different(scan: Scan) -> Query | None:
    """How many different values a column has."""
    name = scan.one("g")
    return None if name.flag else Query(measure=name.group, aggregate="distinct")


def pieces(scan: Scan) -> Query | None:
    """How many of what is called so: of the column that counts pieces."""
    column = pieces_of(scan)
    return of_values(Query(measure=column, aggregate="sum"), scan.all("v")) if column else None


def pieces_of(scan: Scan) -> str | None:
    """The column that counts pieces."""
    numeric = (column for column in scan.table.columns if scan.table.numeric(column))
    return next((each for each in numeric if {*stems(each)} & PIECES), None)


def money(scan: Scan) -> Query | None:
    """How much was made, or spent by whom is named; of another figure that is named as well."""
    column = scan.measure or scan.default
    if column is None or not (scan["m"] or {*stems(column)} & {*MONEY}):
        return None
    query = Query(measure=column, aggregate="sum")
    return of_values(query, scan.all("v")) if scan["v"] else query


def of_whom(scan: Scan) -> Query | None:
    """How many rows are of whom is named."""
    return of_values(Query(aggregate="count", noun=scan.one("n").said), scan.all("v"))


def average_per_row(scan: Scan) -> Query | None:
    """The average of a figure over the rows, as "average revenue per sale"."""
    return Query(measure=scan.one("m").measure, aggregate="avg")


def bought(scan: Scan) -> Query | None:
    """The rows of whom is named, where rows are of what was sold."""
    return of_values(Query(listing=True), scan.all("v")) if money(scan) else None


def rows(scan: Scan) -> Query | None:
    """The rows themselves, as many as are wanted."""
    limit = scan.number
    return _told(scan, Query(listing=True, noun=scan.one("n").said, limit=limit))


def listed(scan: Scan) -> Query | None:
    """What a column holds, and how often; the rows where it names each one."""
    column = scan.one("g").group
    if scan.table.total > 1 and scan.table.ranges.get(column, ("",))[0] == str(scan.table.total):
        return Query(listing=True, noun=scan.one("g").said)
    return Query(groups=(column,), aggregate="count")


def all_rows(_: Scan) -> Query | None:
    """All there is."""
    return Query(listing=True, limit=EVERY_ROW)


def latest(scan: Scan) -> Query | None:
    """The newest or oldest rows."""
    name = scan.one("n")
    several = name.said.endswith("s")
    limit = scan.number or (10 if several else 1)
    if scan["end"] == "first" and name.said.startswith("row"):
        return _told(scan, Query(listing=True, limit=limit, noun=name.said))
    newest = scan["end"] not in ("first", "oldest", "earliest")
    query = Query(listing=True, sort=scan.date, descending=newest, limit=limit, noun=name.said)
    return _told(scan, query) if scan.date else None


def largest_rows(scan: Scan) -> Query | None:
    """The rows with the highest or lowest figure: one that is named, or money."""
    measure = scan.measure or scan.default
    if measure is None or not (scan["m"] or {*stems(measure)} & {*MONEY}):
        return None
    name = scan.one("n")
    limit = scan.number or (10 if name.said.endswith("s") else 1)
    query = Query(listing=True, sort=measure, descending=scan.is_high, limit=limit, noun=name.said)
    return of_values(query, scan.all("v")) if scan["v"] else query


def course(scan: Scan) -> Query | None:
    """How a figure or the number of rows went from month to month."""
    if not scan.date:
        return None
    if scan["n"] and not scan["m"]:
        return Query(aggregate="count", noun=scan.one("n").said, period="month")
    known = scan["m"] or scan.has_one_figure
    return Query(measure=scan.measure or scan.default, period="month") if known else None


def shares(scan: Scan) -> Query | None:
    """What each has of the whole, as "revenue share by region"."""
    return Query(measure=scan.one("m").measure, shares=True)


def part(scan: Scan) -> Query | None:
    """The share of some values in the whole."""
    values = [name.value for name in scan.all("v") if name.value]
    columns = {column for column, _ in values}
    if len(columns) != 1:
        return None
    query = Query(groups=tuple(columns), part=tuple(value for _, value in values))
    if scan["m"]:
        return replace(query, measure=scan.one("m").measure)
    return replace(query, aggregate="count", noun=scan.one("n").said)
