"""Which columns of a table a word means."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from .findings import Findings
from .outputs import Table
from .words import has, listed, related, stem, stems, tokens

MONEY = ("revenue", "sale", "amount", "turnover", "income", "total", "value")


def one_word(column: str) -> str:
    """The name of a column in one word, without its unit: "unit_price" for "Unit price (EUR)"."""
    return "_".join(re.sub(r"\([^)]*\)", "", column).lower().replace("_", " ").split())


def with_columns_in_one_word(text: str, table: Table) -> str:
    """A question in which each name of a column is one word, so that no word of it means another."""
    for name in sorted(map(one_word, table.columns), key=len, reverse=True):
        if "_" in name:
            said = r"[\s_]+".join(map(re.escape, name.split("_")))
            text = re.sub(rf"(?<!\w){said}s?(?!\w)", name, text, flags=re.IGNORECASE)
    return text


def columns_named(word: str, table: Table) -> list[str]:
    """Columns that a word means, the best match first."""
    if whole := [column for column in table.columns if "_" in word and one_word(column) == word]:
        return whole
    wanted = stem(word)
    exact, part, like = [], [], []
    for column in table.columns:
        pieces = stems(column)
        if pieces == [wanted]:
            exact.append(column)
        elif wanted in pieces:
            part.append(column)
        elif any(related(wanted, piece) for piece in pieces):
            like.append(column)
    return exact + part + like


DATES = {
    "date",
    "day",
    "month",
    "year",
    "time",
    "on",
    "at",
    "period",
    "week",
    "quarter",
    "timestamp",
}
"""Stems that tell no column of dates from another."""


def words_of(column: str) -> list[str]:
    """The stems of a column's name without its unit: "Lead time (days)" tells no day."""
    return stems(re.sub(r"\([^)]*\)", "", column)) or stems(column)


def sorted_by(text: str, table: Table) -> str | None:
    """The column that rows are to be sorted by, whatever it holds."""
    if has(text, "(?:newest|latest|oldest|earliest) first"):
        return date_column(table)
    said = SORTED.search(text) or LISTED.search(text)
    if said and said.re is LISTED and stems(said["what"])[-1:] != stems(table.source)[-1:]:
        return None
    named = columns_named(said["by"].lower(), table) if said else []
    if said and not named and stem(said["by"].lower()) in DATES:
        return date_column(table)
    return next(iter(named), None)


SORTED = re.compile(
    r"(?P<lead>\b(?:(?:sort|arrange|rank)(?:ed|d)?\s+(?:\w+\s+){0,3}?|"
    r"(?<!per )(?<!average )(?<!total )order(?:ed)?\s+(?:(?:it|them|these|those|this|that|all|rows)\s+)?))by\s+(?P<by>\w+)",
    re.IGNORECASE,
)
"""That rows are to stand in the order of a column: "total order amount by category" is none."""


LISTED = re.compile(
    r"\A\W*(?:please\W+)?(?:list|show)(?: me)?(?: all)?(?: the| our)? (?P<what>[\w ]+?) by\s+(?P<by>\w+)\W*\Z",
    re.IGNORECASE,
)
"""Rows by a figure of theirs, as "list the products by price"."""


def date_column(table: Table, text: str = "") -> str | None:
    """The column that tells when; of several the one that `text` speaks of, as "closed" does."""
    dated = [column for column in table.columns if table.dated(column)]
    named = [
        column
        for column in table.columns
        if set(words_of(column)) & {"date", "month", "day", "timestamp"}
        and not (column in table.texts and _is_word(table.ranges.get(column, ("", "", ""))[1]))
    ]
    spoken_of = [column for column in dated if set(words_of(column)) & set(stems(text)) - DATES]
    return next(iter(spoken_of + dated + named), None)


def _is_word(value: str) -> bool:
    """Whether a time is told in letters, as "Jul": it is a name then, and nothing to reckon with."""
    return value[:1].isalpha()


def default_measure(table: Table) -> str | None:
    """The column one means when one names none: money first, else the last that can be summed."""
    numeric = [c for c in table.columns if table.numeric(c) and not identifies(c)]
    for name in MONEY:
        for column in numeric:
            if name in stems(column):
                return column
    return numeric[-1] if numeric else None


def identifies(column: str) -> bool:
    """Whether a column names or dates a row rather than measuring something, as "days taken" does."""
    said = {stem(word) for word in tokens(column) if not re.fullmatch("(?:day|month|year)s", word)}
    return bool(
        {*words_of(column)} & said & {"id", "year", "month", "day", "no", "number", "zip", "code"}
    )


def has_row_for_each(kinds: Collection[str], table: Table) -> bool:
    """Whether each row is of another one of these, as of a person."""
    return any(
        {*stems(column)} & {*kinds} and table.ranges.get(column, ("",))[0] == str(table.total)
        for column in table.texts
    )


def empty_among(columns: Iterable[str | None], table: Table) -> str:
    """The first of some columns that holds nothing; "" when all hold something."""
    found = (each for each in columns if each and table.ranges.get(each, ("1",))[0] == "0")
    return next(found, "")


OFTEN_ASKED = (
    "profit margin", "profit", "margin", "cost", "discount", "tax", "salary", "headcount", "salesperson",
    "salespeople", "sales rep", "seller", "customer", "client", "country", "city", "age", "gender", "department",
    "supplier", "category", "budget", "target", "rating", "currency",
)  # fmt: skip
"""What people ask of tables, which one of them may not have."""


def missing(text: str, table: Table) -> str:
    """What a question asks for and no column holds; "" when nothing is missing."""
    for noun in OFTEN_ASKED:
        match = re.search(rf"\b{noun}s?\b", text, re.IGNORECASE)
        known = {table.source.lower(), *(value.lower() for value in table.values)}
        if match is None or any(match[0].lower() in each for each in known):
            continue
        if not any(columns_named(word, table) for word in noun.split()):
            return noun
    return ""


def tell_missing(found: Findings, table: Table, noun: str) -> None:
    """Say what there is instead."""
    names = listed([f"`{name}`" for name in table.columns])
    found.summary = (
        f"{table.source} has no column for **{noun}**, so I cannot tell. It has {names}."
    )
    found.sources.clear()  # it rests on none


def column_listed(text: str, table: Table) -> str:
    """The column of text of which the few values are to be named; "" when none is."""
    asked = re.fullmatch(
        r"\W*(?:list|show|name|what|which|give)(?: me| us| are| is| were)*(?: all| of)*(?: the| our| different)*"
        r" (\w+)(?: (?:are there|do we have|do you see|exist|is there|are in.*|in .*))?\W*",
        text,
        re.IGNORECASE,
    )
    named = columns_named(asked[1].lower(), table)[:1] if asked else []
    return named[0] if named and table.listed.get(named[0]) and named[0] in table.texts else ""


def columns_beside(text: str, table: Table) -> tuple[str, ...]:
    """The columns that rows are to be told with, as in "orders with customer name"."""
    said = re.search(r"\b(?:with|including|and) (?:the |their |its )?(.+)", text, re.IGNORECASE)
    words = tokens(said[1]) if said else []
    named = (column for word in words for column in columns_named(word, table)[:1])
    return tuple(dict.fromkeys(named))


def text_to_add_up(text: str, table: Table) -> str:
    """The column of text that a total or average is asked of; "" when there is none."""
    asked = re.search(
        r"\b(?:total|sum of|sum|average|mean|median)(?: of)?(?: the)? ([a-z_]+)",
        text,
        re.IGNORECASE,
    )
    columns = columns_named(asked[1].lower(), table) if asked else []
    return (
        columns[0]
        if columns
        and columns[0] in table.texts
        and stems(columns[0]) == stems(asked[1] if asked else "")
        else ""
    )


def other_word(text: str, column: str) -> str:
    """What the question calls a column that it does not name; "" when it names it, or means it only."""
    pieces = stems(column)
    if set(pieces) & set(stems(text)):
        return ""
    return next((t for t in tokens(text) if any(related(stem(t), piece) for piece in pieces)), "")
