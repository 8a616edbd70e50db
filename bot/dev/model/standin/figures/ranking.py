"""What puts things in the order of a figure, or bounds them by one."""

from __future__ import annotations

import re
from dataclasses import replace

from ..words import stems
from .builders import money, pieces_of
from .columns import is_level
from .modifiers import bound, of_values, told_by
from .names import column_of
from .patterns import AGGREGATES, Scan
from .query import Query

PEOPLE = frozenset(
    ("name", "person", "employee", "seller", "salesperson", "rep", "agent", "owner", "customer")
)
WAGES = frozenset(("salary", "wage", "pay"))
EARNING = re.compile(r"\b(?:made|make|earn|spen[dt]|sold|sell|paid|pay|generate|br(?:ings|ought))")
"""What is said of money, or of what is sold: never of how many rows there are."""
THINGS = frozenset(("product", "item", "article", "sku"))
COSTLY = frozenset((
    "cost", "price", "expense", "bounce", "error", "churn", "delay", "complaint", "return", "loss", "debt", "defect",
))  # fmt: skip
"""Of these figures nobody can tell whether the highest or the lowest are the best."""


def ranked(scan: Scan) -> Query | None:
    """Things by their figure, the highest or lowest first."""
    if {scan["super"]} & {"best", "worst"} and {*stems(scan.measure or "")} & COSTLY:
        return None
    names = scan.all("gp")
    query = told_by(Query(), names) if names or not scan["who"] else _by_people(scan)
    query = query and _with_figure(scan, query)
    aggregate = AGGREGATES[scan["agg"].strip()] if scan["agg"] else None
    return query and replace(
        query,
        aggregate=aggregate or query.aggregate,
        descending=scan.is_high,
        limit=scan.number,
    )


def frequent(scan: Scan) -> Query | None:
    """Things by how many rows there are of each."""
    query = told_by(Query(aggregate="count"), scan.all("gp"))
    return query and replace(query, descending=scan.is_high, limit=scan.number)


def by_figure(scan: Scan) -> Query | None:
    """Things in the order of their figure, as "regions by revenue"."""
    query = told_by(Query(), scan.all("g"))
    query = query and _with_figure(scan, query)
    aggregate = AGGREGATES[scan["agg"].strip()] if scan["agg"] else None
    return query and replace(query, aggregate=aggregate or query.aggregate, descending=True)


def people_bounded(scan: Scan) -> Query | None:
    """Who has a figure within a bound."""
    query, measure = _by_people(scan), scan.measure or scan.default or _wages(scan)
    if query is None or measure is None:
        return None
    whole = "avg" if is_level(measure, scan.table) else "sum"
    return replace(query, measure=measure, aggregate=whole, having=(bound(scan, measure),))


def _wages(scan: Scan) -> str | None:
    wages = (c for c in scan.table.columns if scan.table.numeric(c) and {*stems(c)} & WAGES)
    return next(wages, None)


def who(scan: Scan) -> Query | None:
    """The rows of people, where they are of people."""
    return _by_people(scan) and Query(listing=True, noun="people")


def _by_people(scan: Scan) -> Query | None:
    kinds = PEOPLE if scan.table.handle else PEOPLE - {"name"}  # which all tables have
    people = [column for column in scan.table.texts if {*stems(column)} & kinds]
    return Query(groups=tuple(people[:1])) if people else None


def _with_figure(scan: Scan, query: Query) -> Query | None:
    """With what is ranked by: a column, how many rows there are, how many pieces of what is named."""
    if scan["m"]:
        return replace(query, measure=scan.one("m").measure)
    if scan["n"]:
        query = replace(query, aggregate="count", noun=scan.one("n").said)
        return of_values(query, scan.all("w")) if scan["w"] else query
    if scan["v"]:
        pieces = pieces_of(scan)
        return of_values(replace(query, measure=pieces), scan.all("v")) if pieces else None
    if scan.default is None and EARNING.search(scan.match[0]):
        wages = _wages(scan) if "earn" in scan.match[0] else None
        return replace(query, measure=wages) if wages else None
    counts = scan.default is None and scan["super"] in ("most", "fewest", "least")
    return query if scan.has_one_figure or counts else None


def sold(scan: Scan) -> Query | None:
    """What is sold, by money."""
    things = (column for column in scan.table.texts if {*stems(column)} & THINGS)
    query, column = money(scan), next(things, None)
    if query is None or column is None:
        return None
    return replace(query, groups=(column,), aggregate=None, descending=scan.is_high)


def when(scan: Scan) -> Query | None:
    """The best or worst month."""
    if not scan.date or not (scan["m"] or scan.has_one_figure):
        return None
    return Query(period="month", descending=scan.is_high, measure=scan.measure)


def priced(scan: Scan) -> Query | None:
    """The cheapest or most expensive, where there is a price."""
    price, name = column_of("price", scan.table), scan.one("gn")
    if not scan.table.numeric(price):
        return None
    down = re.match("cheap|least", scan["price"]) is None
    if name.noun or not name.group:
        limit = scan.number or (10 if name.said.endswith("s") else 1)
        return Query(listing=True, sort=price, descending=down, limit=limit, noun=name.said)
    return Query(groups=(name.group,), measure=price, descending=down)


def bounded(scan: Scan) -> Query | None:
    """Which things have a figure within a bound."""
    counted, groups = scan.all("n"), (scan.one("g").group,)
    if counted and not scan["m"]:
        noun = counted[0].said
        return Query(groups=groups, aggregate="count", noun=noun, having=(bound(scan, "count"),))
    measure = scan.measure or scan.default
    if measure is None or not (scan["m"] or money(scan)):
        return None
    whole = "avg" if is_level(measure, scan.table) else "sum"
    return Query(groups=groups, measure=measure, aggregate=whole, having=(bound(scan, measure),))
