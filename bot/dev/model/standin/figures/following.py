"""What a question asks after those before it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ..conversation import COMPLETE, Turn
from ..outputs import Table, parse_tables
from ..view import View
from .columns import date_column, identifies
from .declining import DECLINED, Case, why_not
from .grammar import Sentence, understand
from .query import Query


@dataclass(frozen=True)
class Meaning:
    """What a question asks of a table; `wrong` says why it cannot be answered, "" when it can."""

    sentence: Sentence
    query: Query
    before: Query | None
    """What the question before asked of the same table."""
    wrong: str = ""
    passes_over: bool = False
    """Whether it goes on with the question before one that was declined."""


def meaning_of(view: View, table: Table, is_source: Callable[[str], bool]) -> Meaning:
    """What this turn asks, where `is_source` tells the answers that were from this table by the titles of
    their sources."""
    known = with_seen_values(view, table)
    sentence = understand(view.text, known, view.turn.day)
    own = sentence.query
    before = _before(view, known, is_source, is_form=own.silent and not sentence.lost)
    leans = before is not None and (sentence.leans or own.silent) and not view.turn.files
    if leans and before:
        own = before.then(own)
        sentence = sentence.within(own)
    query = with_an_axis(own, known)
    after_declined = bool(view.turns[1:]) and was_declined(view.turns[-2])
    said = view.text.strip(" ?.!")
    wrong = why_not(Case(said, table, sentence, query, before, after_declined))
    return Meaning(sentence, query, before, wrong, passes_over=bool(after_declined and before))


def _before(
    view: View, table: Table, is_source: Callable[[str], bool], *, is_form: bool
) -> Query | None:
    """What the questions before came to; None where the last of them was not answered, and more is
    asked for than another form of what was."""
    query: Query | None = None
    told: Query | None = None  # before what was declined
    for turn in view.turns[:-1]:
        if was_declined(turn):
            query, told = None, query or told
        elif answered_from(turn, is_source):
            sentence = understand(turn.text, table, turn.day)
            own = sentence.query
            base = query or (told if own.silent else None)
            leans = base and (sentence.leans or own.silent) and not turn.files
            if not sentence.lost:  # "shorter" is answered from there too, and asks for no figure
                query = base.then(own) if base and leans else own
    return query or (told if is_form else None)


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
