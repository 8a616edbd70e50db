"""Words of a question that a database may hold as names: looked up before they are given up."""

from __future__ import annotations

from . import unheard
from .outputs import Table
from .query import Query
from .sql import literal, quoted
from .words import STOP, singular, tokens

MOST_WORDS, LONGEST, SHORTEST = 8, 3, 4


def lookup(text: str, unknown: list[str], table: Table, of: str) -> str:
    """The statement that finds which of the unknown words stand in a column of texts, alone or with
    their neighbours; "" where there is nothing to look up."""
    names = _names(tokens(text), unknown)
    if not names or not table.texts or len(unknown) > MOST_WORDS:
        return ""
    listed = ", ".join(map(literal, sorted(names)))
    ends = [f"% {each}" for each in sorted(names) if " " not in each and len(each) >= SHORTEST]
    found = " UNION ".join(_of_column(column, table.texts, listed, ends) for column in table.texts)
    return f'WITH "every" AS (SELECT * FROM {of}) {found}'  # noqa: S608 - every name is quoted


def unknown_words(text: str, table: Table, query: Query) -> list[str]:
    """The words that no rule knows, and those taken for names of which no column is known."""
    unplaced = (value for each in query.filters if each.column is None for value in each.values)
    return [*unheard.left(text, table, query), *tokens(" ".join(unplaced))]


def _names(words: list[str], unknown: list[str]) -> set[str]:
    pieces = (
        words[start : start + length]
        for length in range(1, LONGEST + 1)
        for start in range(len(words) - length + 1)
    )
    tried = [each for each in pieces if {*each} & {*unknown} and not {each[0], each[-1]} & STOP]
    whole = {" ".join(each) for each in tried}
    return whole | {" ".join([*each[:-1], singular(each[-1])]) for each in tried}


def _of_column(column: str, columns: list[str], names: str, ends: list[str]) -> str:
    """Where a column holds one of the names, or ends in it: "chairs" for "Office chair"."""
    cells = ", ".join(
        f"{quoted(each) if each == column else 'NULL'} AS {quoted(each)}" for each in columns
    )
    cell = f"lower({quoted(column)})"
    tests = " OR ".join([f"{cell} IN ({names})", *(f"{cell} LIKE {literal(end)}" for end in ends)])
    return f'SELECT {cells} FROM "every" WHERE {tests}'  # noqa: S608 - as above
