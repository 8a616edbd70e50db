"""Why a question about a table is not answered: each check says it in a sentence, or nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..outputs import Table
from ..words import listed, stems
from .columns import date_column, default_measure, is_of_one, words_of
from .grammar import Sentence
from .patterns import HIGH, LOW
from .query import Query
from .scoping import COMPARED

DECLINED = "My rules"
"""How each answer begins that declines a question."""
MOST_LABELS = 2
ORDERS = frozenset(("post", "send", "email", "mail", "schedule", "remind", "forward"))


@dataclass(frozen=True, slots=True)
class Case:
    """A question, as it was said and understood, what it comes to after the one `before` it, and
    whether that was declined."""

    said: str
    table: Table
    sentence: Sentence
    query: Query
    before: Query | None
    after_declined: bool

    @property
    def columns(self) -> str:
        """What there is to ask for."""
        own = (name for name in self.table.columns if name not in self.table.joined)
        owner = self.table.source if self.table.handle else f"The table {self.table.source}"
        return f"{owner} has {listed([f'`{name}`' for name in own])}"


def why_not(case: Case) -> str:
    """The first reason not to answer; "" where there is none."""
    reasons = (check(case) for check in CHECKS)
    return next((f"{DECLINED} {reason}" for reason in reasons if reason), "")


def _unknown_words(case: Case) -> str:
    words = listed([f"“{word}”" for word in dict.fromkeys(case.sentence.unknown)])
    undone = (
        " Nothing was posted or sent." if ORDERS & {*map(str.lower, case.sentence.unknown)} else ""
    )
    return words and f"do not know {words}, so I cannot tell.{undone} {case.columns}."


def _figure_of_text(case: Case) -> str:
    lost = case.sentence.lost
    ranks = any(re.fullmatch(f"{HIGH}|{LOW}", word.lower()) for word in lost)
    ranks = ranks or case.query.descending is not None
    if case.query.aggregate in (None, "count") and not ranks:
        return ""
    said = [stems(word) for word in lost]
    found = (each for each in case.table.texts if words_of(each) in said or stems(each) in said)
    column = next(found, "")
    return (
        column
        and f"work out no sum, average or highest of `{column}`: it holds text, not only numbers."
    )


def _lost_words(case: Case) -> str:
    if not case.sentence.lost:
        return ""
    return (
        f"do not understand “{case.said}” as it is put. {case.columns}: ask for a figure of it by one of its "
        "columns, a time or a name."
    )


def _goes_on_with_nothing(case: Case) -> str:
    """A part of a question, where none was answered before; of one table alone it may be whole."""
    query, sentence = case.query, case.sentence
    is_one_of_several = case.table.handle == ""
    whole = query.measure or (not is_one_of_several and (query.told_by or query.listing))
    is_part = sentence.leans and not (case.before or sentence.headed)
    if query.silent or (is_part and (case.after_declined or not whole)):
        return f"cannot tell what “{case.said}” goes on with. Ask it with all that it is about."
    return ""


def _before_nothing(case: Case) -> str:
    back = case.query.back
    return back and f"cannot tell before which {back} this is to be: name the one you mean."


def _changes_nothing(case: Case) -> str:
    query, before = case.query, case.before
    same = before and query.plain == before.plain and query.plain == query
    if not (same and case.sentence.leans):
        return ""
    return f"find nothing in “{case.said}” that changes the question before, so its answer would only come again."


def _ranks_one_figure(case: Case) -> str:
    query = case.query
    ranks = query.descending is not None or query.having
    alone = not (query.told_by or query.listing)
    return "cannot rank or bound a single figure." if ranks and alone else ""


def _no_figure(case: Case) -> str:
    query = case.query
    works_out = query.aggregate not in (None, "count")
    if works_out and not (query.measure or default_measure(case.table)):
        return f"cannot tell which figure is meant. {case.columns}."
    return ""


def _adds_up_pieces(case: Case) -> str:
    figures = ((case.query.aggregate, case.query.measure), *case.query.more)
    added = [name for aggregate, name in figures if name and aggregate == "sum"]
    of_one = next(filter(is_of_one, added), "")
    return of_one and f"cannot add up `{of_one}`, which is of one piece only."


def _unclear_bound(case: Case) -> str:
    """A bound may be meant of the figures that were told, or of the rows that they are of."""
    query, own = case.query, case.sentence.query
    bounds = (each.column for each in own.filters if each.operator in COMPARED)
    beside = any(query.having or name == own.measure for name in bounds)
    either = beside and query.told_by and not own.told_by
    return "do not know what is bounded." if either or (query.having and query.listing) else ""


def _too_many_labels(case: Case) -> str:
    query = case.query
    if query.told_by > 1 and (query.limit or query.having or query.shares):
        return "tell the first few, bounds and shares of one thing only."
    return "tell figures by two things at most." if query.told_by > MOST_LABELS else ""


def _other_dates(case: Case) -> str:
    """Figures go on in time by the first column of dates only."""
    column = date_column(case.table)
    if not case.query.period:
        return ""
    if column is None:
        return f"find no dates in {case.table.source}."
    dates = {each.of for each in case.before.filters if each.dated} if case.before else set()
    if not (case.sentence.leans and dates - {column}):
        return ""
    return f"tell what goes on in time by `{column}` only, and the question before was of another date."


def _unsortable(case: Case) -> str:
    query = case.query
    in_time = query.period and query.sort == date_column(case.table)
    sortable = query.listing or in_time or query.sort in (None, *query.groups)
    return "" if sortable else f"cannot sort this by `{query.sort}`."


CHECKS = (
    _unknown_words,
    _figure_of_text,
    _lost_words,
    _goes_on_with_nothing,
    _before_nothing,
    _changes_nothing,
    _ranks_one_figure,
    _no_figure,
    _adds_up_pieces,
    _unclear_bound,
    _too_many_labels,
    _other_dates,
    _unsortable,
)
