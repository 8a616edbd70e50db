"""Several figures asked for in one breath: "the sum and average of revenue", "total revenue and units"."""

from __future__ import annotations

import re

from .columns import columns_named, default_measure, identifies
from .outputs import Table

Figure = tuple[str, str | None]
"""An aggregate and the column it is of; None for the rows themselves."""
AGGREGATES = {
    "sum": "sum", "total": "sum", "average": "avg", "mean": "avg", "avg": "avg", "median": "median",
    "min": "min", "minimum": "min", "max": "max", "maximum": "max", "count": "count", "number": "count",
}  # fmt: skip
EXTREMES = {"lowest": "min", "smallest": "min", "highest": "max", "largest": "max"}
"""Of groups these rank; of the whole they are figures like the others."""
_BETWEEN = "and the of both plus as well a an also or with their sold earned"
BETWEEN = frozenset(_BETWEEN.split())


def several(text: str, table: Table, *, grouped: bool) -> tuple[Figure, ...]:
    """The figures that a question lists; () when it asks for one at most."""
    known = AGGREGATES if grouped else AGGREGATES | EXTREMES
    found: list[Figure] = []
    pending: list[str] = []  # aggregates that wait for their column
    latest = ["sum"]  # those that a further column shares
    for word in re.findall(r"[a-z_]+|[?.!]", _joined(text.lower(), table)):
        if word in known:
            pending = [*pending, known[word]]
        elif column := _measure(word, table):
            latest, pending = pending or latest, []
            found += [("sum" if each == "count" else each, column) for each in latest]
        elif pending == ["count"] and word not in BETWEEN:
            found, pending = [*found, ("count", None)], []
        elif word not in BETWEEN and (found or len(pending) > 1):
            break
        elif word not in BETWEEN:
            pending = []
    if len(pending) > 1 and not found:
        found = [(each, None if each == "count" else default_measure(table)) for each in pending]
    return tuple(dict.fromkeys(found)) if len(set(found)) > 1 else ()


def _joined(text: str, table: Table) -> str:
    """The text with each name of a column as one word: "unit price" as "unit_price"."""
    for column in table.columns:
        text = text.replace(column.replace("_", " ").lower(), column.lower())
    return text


def _measure(word: str, table: Table) -> str | None:
    whole = next((c for c in table.columns if c.lower() == word and table.numeric(c)), None)
    if whole:
        return whole
    named = (c for c in columns_named(word, table) if table.numeric(c) and not identifies(c))
    return next(named, None)
