"""Which table a question goes on with, where a database was asked before."""

from __future__ import annotations

from dataclasses import replace

from . import wording
from .answered import answered_from
from .asking import THEIRS
from .bounding import first_noun
from .columns import MONEY, default_measure
from .counting import counted_noun
from .following import follows_up, leans
from .outputs import Table, parse_tables
from .placing import SOLD
from .queries import with_seen_values
from .query import Query, understand
from .schemas import Listed, Section, joined
from .view import View
from .words import has, stem, stems


def was_asked(view: View) -> bool:
    """Whether the last figures came from a database."""
    asked = (step.tool for step in view.steps)
    reads = ("query_database", "query_table", "read_file")
    told = {each["title"] for each in view.last_answer.get("sources") or []}
    return next((tool for tool in asked if tool in reads), "") == "query_database" and not (
        told & _files(view)  # an answer that took no new query
    )


def _files(view: View) -> set[str]:
    """What the tables are called that were read from files."""
    read = (step.output or "" for step in view.steps if step.tool == "read_file")
    return {table.source for output in read for table in parse_tables(output)}


def known(view: View, table: Table) -> Table:
    """A table with the values that earlier results showed."""
    return with_seen_values(view, replace(table, header=list(table.columns)))


def gone_on_with(view: View, sections: list[Section]) -> tuple[Section, Listed] | None:
    """The table that was asked last, where the question goes on with that one."""
    if not was_asked(view):
        return None
    for turn in reversed(view.turns[:-1]):
        for section in sections:
            for listed in section[2]:
                if not answered_from(turn, source_of(section[0], listed).__eq__):
                    continue
                table = known(view, joined(listed, section[2])[0])
                asked = understand(view.text, table)
                on = leans(view.text, asked) and not _of_another(
                    view.text, asked, listed, section[2]
                )
                theirs = _of_theirs(view.text, listed, section[2]) if on else None
                return (section, theirs) if theirs else None
    return None


def _of_another(question: str, asked: Query, listed: Listed, tables: list[Listed]) -> bool:
    """Whether a whole question is of the records of another table, as "which customers joined in 2025"."""
    noun = first_noun(question)
    figure = asked.measure or asked.aggregate or asked.descending is not None or has(question, SOLD)
    theirs = has(question, rf"{THEIRS}|ones?|it|that")
    whole = asked.filters and not (follows_up(question) or figure or theirs)
    return bool(whole) and any(
        noun == each.table.source.lower() for each in tables if each is not listed
    )


def _of_theirs(question: str, listed: Listed, tables: list[Listed]) -> Listed | None:
    """The table, or the one that refers to it and has what is asked for: "their revenue", "how many
    orders did they make"; None where the question counts what neither holds."""
    new = understand(question, joined(listed, tables)[0])
    noun = stems(counted_noun(question) or new.noun)[-1:]
    counted = next((each for each in tables if stems(each.table.source)[-1:] == noun), None)
    if counted is listed or (new.measure and counted is None):
        return listed
    own = listed.table.source
    refers = [each for each in tables if own in {to for to, _ in each.links.values()}]
    by_them = not has(question, "how many|number of|count") and any(
        stem(each) == noun[0] for each in new.groups
    )
    if counted and by_them:  # "which customers?", of tickets
        return listed
    if counted:
        return counted if counted in refers else None
    of_money = {*stems(default_measure(listed.table) or "")} & {*MONEY}
    paid = has(question, f"how much|{SOLD}") and not of_money
    return next(
        (
            each
            for each in refers
            if understand(question, each.table).measure or (paid and default_measure(each.table))
        ),
        listed,
    )


def source_of(name: str, listed: Listed) -> str:
    """The title of the source of an answer from a table."""
    return f"{name} · {listed.table.source}"


def keeps_other_times(view: View, name: str, table: Table, query: Query) -> bool:
    """Whether times of a question of another table are kept, as of when customers joined: here they
    would be of something else."""
    own = understand(wording.in_full(view), table).filters
    kept = [each for each in query.filters if ":" in (each.column or "") and each not in own]
    dates = {each.column.partition(":")[2] for each in query.filters if each.column}
    if kept and len(dates - {""}) > 1:
        return True  # as "opened in May" after "closed in May"
    elsewhere = view.turns[1:] and not answered_from(
        view.turns[-2], f"{name} · {table.source}".__eq__
    )
    return bool(kept and elsewhere)
