"""What a question asks after those before it, and why it cannot be answered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ..conversation import COMPLETE, Turn
from ..outputs import Table, parse_tables
from ..view import View
from ..words import listed
from .columns import date_column, default_measure, identifies, is_of_one
from .grammar import Sentence, understand
from .query import Query
from .scoping import COMPARED

DECLINED = "My rules"
"""How each answer begins that declines a question."""


@dataclass(frozen=True)
class Meaning:
    """What a question asks of a table; `wrong` says why it cannot be answered, "" when it can."""

    sentence: Sentence
    query: Query
    before: Query | None
    """What the question before asked of the same table."""
    wrong: str = ""


def meaning_of(view: View, table: Table, is_source: Callable[[str], bool]) -> Meaning:
    """What this turn asks, where `is_source` tells the answers that were from this table by the titles of
    their sources."""
    known = with_seen_values(view, table)
    before = _before(view, known, is_source)
    sentence = understand(view.text, known, view.turn.day)
    own = sentence.query
    leans = before is not None and (sentence.leans or own.silent) and not view.turn.files
    query = with_an_axis(before.then(own) if leans and before else own, known)
    meaning = Meaning(sentence, query, before)
    return replace(meaning, wrong=_wrong(view, table, meaning))


def _before(view: View, table: Table, is_source: Callable[[str], bool]) -> Query | None:
    """What the questions before came to; None where the last of them was not answered."""
    query: Query | None = None
    for turn in view.turns[:-1]:
        if was_declined(turn):
            query = None
        elif answered_from(turn, is_source):
            sentence = understand(turn.text, table, turn.day)
            leans = query and (sentence.leans or sentence.query.silent) and not turn.files
            own = sentence.query
            if not sentence.lost:  # "shorter" is answered from there too, and asks for no figure
                query = query.then(own) if query and leans else own
    return query


def _wrong(view: View, table: Table, meaning: Meaning) -> str:
    sentence, query, before = meaning.sentence, meaning.query, meaning.before
    said = view.text.strip(" ?.!")
    names = listed([f"`{name}`" for name in table.columns if name not in table.joined])
    words = listed([f"“{word}”" for word in dict.fromkeys(sentence.unknown)])
    added = [
        name
        for aggregate, name in ((query.aggregate, query.measure), *query.more)
        if name and aggregate == "sum"
    ]
    single = next(filter(is_of_one, added), "")
    own = sentence.query
    bounds = (each.column for each in own.filters if each.operator in COMPARED)
    beside = any(query.having or name == own.measure for name in bounds)
    unclear = beside and query.told_by and not own.told_by  # the figure, or the rows?
    of_one = query.limit or query.having or query.shares
    in_time = query.period and query.sort == date_column(table)
    sortable = query.listing or in_time or query.sort in (None, *query.groups)
    after_declined = bool(view.turns[1:]) and was_declined(view.turns[-2])
    one_of_several = table.handle == ""  # of which none is named
    whole = query.measure or (not one_of_several and (query.told_by or query.listing))
    dates = {each.of for each in before.filters if each.dated} if before else set()
    elsewhere = dates - {date_column(table)}
    reasons = (
        (sentence.unknown, f"do not know {words}, so I cannot tell. {table.source} has {names}."),
        (
            sentence.lost,
            f"do not understand “{said}” as it is put. {table.source} has {names}: ask for a figure of it "
            "by one of its columns, a time or a name.",
        ),
        (
            query.silent
            or (
                sentence.leans and not (before or sentence.headed) and (after_declined or not whole)
            ),
            f"cannot tell what “{said}” goes on with. Ask it with all that it is about.",
        ),
        (
            before and sentence.leans and query.plain == before.plain and query.plain == query,
            f"find nothing in “{said}” that changes the question before, so its answer would only come again.",
        ),
        (
            (query.descending is not None or query.having) and not (query.told_by or query.listing),
            "cannot rank or bound a single figure.",
        ),
        (
            query.aggregate not in (None, "count")
            and not (query.measure or default_measure(table)),
            f"cannot tell which figure is meant. {table.source} has {names}.",
        ),
        (single, f"cannot add up `{single}`, which is of one piece only."),
        (unclear or (query.having and query.listing), "do not know what is bounded."),
        (query.told_by > 1 and of_one, "tell the first few, bounds and shares of one thing only."),
        (query.told_by > 2, "tell figures by two things at most."),
        (
            sentence.leans and query.period and elsewhere,
            f"tell what goes on in time by `{date_column(table)}` only, and the question before was of another date.",
        ),
        (query.period and not date_column(table), f"find no dates in {table.source}."),
        (not sortable, f"cannot sort this by `{query.sort}`."),
    )
    return next((f"{DECLINED} {reason}" for holds, reason in reasons if holds), "")


def with_an_axis(query: Query, table: Table) -> Query:
    """What a chart shows of which nothing was said: the figures over time, or by the first names."""
    if query.chart is None or query.told_by or query.listing or query.silent:
        return query
    names = [c for c in table.texts if not identifies(c) and c != date_column(table)]
    if date_column(table) and (query.chart == "line" or not names):
        return replace(query, period="month")
    return replace(query, groups=tuple(names[:1]))


def with_seen_values(view: View, table: Table) -> Table:
    """The table, knowing also the values that earlier results showed."""
    rows = list(table.rows)
    for step in view.steps:
        for result in parse_tables(step.output or ""):
            for row in result.rows:
                cells = dict(zip(result.header, row, strict=False))
                rows.append([cells.get(column, "") for column in table.columns])
    return replace(
        table, rows=[*_in_order(table), *rows[len(table.rows) :]], header=list(table.columns)
    )


def _in_order(table: Table) -> list[list[str]]:
    """The rows that a table shows, with a cell for each of its columns."""
    cells = (dict(zip(table.header, row, strict=False)) for row in table.rows)
    return [[each.get(column, "") for column in table.columns] for each in cells]


def was_declined(turn: Turn) -> bool:
    """Whether no answer was given to what a turn asked."""
    return str(_answer(turn).get("summary") or "").startswith(DECLINED)


def answered_from(turn: Turn, is_source: Callable[[str], bool]) -> bool:
    """Whether a turn was answered from a source, by its title."""
    return any(map(is_source, sources_of(turn)))


def sources_of(turn: Turn) -> set[str]:
    """The titles of the sources of the answer to a turn."""
    return {each["title"] for each in _answer(turn).get("sources") or []}


def _answer(turn: Turn) -> dict[str, Any]:
    steps = (step for step in reversed(turn.steps) if step.tool == COMPLETE)
    return next((step.arguments for step in steps), {})
