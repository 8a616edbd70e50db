"""What the answers before were: from which source, declined, or the same once more."""

from __future__ import annotations

from collections.abc import Callable

from .asking import SHARE
from .conversation import COMPLETE, Turn
from .findings import Findings
from .query import Query
from .view import View
from .words import has


def adds_nothing(view: View, found: Findings, own: Query) -> bool:
    """Whether a follow-up got the answer before once more, though something else was asked: what it
    says itself, `own`, is nothing that can be told apart."""
    last = view.last_answer
    same = last.get("summary") == found.summary and last.get("table") == found.table
    text = view.text
    named = own.filters and own.aggregate
    bare = not (own.groups or own.period or named or (own.measure and not own.sort))
    if (
        not (same and bare)
        or found.charts
        or has(text, f"{SHARE}|again|same|repeat|table|list|summar\\w+")
    ):
        return False
    return text.lower() not in (turn.text.lower() for turn in view.turns[:-1])


def was_declined(view: View, turn: Turn) -> bool:
    """Whether the question before this turn was, which people mean by what goes on."""
    place = next(n for n, each in enumerate(view.turns) if each is turn)
    before = reversed(view.turns[place - 1].steps if place else ())
    last = next((step for step in before if step.tool == COMPLETE), None)
    said = str(last.arguments.get("summary")) if last else ""
    return said.startswith(("My rules", "The question before was not answered"))


def goes_on_unanswered(view: View, own: Query, query: Query) -> bool:
    """Whether a question keeps something of those before though the last of them was declined."""
    kept = (query.filters, query.groups, query.period) != (own.filters, own.groups, own.period)
    return was_declined(view, view.turn) and kept


def answered_from(turn: Turn, is_source: Callable[[str], bool]) -> bool:
    """Whether a turn was answered from a source, by its title, as far as its answer names sources."""
    last = next((step for step in reversed(turn.steps) if step.tool == COMPLETE), None)
    sources = last.arguments.get("sources") if last else []
    return sources is None or any(is_source(each["title"]) for each in sources)
