"""The query of a turn: its own, or the one before it as it changes that."""

from __future__ import annotations

from dataclasses import replace

from . import unheard, wording
from .answered import answered_from, was_declined
from .asking import THEIRS
from .columns import date_column, identifies
from .conversation import Turn
from .following import Asked, follows_up, leans, understand_all
from .outputs import Table, parse_tables
from .query import Query, understand
from .view import View
from .words import has, spelled, tokens

_SPELLED = "total average highest lowest month quarter chart most count median which best sold"
SPELLED = _SPELLED.split()


def query_of(view: View, table: Table) -> Query:
    """The query of this turn; a follow-up changes the one before it."""
    known = with_seen_values(view, table)
    about = [
        turn
        for turn in view.turns
        if turn is view.turn or answered_from(turn, lambda title: title == table.source)
    ]
    turns = [
        Asked(
            _spelled(wording.understood(turn.text, turn.day), known),
            bool(turn.files) or begins_afresh(view, turn, known),
        )
        for turn in about
    ]
    query = understand_all(turns, known)
    if turns[-1].text != wording.understood(view.text, view.turn.day):
        view.turn.text = turns[-1].text  # so it is read from here on
    return with_an_axis(query, known)


def _spelled(text: str, table: Table) -> str:
    """A question with the words that no rule knows as the table has them."""
    if unknown := unheard.unknown(text, table, understand(text, table)):
        names = [word for each in (*table.columns, *table.values) for word in tokens(each)]
        return spelled(text, unknown, [*names, *SPELLED])
    return text


def begins_afresh(view: View, turn: Turn, table: Table) -> bool:
    """Whether a question keeps nothing of those before: it says so, or has a figure or a name of its own
    after one that was declined."""
    text = wording.understood(turn.text, turn.day)
    own = understand(text, table)
    named = any(":" not in (each.column or "") for each in own.filters)
    whole = not leans(text, own) or (named and not follows_up(text) and not has(text, THEIRS))
    return wording.starts_over(turn.text) or (was_declined(view, turn) and whole)


def with_an_axis(query: Query, table: Table) -> Query:
    """What a chart shows of which nothing was said: the figures over time, or by the first names."""
    if query.chart is None or query.groups or query.period or query.listing:
        return query
    names = [column for column in table.texts if not identifies(column)]
    if date_column(table) and (query.chart == "line" or not names):
        return replace(query, period="month")
    return replace(query, groups=tuple(c for c in names if c != date_column(table))[:1])


def with_seen_values(view: View, table: Table) -> Table:
    """The table, knowing also the values that earlier results showed."""
    rows = list(table.rows)
    for step in view.steps:
        for result in parse_tables(step.output or ""):
            for row in result.rows:
                cells = dict(zip(result.header, row, strict=False))
                rows.append([cells.get(column, "") for column in table.header])
    return replace(table, rows=rows)
