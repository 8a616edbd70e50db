"""Things of which the figure is bounded, as "products with more than 500 units"."""

from __future__ import annotations

import re

from .asking import PEOPLE
from .columns import columns_named, identifies
from .conditions import COMPARISONS
from .filters import Filter
from .outputs import Table
from .scoping import COMPARED
from .words import listed, plural, shown, some_of, stems

LEAD = r"\W*(?:(?:and|but|only|just|which|what|how many|list|show|give|find|name|me|all|the|of|our)\s+)*"
ROWS = ("order", "sale", "row", "deal", "transaction", "ticket")
COUNTED = re.compile(r"\d\s+(?P<noun>[a-z]+)", re.IGNORECASE)


def first_noun(text: str) -> str:
    """What a question speaks of first, as "customers" in "which customers joined"."""
    first = re.match(rf"{LEAD}(?P<noun>[a-z_]+)", text, re.IGNORECASE)
    return first["noun"].lower() if first else ""


def subject(text: str, table: Table) -> str | None:
    """The column that names what the question is about."""
    noun = first_noun(text)
    named = columns_named(noun, table)
    if noun == "who":
        named = [column for column in table.columns if {*stems(column)} & PEOPLE]
    return next((c for c in named if c in table.texts and not identifies(c)), None)


def bounds_of(filters: tuple[Filter, ...], table: Table) -> tuple[Filter, ...]:
    """The conditions on figures."""
    return tuple(
        each
        for each in filters
        if each.operator in COMPARISONS and each.column and table.numeric(each.column)
    )


def counts_rows_of(text: str, table: Table) -> bool:
    """Whether the bound is on how many rows there are, as in "more than 25 orders"."""
    counted = COUNTED.search(text)
    return counted is not None and stems(counted["noun"]) == stems(table.source)


def begins_with_rows(text: str, table: Table) -> bool:
    """Whether rows are the first that is spoken of, as in "orders with a quantity over 9"."""
    return bool({*stems(first_noun(text))} & {*stems(table.source), *ROWS})


def is_of_rows(text: str, table: Table) -> bool:
    """Whether single rows are bounded, as in "orders over 100"."""
    said = re.search(
        rf"([a-z]+)\s+(?:of |with |worth )?(?:{'|'.join(COMPARISONS.values())})\b",
        text,
        re.IGNORECASE,
    )
    return said is not None and bool({*stems(said[1])} & {*stems(table.source), *ROWS})


def in_words(names: list[str], column: str, what: str, having: tuple[Filter, ...]) -> str:
    """Which ones have a figure, `what`, within the bounds."""
    bounds = listed([f"{COMPARED[each.operator]} {shown(each.values[0])}" for each in having])
    many = f"**{len(names)}**" if names else "No"
    noun = column.replace("_", " ")
    has_it = f"{noun} has" if len(names) < 2 else f"{plural(noun)} have"
    a = "" if what.startswith("total") else "a "
    named = f": {some_of(names)}" if names else ""
    return f"{many} {has_it} {a}{what} {bounds}{named}."
