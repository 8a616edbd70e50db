"""Questions to configured databases: list, choose a table and what it refers to, query."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ..findings import Findings
from ..outputs import Table, failed, parse_tables, reason
from ..talk import overheard
from ..texts.images import IMAGE
from ..view import Missing, OutOfTurns, View
from ..words import has
from .caveats import Days, asks_for_days, told_of_days
from .columns import date_column
from .data import present, refused
from .following import Meaning, answered_from, meaning_of, sources_of
from .lookup import lookup
from .reading import read_on
from .schemas import Listed, joined, sections_of, tell_sections
from .shaping import follow_ups, rows_shown
from .sql import WORDS, quoted, write
from .telling import tell

DATABASE = r"database|databases|db|sql"
OVERVIEW = re.compile(
    r"\W*(?:please )?(?:(?:which|what|list|show)(?: me)?(?: all)?(?: the| your| our)? (?:tables|databases|data)(?: (?:are|is)(?: there)?| do (?:you|we) have| can you see)?(?: (?:in|of) (?:the|our|your) (?:database|db))?|"
    r"(?:what|describe)(?:'s| is| are)?(?: there)?(?: in| inside)? (?:the|your|this|our) (?:database|db)(?: schema)?|(?:the )?(?:database )?schema|"
    r"(?:(?:give|show)(?: me)? )?(?:an )?overview of (?:the|your|this|our) (?:database|db|data))\W*",
    re.IGNORECASE,
)
WRITTEN = re.compile(r"\bSELECT\b.+\bFROM\b.+|^\W*(?i:select\b.+\bfrom\b.+)", re.DOTALL)
CHANGES = re.compile(
    r"\W*(?:(?:please|can you|could you|now|and)\W+)*(?:delete|erase|wipe|truncate|insert|update|drop|remove|add (?:an?|another|one|new|some)|set|alter|rename|change|create)\b",
    re.IGNORECASE,
)
"""An order to change something; in a question that names a table it is one to change its data."""


@dataclass(frozen=True)
class Candidate:
    """A table that a question may be about, what it asks of that one, and whether the last figures are
    from it."""

    database: str
    lite: bool
    listed: Listed
    table: Table
    of: str
    meaning: Meaning
    is_last: bool

    @property
    def title(self) -> str:
        """The title of the source of an answer from it."""
        return f"{self.database} · {self.listed.table.source}"

    @property
    def misfit(self) -> tuple[int, int, bool, bool, int, int]:
        """How badly the question fits: not whole, unknown words, rows that are not named, another table than
        before, lost words, columns of other tables; else the one that refers to the others fits best."""
        sentence, query = self.meaning.sentence, self.meaning.query
        named = (*query.groups, query.measure, *(each.of for each in query.filters))
        others = sum(name in self.table.joined for name in named)
        money = query.measure is not None and query.measure in self.listed.table.columns
        links = len(self.listed.links) if sentence.lost else 0
        lost, elsewhere = len(sentence.lost), bool(sentence.lost) and not self.is_last
        unknown = len(sentence.unknown)
        whole = 2 if sentence.lost else int(bool(self.meaning.wrong))
        return (
            whole,
            unknown,
            not sentence.noun,
            elsewhere,
            lost,
            others - money - links,
        )


def is_asked(view: View) -> bool:
    """Whether a question names a database, or is understood as one to it."""
    if has(view.text, DATABASE) or WRITTEN.search(view.text) or OVERVIEW.fullmatch(view.text):
        return True
    of_files = (
        view.turn.files
        or view.turn.quoted
        or (_is_with_data(view) and not was_asked(view))
        or _is_of_a_file(view)
    )
    speaks = has(view.text, f"{ASKS}|{OFTEN}") or CHANGES.match(view.text) or was_asked(view)
    may_be = speaks and not of_files and view.knows("list_databases")
    best = best_of(view) if may_be else None
    if best is None:
        return False
    return _is_change(view, best) or _is_known(view, best)


def _is_known(view: View, best: Candidate) -> bool:
    """Whether all of a question is known to the database, or enough to be one to it."""
    found = _looked_up(view, best).meaning
    is_whole = not found.sentence.query.silent or found.before is not None
    asks = has(view.text, ASKS) or was_asked(view)
    return (not found.sentence.lost and is_whole) or (found.sentence.named and asks)


ASKS = r"how many|how much|total|sum|average|mean|which|who|what did|top|most|best|list|show|number of|count|share|percentage|compare|per|by"


OFTEN = (
    r"customers?|clients?|orders?|tickets?|products?|sales|revenue|employees|invoices?|accounts?"
)
"""What databases often hold."""
NAMING = r"how much|what did .+ (?:order|buy|purchase)"
"""What is asked of a name alone."""


def is_meant(view: View) -> bool:
    """Whether a question that nothing else answers goes on with one to a database."""
    return not view.turn.files and was_asked(view) and not _is_of_a_file(view)


def _is_with_data(view: View) -> bool:
    """Whether the conversation holds a file that is no image."""
    return not all(IMAGE.search(file.name) for file in view.files)


def _is_of_a_file(view: View) -> bool:
    return bool(view.files) and has(view.text, r"files?|csv|xlsx|spreadsheets?|attachment")


def was_asked(view: View) -> bool:
    """Whether the last figures came from a database."""
    read = (step.output or "" for step in view.steps if step.tool == "read_file")
    files = {table.source for output in read for table in parse_tables(output)}
    told = (sources_of(turn) for turn in reversed(view.turns[:-1]))
    figures = (titles for titles in told if titles & files or any(" · " in each for each in titles))
    last = next(figures, None)
    return last is not None and not last & files


def answer(view: View, found: Findings) -> None:
    """Ask the database whose table fits the words of the question."""
    listing = view.do(
        "list_databases", "I look at what databases there are.", also=("query_database",)
    )
    sections = sections_of(listing)
    best = best_of(view)
    if failed(listing) or best is None:
        found.summary = "No database could be asked."
        found.lower(reason(listing), "low")
    elif OVERVIEW.fullmatch(view.text):
        tell_sections(found, sections)
    elif sql := WRITTEN.search(view.text):
        _run(view, found, best.database, sql[0].rstrip("` ;\n"))
    elif _is_change(view, best):
        found.summary = (
            "The database is only read here, so **nothing was changed**. Whoever keeps the data can change them; I "
            "can look them up."
        )
        found.follow_ups = ["Which tables are in the database?"]
    else:
        _ask(view, found, _looked_up(view, best))


def _is_change(view: View, best: Candidate) -> bool:
    named = best.meaning.sentence.named or has(view.text, rf"{DATABASE}|tables?|columns?|rows?")
    return CHANGES.match(view.text) is not None and (named or WRITTEN.search(view.text) is not None)


def best_of(view: View) -> Candidate | None:
    """The table that the question fits best: the one that was asked last for what goes on with it; None
    where there is none. Raises Need."""
    listing = view.do(
        "list_databases", "I look at what databases there are.", also=("query_database",)
    )
    candidates = [
        _candidate(view, name, listed, tables, lite=lite)
        for name, lite, tables in sections_of(listing)
        for listed in tables
    ]
    last = next((each for each in candidates if each.is_last), None)
    if last and last.meaning.sentence.leans:
        sentence = last.meaning.sentence
        fits_else = any(
            not each.lost or (sentence.unknown and each.noun and not each.unknown)
            for each in (other.meaning.sentence for other in candidates)
        )
        if not (sentence.lost and fits_else):
            return last
    return min(candidates, key=lambda each: each.misfit, default=None)


def _candidate(
    view: View, name: str, listed: Listed, tables: list[Listed], *, lite: bool
) -> Candidate:
    table, of = joined(listed, tables)
    title = f"{name} · {listed.table.source}"
    meaning = meaning_of(view, table, title.__eq__)
    return Candidate(name, lite, listed, table, of, meaning, is_last=_is_of(view, title))


def _is_of(view: View, title: str) -> bool:
    """Whether the last figures of the conversation are from this table."""
    for turn in reversed(view.turns[:-1]):
        if answered_from(turn, lambda source: " · " in source):
            return answered_from(turn, title.__eq__)
    return False


def _looked_up(view: View, best: Candidate) -> Candidate:
    """With the words that nothing took looked up among the names that the table holds."""
    lost = best.meaning.sentence.lost
    is_of_it = best.meaning.sentence.named or best.is_last or has(view.text, NAMING)
    words = best.meaning.sentence.unknown or lost
    if words and is_of_it and (sql := lookup(view.text, words, best.table, best.of)):
        thought = f"I look which of the words are names in {best.database}."
        view.do(
            "query_database", thought, database=best.database, sql=sql, purpose="names it holds"
        )
        return best_of(view) or best
    return best


def _ask(view: View, found: Findings, best: Candidate) -> None:
    listed, query = best.listed, best.meaning.query
    if best.meaning.sentence.unknown and overheard.is_asked(view) and overheard.told(view, found):
        found.gaps.append("If you meant the database, say “in the database”.")
        return
    if refused(found, replace(best.table, source=f"{listed.table.source}"), best.meaning):
        return
    if best.lite and query.aggregate == "median":
        found.summary = f"{best.database} is an SQLite database, which works out no {WORDS['median']}. An average it does."
        return
    if query.noun == "rows":
        query = replace(query, noun=listed.table.source)
    is_plain = _is_of_one(best)
    of = quoted(listed.table.source) if is_plain else best.of
    statement = write(query, listed.table if is_plain else best.table, of=of, lite=best.lite)
    thought = f"I ask the table {listed.table.source} for the {statement.what}."
    output = view.do(
        "query_database", thought, database=best.database, sql=statement.sql,
        purpose=statement.purpose,
    )  # fmt: skip
    results = parse_tables(output)
    found.source(best.title, None, "The figures of this answer.")
    if not results:
        found.summary = "The query did not work, so there is no figure to give."
        found.lower(reason(output), "low")
        return
    result = read_on(view, found, results[0]) if statement.labels else results[0]
    tell(found, result, statement, query, f"{listed.table.source} in {best.database}")
    if asks_for_days(result, query):
        found.gaps += told_of_days(result, query, _days(view, best))
    present(view, found, result, statement, replace(best.meaning, query=query))
    follow_ups(found, best.table, query)


def _days(view: View, best: Candidate) -> Days:
    """Those of the table; none where there is no turn left to ask."""
    column = quoted(date_column(best.table) or "")
    sql = f"SELECT min({column}) AS first, max({column}) AS last, count(DISTINCT {column}) AS days FROM {best.of}"  # noqa: S608 - every name is quoted
    thought = "I look whether the first and last are whole."
    try:
        output = view.do(
            "query_database", thought, database=best.database, sql=sql, purpose="first and last day"
        )
    except (Missing, OutOfTurns):
        return Days()
    rows = [row for result in parse_tables(output) for row in result.rows]
    return Days(*rows[0]) if rows else Days()


def _is_of_one(best: Candidate) -> bool:
    """Whether all that is asked stands in this table: it need not be joined with others then."""
    query = best.meaning.query
    named = {*query.groups, query.measure, query.sort, *(each.of for each in query.filters)}
    return named - {None} <= {*best.listed.table.columns}


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
        rows_shown(results[0].header, rows[:20], texts=results[0].texts),
    )
    found.source(f"Database {name}", None, "The rows.")
