"""Questions to configured databases: list, choose a table and what it refers to, query."""

from __future__ import annotations

import re
from dataclasses import replace

from . import data, referring, talk, unheard, wording
from .answered import answered_from
from .asking import DOWN, SHARE, THEIRS, UP
from .columns import missing, tell_missing
from .continuing import gone_on_with, keeps_other_times, known, source_of, was_asked
from .findings import Findings
from .following import Asked, follows_up, understand_all
from .naming import lookup, unknown_words
from .outputs import Table, failed, parse_tables, reason
from .placing import SOLD, fitting, is_named, is_of, with_figures
from .queries import begins_afresh, with_an_axis
from .query import Query, understand
from .reading import read_on
from .schemas import Listed, Section, joined, sections_of
from .shaping import follow_ups, rows_shown
from .sql import WORDS, quoted, write
from .telling import tell
from .view import View
from .words import has, stems
from .words import listed as listed_words

DATABASE = r"database|databases|db|sql"
OVERVIEW = (
    r"(?:which|what|list|show)(?: me)?(?: all)?(?: the| your)? (?:tables|databases|schema)|schema|(?:which|what) data (?:can|do) you|what (?:can|could) (?:you|u|i|we) (?:do|ask|find out|get)\b.* (?:database|db)|"
    r"(?:what|describe)(?:'s| is| are)?(?: there)? (?:in |inside )?(?:the|your|this) (?:database|db)"
)
WRITTEN = re.compile(r"\bSELECT\b.+\bFROM\b.+|^\W*(?i:select\b.+\bfrom\b.+)", re.DOTALL)
WHOSE = re.compile(rf"\b(?:{THEIRS}|(?:does|did) it (?!take|mean)|has it)\b", re.IGNORECASE)
RECORDS = rf"(?:which|what|who|how many|list|show|{DOWN}|{UP})\b.*\b(?:customers?|orders?|tickets?|products?)"
TALKED = r"threads?|channels?|messages?|files?|said|says?|mention\w*|discuss\w*|decided?|decisions?|agreed?|here"
FIGURES = rf"{SOLD}|amounts?|quantity|money|did we (?:make|earn)|how many|total|average|mean|median|top|most|revenue|sales|customers?|orders?|tickets?|schema|tables|per|by month"


def answer(view: View, found: Findings) -> None:
    """Ask the database whose tables fit the words of the question."""
    referring.name_all(view)
    listing = view.do(
        "list_databases", "I look at what databases there are.", also=("query_database",)
    )
    sections = sections_of(listing)
    if failed(listing) or not sections:
        found.summary = "No database could be asked."
        found.lower(reason(listing), "low")
        return
    if has(view.text, OVERVIEW):
        _overview(found, sections)
        return
    if sql := WRITTEN.search(view.text):
        _run(view, found, sections[0][0], sql[0].rstrip("` ;\n"))
        return
    whole, view.turn.text = view.text, data.SECOND.sub("", view.text)
    before = gone_on_with(view, sections)
    if before and not _is_of_another(view, *before):
        section, listed = before
        _ask(view, found, section[0], listed, section[2], lite=section[1])
    else:
        _ask_fitting(view, found, sections)
    data.tell_second_questions(found, whole)


def _is_of_another(view: View, section: Section, listed: Listed) -> bool:
    """Whether the table that was asked last lacks what another has: "revenue by region", after tickets."""
    text = wording.in_full(view)

    def is_known(each: Listed) -> bool:
        table = known(view, joined(each, section[2])[0])
        own = understand(text, table)
        unplaced = any(each.column is None for each in own.filters)
        return not (unplaced or unheard.left(text, table, own))

    return not is_known(listed) and any(is_known(each) for each in section[2] if each is not listed)


def _ask_fitting(view: View, found: Findings, sections: list[Section]) -> None:
    """Ask the table that the question fits best, if it fits any."""
    question = view.text
    (name, lite, tables), named = fitting(question, sections)
    if named is None:
        found.summary = f"The database {name} has no tables I could ask."
        found.lower("No table to ask.", "low")
        return
    listed = with_figures(question, named, tables)
    if not (has(question, DATABASE) or is_named(question, tables) or was_asked(view)):
        if is_of(question, listed, tables):
            found.lower("You named no source, so I asked the database.")
            _ask(view, found, name, listed, tables, lite=lite)
            return
        found.summary = (
            "I am not sure which figures you mean. Attach a file with them, or say “in the database”: that has "
            f"{listed_words([each.table.source for each in tables])}."
        )
        found.follow_ups = ["Which tables are in the database?"]
        return
    if was_asked(view) and (whose := WHOSE.search(view.text)):
        unheard.tell_lost(found, joined(listed, tables)[0], [whose[0].strip()])
        return
    if lacking := missing(view.text, joined(listed, tables)[0]):
        tell_missing(found, joined(listed, tables)[0], lacking)
        return
    _ask(view, found, name, listed, tables, lite=lite)


def is_asked(view: View) -> bool:
    """Whether a question names a database, or goes on with one that did."""
    if has(
        view.text,
        f"{DATABASE}|(?:which|what|list|show)(?: me)?(?: all)?(?: the)? (?:tables|databases|schema|data (?:can|do))",
    ) or WRITTEN.search(view.text):
        return True
    if not view.knows("list_databases"):
        return False
    if has(view.text, RECORDS) and not (view.files or has(view.text, TALKED)):
        return True
    if talk.is_asked(view):
        return False
    return follows_up(view.text) and was_asked(view) and not _is_of_a_file(view)


def _is_of_a_file(view: View) -> bool:
    return bool(view.files) and has(view.text, r"files?|csv|xlsx|spreadsheets?|attachment")


def is_continued(view: View) -> bool:
    """Whether a question goes on about the database, that was asked last."""
    if view.turn.files or not was_asked(view) or _is_of_a_file(view):
        return False
    if has(view.text, FIGURES):
        return True
    sections = sections_of(view.do("list_databases", "I look at what databases there are."))
    return any(
        not understand(view.text, known(view, joined(each, tables)[0])).silent
        for _, _, tables in sections
        for each in tables
    )


def is_meant(view: View) -> bool:
    """Whether a question that nothing else answers may be one to a database: it asks for figures or
    for records."""
    return view.knows("list_databases") and has(view.text, FIGURES) and not has(view.text, "words")


def _query(view: View, name: str, table: Table) -> Query:
    """The query of this turn; a follow-up changes those that the same database answered."""
    own = f"{name} · {table.source}"
    asked = [
        Asked(
            wording.understood(turn.text, turn.day),
            begins_afresh(view, turn, known(view, table)),
            elsewhere=not answered_from(turn, own.__eq__),
        )
        for turn in view.turns[:-1]
        if answered_from(turn, lambda title: title.startswith(f"{name} · "))
    ]
    asked.append(Asked(wording.in_full(view), begins_afresh(view, view.turn, known(view, table))))
    return with_an_axis(understand_all(asked, known(view, table)), table)


def _ask(
    view: View, found: Findings, name: str, listed: Listed, tables: list[Listed], *, lite: bool
) -> None:
    table, of_joined = joined(listed, tables)
    query = _query(view, name, table)
    unknown = unknown_words(wording.in_full(view), known(view, table), query)
    if unknown and (sql := lookup(wording.in_full(view), unknown, table, of_joined)):
        thought = f"I look which of the words are names in {name}."
        view.do("query_database", thought, database=name, sql=sql, purpose="names it holds")
        query = _query(view, name, table)
    if _declined(view, found, listed, query) or _counts_another(found, listed, tables, query):
        return
    if lite and query.aggregate in ("median", "stddev"):
        found.summary = (
            f"{name} is an SQLite database, which works out no {WORDS[query.aggregate].removesuffix(' of the')}. An average, a total, "
            "the highest and the lowest it does."
        )
        return
    if query.noun == "rows":
        query = replace(query, noun=listed.table.source)
    if data.refused(view, found, known(view, table), query):
        return
    if keeps_other_times(view, name, known(view, table), query):
        _tell_not_going_on(view, found)
        return
    is_plain = _is_of_one(listed.table, query)
    of = quoted(listed.table.source) if is_plain else of_joined
    statement = write(query, listed.table if is_plain else table, of=of, lite=lite)
    thought = f"I ask the table {listed.table.source} for the {statement.what}."
    output = view.do(
        "query_database", thought, database=name, sql=statement.sql,
        purpose=statement.purpose,
    )  # fmt: skip
    results = parse_tables(output)
    found.source(source_of(name, listed), None, "The figures of this answer.")
    if not results:
        found.summary = "The query did not work, so there is no figure to give."
        found.lower(reason(output), "low")
        return
    result = read_on(view, found, results[0]) if statement.labels else results[0]
    tell(found, result, statement, query, f"{listed.table.source} in {name}")
    data.present(view, found, result, known(view, table), statement, query)
    follow_ups(found, table, query)


def _declined(view: View, found: Findings, listed: Listed, query: Query) -> bool:
    """Whether it is not clear what a question goes on with, or whom it speaks of."""
    all_rows = not (query.filters or query.groups or query.aggregate or query.measure)
    of_whom = all_rows and WHOSE.search(view.text)
    shares = has(view.text, SHARE) and len(view.turns) > 1
    if not (of_whom or (query.silent and not is_named(view.text, [listed]) and not shares)):
        return False
    found.puzzled(database=view.knows("list_databases"))
    if view.turns[:-1]:
        _tell_not_going_on(view, found)
    found.confidence = "low"
    return True


def _tell_not_going_on(view: View, found: Findings) -> None:
    found.summary = (
        f"My rules do not know how “{view.text.strip(' ?')}” goes on with the question before. Ask it with all that "
        "it is about, please."
    )
    found.follow_ups = []


def _counts_another(found: Findings, listed: Listed, tables: list[Listed], query: Query) -> bool:
    """Whether the records of another table are counted, which is said: these would go by their name."""
    noun = stems(query.noun)[-1:]
    others = (each for each in tables if each is not listed)
    if query.aggregate != "count" or stems(listed.table.source)[-1:] == noun:
        return False
    if not any(stems(each.table.source)[-1:] == noun for each in others):
        return False
    found.summary = f"My rules cannot tell how many {query.noun} that are. Ask it as a question of its own, please."
    found.confidence = "low"
    return True


def _is_of_one(table: Table, query: Query) -> bool:
    """Whether all that is asked stands in this table: it need not be joined with others then."""
    named = {*query.groups, *query.beside, query.measure, *(f.column for f in query.filters)}
    anywhere = any(each.column is None for each in query.filters)
    return not anywhere and named - {None} <= {*table.columns}


def _run(view: View, found: Findings, name: str, sql: str) -> None:
    """A statement that the person wrote."""
    output = view.do("query_database", "I run this statement.", database=name, sql=sql, limit=50)
    results = parse_tables(output)
    if not results:
        found.summary = "The statement did not work."
        found.lower(reason(output), "low")
        return
    rows = results[0].rows
    if len(rows) == 1 == len(rows[0]):
        found.summary = f"The statement gives **{rows[0][0]}**."
        found.source(f"Database {name}", None, "The figure.")
        return
    found.summary = f"The statement gives {'one row' if len(rows) == 1 else f'{len(rows)} rows'}:"
    found.caption, found.columns, found.rows = (
        "Result",
        results[0].header,
        rows_shown(results[0].header, rows[:20]),
    )
    found.source(f"Database {name}", None, "The rows.")


def _overview(found: Findings, sections: list[Section]) -> None:
    names = listed_words([f"**{name}**" for name, _, _ in sections])
    number = "One database is" if len(sections) == 1 else f"{len(sections)} databases are"
    found.summary = (
        f"{number} set up: {names}. These are its tables:"
        if len(sections) == 1
        else f"{number} set up: {names}."
    )
    for name, _, tables in sections:
        place = f"{name}, " if len(sections) > 1 else ""
        found.points += [
            f"{place}**{each.table.source}**: {', '.join(each.table.columns)}" for each in tables
        ]
        found.source(f"Database {name}", None, "Its tables and columns.")
    first = max(sections[0][2], key=lambda each: len(each.links), default=None)
    if first:
        found.follow_ups = [
            f"How many {first.table.source} are in the database?",
            "In the database, what is the revenue by region?",
        ]
