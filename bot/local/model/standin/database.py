"""Questions to configured databases: list, choose a table and what it refers to, query."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from . import data, unheard
from .asking import DOWN, UP
from .columns import MONEY, default_measure, missing, tell_missing
from .findings import Findings
from .outputs import Table, failed, parse_tables, reason
from .query import Query, follows_up, understand, understand_all
from .shaping import follow_ups, rows_shown
from .sql import quoted, write
from .telling import tell
from .view import View
from .words import content, has, overlap, stem, stems
from .words import listed as listed_words

DATABASE = r"database|databases|db|sql"
OVERVIEW = (
    r"(?:which|what|list|show)(?: me)?(?: all)?(?: the| your)? (?:tables|databases|schema)|schema|(?:which|what) data (?:can|do) you|"
    r"(?:what|describe)(?:'s| is| are)?(?: there)? (?:in |inside )?(?:the|your|this) (?:database|db)"
)
WRITTEN = re.compile(r"\bSELECT\b.+\bFROM\b.+", re.DOTALL)
SECTION = re.compile(r"^database: (?P<name>\S+)(?: · (?P<dialect>\w+))?", re.M)
TABLE = re.compile(r"^(?P<name>\w+)\((?P<columns>.*)\)$", re.M)
COLUMN = re.compile(r"(?P<name>\w+) (?P<kind>[^,→]+?)(?: → (?P<table>\w+)\.(?P<key>\w+))?(?:, |$)")
SOLD = r"sells?|sold|selling|buys?|bought|spends?|spent|valuable"
RECORDS = r"(?:which|what|who|how many|list|show)\b.*\b(?:customers?|orders?|tickets?|products?)"
TALKED = r"threads?|channels?|messages?|files?|said|says?|mention\w*|discuss\w*|decided|here"
FIGURES = r"how many|total|average|mean|median|top|most|revenue|sales|customers?|orders?|tickets?|schema|tables|per|by month"


@dataclass(frozen=True)
class Listed:
    """One table of a database, with the columns that refer to others."""

    table: Table
    links: dict[str, tuple[str, str]]


def answer(view: View, found: Findings) -> None:
    """Ask the database whose tables fit the words of the question."""
    listing = view.do(
        "list_databases", "I look at what databases there are.", also=("query_database",)
    )
    sections = _sections(listing)
    if failed(listing) or not sections:
        found.summary = "No database could be asked."
        found.lower(reason(listing), "low")
        return
    question = " ".join(_questions(view))
    if has(question, OVERVIEW):
        _overview(found, sections)
        return
    if sql := WRITTEN.search(view.text):
        _run(view, found, sections[0][0], sql[0].rstrip("` ;\n"))
        return
    name, lite, tables = max(sections, key=lambda each: _section_fits(question, each))
    if not tables:
        found.summary = f"The database {name} has no tables I could ask."
        found.lower("No table to ask.", "low")
        return
    named = max(tables, key=lambda each: _fits(question, each, tables))
    listed = _with_figures(question, named, tables)
    if not has(question, DATABASE) and not _is_named(question, tables):
        found.summary = (
            "I am not sure which figures you mean. Attach a file with them, or say “in the database”: that has "
            f"{listed_words([each.table.source for each in tables])}."
        )
        found.follow_ups = ["Which tables are in the database?"]
        return
    if lacking := missing(view.text, _joined(listed, tables)[0]):
        tell_missing(found, _joined(listed, tables)[0], lacking)
        return
    _ask(view, found, name, listed, tables, lite=lite)


def is_asked(view: View) -> bool:
    """Whether a question names a database, or goes on with one that did."""
    if not view.knows("list_databases"):
        return False
    if has(
        view.text,
        f"{DATABASE}|(?:which|what|list|show)(?: me)?(?: all)?(?: the)? (?:tables|databases|schema|data (?:can|do))",
    ) or WRITTEN.search(view.text):
        return True
    if has(view.text, RECORDS) and not (view.files or has(view.text, TALKED)):
        return True
    asked = (step.tool for step in view.steps)
    last = next(
        (tool for tool in asked if tool in ("query_database", "query_table", "read_file")), ""
    )
    return follows_up(view.text) and last == "query_database"


def is_meant(view: View) -> bool:
    """Whether a question that nothing else answers may be one to a database: it asks for figures or
    for records."""
    return view.knows("list_databases") and has(view.text, FIGURES) and not has(view.text, "words")


def _questions(view: View) -> list[str]:
    """The question and, if it is a follow-up, those it leans on."""
    texts: list[str] = []
    for turn in reversed(view.turns):
        texts.insert(0, turn.text)
        if not follows_up(turn.text):
            break
    return texts


def _query(view: View, table: Table) -> Query:
    rows = [
        [dict(zip(result.header, row, strict=False)).get(column, "") for column in table.columns]
        for step in view.steps
        for result in parse_tables(step.output or "")
        for row in result.rows
    ]
    known = replace(table, header=list(table.columns), rows=rows)
    return understand_all([(text, False) for text in _questions(view)], known)


def _ask(
    view: View, found: Findings, name: str, listed: Listed, tables: list[Listed], *, lite: bool
) -> None:
    table, joined = _joined(listed, tables)
    query = _query(view, table)
    if query.noun == "rows":
        query = replace(query, noun=listed.table.source)
    if unheard.is_lost(found, data.understood(view.text, view.turn.day), table, query):
        return
    used = {*query.groups, query.measure, *(each.column for each in query.filters)} - {None}
    anywhere = any(each.column is None for each in query.filters)
    plain = used <= {*listed.table.columns} and not anywhere
    own = quoted(listed.table.source)
    statement = write(
        query, listed.table if plain else table, of=own if plain else joined, lite=lite
    )
    thought = f"I ask the table {listed.table.source} for the {statement.what}."
    output = view.do(
        "query_database", thought, database=name, sql=statement.sql, limit=50,
        purpose=statement.purpose,
    )  # fmt: skip
    results = parse_tables(output)
    found.source(f"{name} · {listed.table.source}", None, "The figures of this answer.")
    if not results:
        found.summary = "The query did not work, so there is no figure to give."
        found.lower(reason(output), "low")
        return
    tell(found, results[0], statement, query, f"{listed.table.source} in {name}")
    data.present(view, found, results[0], table, statement, query)
    follow_ups(found, table, query)


def _is_named(question: str, tables: list[Listed]) -> bool:
    """Whether a question speaks of a table, or of a column that is not of every day."""
    asked = content(question)
    return any(overlap(asked, stems(each.table.source)) >= 1 for each in tables)


def _run(view: View, found: Findings, name: str, sql: str) -> None:
    """A statement that the person wrote."""
    output = view.do("query_database", "I run this statement.", database=name, sql=sql, limit=50)
    results = parse_tables(output)
    if not results:
        found.summary = "The statement did not work."
        found.lower(reason(output), "low")
        return
    rows = results[0].rows
    found.summary = f"The statement gives {'one row' if len(rows) == 1 else f'{len(rows)} rows'}:"
    found.caption, found.columns, found.rows = "Result", results[0].header, rows_shown(rows[:20])
    found.source(f"Database {name}", None, "The rows.")


def _sections(listing: str) -> list[tuple[str, bool, list[Listed]]]:
    """Each database: its name, whether it speaks SQLite's dialect, and its tables."""
    starts = list(SECTION.finditer(listing))
    ends = [*(match.start() for match in starts[1:]), len(listing)]
    return [
        (
            match["name"],
            match["dialect"] in (None, "sqlite"),
            [_listed(line) for line in TABLE.finditer(listing[match.end() : end])],
        )
        for match, end in zip(starts, ends, strict=False)
    ]


def _listed(line: re.Match[str]) -> Listed:
    columns: dict[str, str] = {}
    links: dict[str, tuple[str, str]] = {}
    for column in COLUMN.finditer(line["columns"]):
        columns[column["name"]] = column["kind"].strip()
        if column["table"]:
            links[column["name"]] = (column["table"], column["key"])
    return Listed(Table("", 0, columns, line["name"], None), links)


def _joined(listed: Listed, tables: list[Listed]) -> tuple[Table, str]:
    """The table with the columns of those it refers to, and the subquery that makes it."""
    own = listed.table.source
    columns = dict(listed.table.columns)
    selected, joins = [f"{quoted(own)}.*"], []
    for column, (target, key) in listed.links.items():
        other = next((each.table for each in tables if each.table.source == target), None)
        if other is None:
            continue
        joins.append(
            f" LEFT JOIN {quoted(target)} ON {quoted(own)}.{quoted(column)} = "
            f"{quoted(target)}.{quoted(key)}"
        )
        for theirs, kind in other.columns.items():
            single = stem(target)
            alias = single if theirs == "name" else theirs
            if theirs == key or alias in columns:
                continue
            columns[alias] = kind
            selected.append(f"{quoted(target)}.{quoted(theirs)} AS {quoted(alias)}")
    # Every name comes from the listing and is quoted; the database is asked read-only besides.
    of = f"(SELECT {', '.join(selected)} FROM {quoted(own)}{''.join(joins)}) AS {quoted(own)}"  # noqa: S608 (see above)
    return replace(listed.table, columns=columns), of


def _fits(question: str, listed: Listed, tables: list[Listed]) -> float:
    asked = content(question)
    table, _ = _joined(listed, tables)
    measured = understand(question, listed.table).measure is not None
    named = overlap(asked, stems(table.source))
    return 2 * named + 2 * measured + overlap(asked, stems(" ".join(table.columns)))


def _with_figures(question: str, listed: Listed, tables: list[Listed]) -> Listed:
    """ "Our biggest customers" are those of the greatest orders: the table that refers to them, and
    has the money."""
    asked = understand(question, listed.table)
    if asked.measure or asked.aggregate or not has(question, f"{DOWN}|{UP}|{SOLD}"):
        return listed
    return next((each for each in tables if _counts_money(each, listed)), listed)


def _counts_money(listed: Listed, of: Listed) -> bool:
    refers = any(target == of.table.source for target, _ in listed.links.values())
    return refers and bool({*stems(default_measure(listed.table) or "")} & {*MONEY})


def _section_fits(question: str, section: tuple[str, bool, list[Listed]]) -> float:
    name, _, tables = section
    named = 3 * overlap(content(question), stems(name))
    return named + max((_fits(question, each, tables) for each in tables), default=0.0)


def _overview(found: Findings, sections: list[tuple[str, bool, list[Listed]]]) -> None:
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
