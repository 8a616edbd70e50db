"""Words of a question that a table may hold as names: looked up before they are given up."""

from __future__ import annotations

from collections.abc import Sequence

from ..outputs import Table
from ..words import STOP, singular, tokens
from .sql import literal, quoted

MOST_WORDS, LONGEST = 8, 3


def lookup(text: str, unknown: Sequence[str], table: Table, of: str) -> str:
    """The statement that finds which of the unknown words stand in a column of texts the values of which
    are not known, alone or with their neighbours; "" where there is nothing to look up."""
    names = _names(tokens(text), tokens(" ".join(unknown)))
    columns = [column for column in table.texts if not any(table.listed.get(column, ()))]
    if not names or not columns or len(unknown) > MOST_WORDS:
        return ""
    tried = ", ".join(map(literal, sorted(names)))
    found = " UNION ".join(_of_column(column, columns, tried) for column in columns)
    return f'WITH "every" AS (SELECT * FROM {of}) {found}'  # noqa: S608 - every name is quoted


def _names(words: list[str], unknown: list[str]) -> set[str]:
    pieces = (
        words[start : start + length]
        for length in range(1, LONGEST + 1)
        for start in range(len(words) - length + 1)
    )
    tried = [each for each in pieces if {*each} & {*unknown} and not {each[0], each[-1]} & STOP]
    whole = {" ".join(each) for each in tried}
    return whole | {" ".join([*each[:-1], singular(each[-1])]) for each in tried}


def _of_column(column: str, columns: list[str], names: str) -> str:
    cells = ", ".join(
        f"{quoted(each) if each == column else 'NULL'} AS {quoted(each)}" for each in columns
    )
    return f'SELECT {cells} FROM "every" WHERE lower({quoted(column)}) IN ({names})'  # noqa: S608 - as above
