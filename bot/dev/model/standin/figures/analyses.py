"""Questions about a table that no single grouped query answers, in a table of their own."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..findings import Findings
from ..outputs import Table, failed, parse_tables, reason
from ..phrasing import IT, phrase
from ..view import View
from ..words import listed, shown
from .columns import date_column, default_measure, identifies
from .query import Query
from .shaping import describe
from .sql import quoted, write
from .telling import tell

Analysis = Callable[[View, Findings, Table], None]


def fitting(text: str) -> Analysis | None:
    """The analysis that the whole of a question asks for."""
    return next((each for pattern, each in TABLE if pattern.fullmatch(text)), None)


def _columns(_: View, found: Findings, table: Table) -> None:
    names = listed([f"`{name}`" for name in table.columns])
    found.summary = f"{table.source} has **{len(table.columns)} columns**: {names}."
    for name in table.columns:
        distinct, low, high = table.ranges.get(name, ("", "", ""))
        if low:
            found.points.append(
                f"`{name}`: {shown(low)} to {shown(high)}, {distinct} different values"
            )


def _unchanged(_: View, found: Findings, table: Table) -> None:
    found.summary = (
        f"I read files and never change them, so {table.source} stays as it is. I can make a new one of what "
        "you ask for, as in “revenue by region as CSV”."
    )


def _duplicates(view: View, found: Findings, table: Table) -> None:
    output = view.do(
        "find_duplicates", "I look for rows that are the same.", handle=table.handle, columns=list(table.columns)
    )  # fmt: skip
    if failed(output):
        found.summary = "I could not look for duplicates."
        found.lower(reason(output), "low")
        return
    rows = next((each.rows for each in parse_tables(output)), [])
    if not rows:
        found.summary = f"No: none of the {table.total:,} rows of {table.source} is there twice."
        return
    number_of = "One row is" if len(rows) == 1 else f"{len(rows)} rows are"
    found.summary = f"Yes: **{number_of}** there more than once."
    found.caption, found.columns = "Rows that repeat", [*table.columns, "times"]
    found.rows = rows[:20]


def _missing(view: View, found: Findings, table: Table) -> None:
    parts = ", ".join(
        f"count(*) - count({quoted(name)}) AS {quoted(name)}" for name in table.columns
    )
    sql = f"SELECT {parts} FROM {quoted(table.handle)}"  # noqa: S608 - every name is quoted
    output = view.do(
        "query_table", "I count the empty cells with SQL.", sql=sql, handles=[table.handle], purpose="empty cells"
    )  # fmt: skip
    results = parse_tables(output)
    if not results or not results[0].rows:
        found.summary = "The empty cells could not be counted."
        found.lower(reason(output), "low")
        return
    counts = zip(results[0].header, results[0].rows[0], strict=True)
    empty = {name: count for name, count in counts if count != "0"}
    if not empty:
        found.summary = f"No: every cell of the {table.total:,} rows of {table.source} is filled."
        return
    told = [
        f"`{name}` is empty in **{count}** of {table.total:,} rows" for name, count in empty.items()
    ]
    found.summary = f"Yes: {listed(told)}."


def _overview(view: View, found: Findings, table: Table) -> None:
    """The whole, its course, and who leads: what one looks at first."""
    measure = default_measure(table)
    groups = [c for c in table.texts if not identifies(c) and c != date_column(table)][:2]
    aggregate = "count" if measure is None else None
    parts = [Query(measure=measure, aggregate=aggregate, groups=(group,)) for group in groups]
    if date_column(table):
        parts.insert(0, Query(measure=measure, aggregate=aggregate, period="month"))
    if not parts:
        describe(found, table)
        return
    first, *others = [_told(view, table, query) for query in parts]
    found.summary = f"{table.source} holds **{table.total:,} rows**. {first.summary}"
    found.points = [part.summary for part in others]
    found.caption, found.columns, found.rows = first.caption, first.columns, first.rows


def _told(view: View, table: Table, query: Query) -> Findings:
    statement, part = write(query, table, of=quoted(table.handle)), Findings()
    output = view.do(
        "query_table", f"I work out the {statement.what}{statement.by} with SQL.", sql=statement.sql,
        handles=[table.handle], purpose=statement.purpose,
    )  # fmt: skip
    for result in parse_tables(output)[:1]:
        tell(part, result, statement, query, table.source)
    return part


_ANY = r"(?:(?:are|is) there |do (?:we|you) (?:have|see) |does it have |(?:find|look for|check for|give me) )?(?:any |an? |the |some )?"
_OF = rf"(?: (?:are )?there)?(?: (?:in|of|from|for|about) {IT})?"
TABLE: tuple[tuple[re.Pattern[str], Analysis], ...] = (
    (phrase(rf"(?:(?:which|what|list)(?: are)?(?: all)?(?: the)? )?(?:columns|column names|headers?)(?: are there| does it have| do you see)?{_OF}"), _columns),
    (phrase(rf"{_ANY}(?:duplicates?|duplicated? rows){_OF}"), _duplicates),
    (phrase(rf"{_ANY}(?:missing|empty|blank) (?:values?|cells?|data|entries){_OF}|is (?:anything|something) missing{_OF}"), _missing),
    (phrase(r"(?:delete|remove|drop|change|edit|update|rename|erase|insert|overwrite|fix|add)\b.*\b(?:rows?|columns?|file|cells?|entry|entries|values?|table)\b.*"), _unchanged),
    (phrase(rf"{_ANY}(?:key |main |most )?(?:insights?|highlights?|takeaways?|key figures|analysis|report){_OF}|analy[sz]e(?: {IT})?|what stands out{_OF}"), _overview),
)  # fmt: skip
"""What is asked for; the first that fits."""
