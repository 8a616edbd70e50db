"""Things of which the figure is bounded, as "products with more than 500 units"."""

from __future__ import annotations

import re

from .columns import columns_named, identifies
from .conditions import COMPARISONS
from .filters import Filter
from .outputs import Table
from .words import stems

LEAD = r"\W*(?:(?:which|what|how many|list|show|give|find|name|me|all|the|of|our)\s+)*"
COUNTED = re.compile(r"\d\s+(?P<noun>[a-z]+)", re.IGNORECASE)


def subject(text: str, table: Table) -> str | None:
    """The column that names what the question is about: its first noun."""
    first = re.match(rf"{LEAD}(?P<noun>[a-z_]+)", text, re.IGNORECASE)
    named = columns_named(first["noun"].lower(), table) if first else []
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
