"""What a question counts: rows under the name that it gives them, or different values."""

from __future__ import annotations

import re

from .asking import NOUN, PART
from .columns import MONEY, columns_named, identifies
from .filters import Filter
from .outputs import Table
from .words import stem, stems

RECORDS = (
    "order", "sale", "row", "deal", "transaction", "ticket", "entry", "record", "purchase", "invoice", "item",
    "people", "person", "customer", "line",
)  # fmt: skip
BY_SOMETHING = re.compile(r"\b(?P<noun>[a-z]+)\s+(?:per|by|for each|in each)\b", re.IGNORECASE)
ALONE = re.compile(r"\W*(?:and|what about|how about|now)\W+(?:the )?(?P<noun>[a-z]+)\W*", re.I)
PIECES = {"quantity", "qty", "unit", "piece"}


def most_of(text: str, table: Table) -> str | None:
    """ "The most orders", or a share "of orders", counts rows when no column holds a number of them."""
    found = re.search(rf"\b(?:most|fewest|least)\s+{NOUN}", text, re.IGNORECASE)
    found = found or re.search(rf"\b(?:{PART})\s+(?:the\s+)?([a-z]+s)\b", text, re.IGNORECASE)
    noun = found[1].lower().split()[-1] if found else ""
    if (
        noun
        and is_noun(noun, table)
        and not any(table.numeric(c) for c in columns_named(noun, table))
    ):
        return "count"
    return None


def counts_rows(text: str, table: Table) -> bool:
    """Whether "how many …" means rows; "how many units" means the sum of a column."""
    found = re.search(r"\b(?:how many|number of|count(?: of)?)\s+([a-z]+)", text, re.IGNORECASE)
    columns = columns_named(found[1].lower(), table) if found else []
    measures = [each for each in columns if table.numeric(each) and not identifies(each)]
    return all(set(stems(each)) & set(MONEY) for each in measures)


def distinct_column(text: str, table: Table) -> str | None:
    """The column whose different values are to be counted."""
    found = re.search(r"\b(?:different|distinct|unique)\s+(\w+)", text, re.IGNORECASE)
    if found is None:  # "how many regions", where a column is called so
        counted = re.search(r"\bhow many\s+(\w+)", text, re.IGNORECASE)
        named = [c for c in table.texts if counted and stems(c) == stems(counted[1])]
        return next((c for c in named if stems(c) != stems(table.source)), None)
    return next(iter(columns_named(found[1].lower(), table)), None)


def units_of_value(noun: str, filters: tuple[Filter, ...], table: Table) -> str | None:
    """The column that counts pieces, where what is counted is a value such as "desk lamps"."""
    last = {stems(value)[-1] for each in filters for value in each.values if stems(value)}
    if not {*stems(noun)[-1:]} & last:
        return None
    return next((c for c in table.columns if table.numeric(c) and {*stems(c)} & PIECES), None)


def named_by(text: str, table: Table) -> str | None:
    """The records themselves by something, as "orders per month" or "and orders?", are counted."""
    return "count" if stems(counted_noun(text)) == stems(table.source) else None


def counted_noun(text: str) -> str:
    """What seems to be counted without its being said, as in "orders per month"; "" for nothing."""
    found = ALONE.fullmatch(text) or BY_SOMETHING.search(text)
    return found["noun"] if found else ""


def is_noun(word: str, table: Table) -> bool:
    """Whether a word names records, a column of the table or a value in it, and not just anything."""
    known = stems(" ".join([table.source, *table.columns, *table.values, *RECORDS]))
    return stem(word) in known


def noun_of(text: str, table: Table) -> str:
    """What is counted, in the question's own words."""
    found = re.search(rf"\b(?:how many|number of|most|fewest|least|{PART})\s+{NOUN}", text.lower())
    if found is None and named_by(text, table):
        return counted_noun(text).lower()
    named = found and is_noun(found[1].split()[-1], table) and counts_rows(text, table)
    return found[1] if found and named else "rows"
