"""Questions that lean on those before: what they keep of these, and what they change."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from .asking import COMPARE, CORRECTS, FOLLOW_UP, LEANS, SHARE, WHOLE
from .outputs import Table
from .query import Query, understand
from .words import has, tokens


def follows_up(text: str) -> bool:
    """Whether a question leans on the one before: it says so, or is a fragment."""
    if re.search(FOLLOW_UP, text, re.IGNORECASE) or has(text, LEANS):
        return True
    return len(tokens(text)) <= 4 and not re.match(WHOLE, text, re.IGNORECASE)


def understand_all(turns: Iterable[tuple[str, bool]], table: Table) -> Query:
    """The query of the last of several questions, each with whether it starts afresh whatever it
    says; a follow-up changes the one before it."""
    query = Query()
    for text, afresh in turns:
        new = understand(text, table)
        leans = not afresh and (follows_up(text) or is_form_only(new))
        is_same = new.silent and has(text, "same")  # in another form, its chart as well
        if leans and (is_same or re.match(CORRECTS, text, re.IGNORECASE)):
            new = replace(new, chart=new.chart or query.chart)
        if leans and has(text, COMPARE):
            new = _beside(query, new)
        if leans and new.silent and not has(text, f"{SHARE}|again|same|that|it"):
            query = new
        else:
            query = query.then(new) if leans else new
    return query


def is_form_only(new: Query) -> bool:
    """Whether a question says how to show it and nothing of what."""
    return new.chart is not None and replace(new, chart=None).silent


def _together(values: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    """Both, each once; months and years as they follow each other."""
    both = tuple(dict.fromkeys((*values, *more)))
    return tuple(sorted(both, key=int)) if all(each.isdigit() for each in both) else both


def _beside(old: Query, new: Query) -> Query:
    """What is compared with what was asked before: its times or values beside those."""
    for each in new.filters:
        before = next((f for f in old.filters if f.column == each.column), None)
        if before is None or each.column is None or each.operator != "in":
            continue
        both = replace(each, values=_together(before.values, each.values))
        filters = tuple(both if f is each else f for f in new.filters)
        kind, dated, _ = each.column.partition(":")
        if dated:
            return replace(new, filters=filters, period=kind)
        return replace(new, filters=filters, groups=(each.column,))
    return new
