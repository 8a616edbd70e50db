"""Questions to configured databases: list, choose a table, query it."""

from __future__ import annotations

import re

from .findings import Findings
from .outputs import Table, failed, parse_tables
from .query import understand
from .sql import write
from .telling import follow_ups, tell
from .view import View
from .words import content, overlap, stems

DATABASE = r"database|databases|db|sql"
TABLE = re.compile(
    r"^\s*[-*]?\s*(?:table |view )?[`\"]?(?P<name>[A-Za-z_][\w.]*)[`\"]?\s*"
    r"(?:\([\d,]+ rows\))?\s*[:(]\s*(?P<columns>[A-Za-z_][^\n]*?)\)?\s*$",
    re.M,
)
NAMED = re.compile(
    r"^(?:[-*#]+\s*)?(?:database:?\s+)?[`\"]?(?P<name>[\w-]+)[`\"]?(?:\s*[:(].*)?$", re.M
)


def answer(view: View, found: Findings) -> None:
    """Ask the database whose tables fit the words of the question."""
    listing = view.do("list_databases", "I look at what databases there are.")
    if failed(listing):
        found.summary = "No database could be asked."
        found.lower(listing.split("\n", 1)[0], "low")
        return
    database, tables = _tables(listing, view.text)
    if not tables:
        found.summary = "These databases are configured:\n" + listing.strip()[:600]
        found.lower("I could not tell which table the question means.", "low")
        return
    table = max(tables, key=lambda each: _fits(view.text, each))
    query = understand(view.text, table)
    statement = write(query, table, name=table.source, lite=True)
    thought = f"I ask the table {table.source} for the {statement.what}."
    output = view.do("query_database", thought, database=database, sql=statement.sql, limit=50)
    results = parse_tables(output)
    found.source(f"{database} · {table.source}", None, "The figures of this answer.")
    if not results:
        found.summary = "The query did not work, so there is no figure to give."
        found.lower(output.split("\n", 1)[0], "low")
        return
    tell(found, results[0], statement, query, table.source)
    if statement.assumed:
        found.lower(statement.assumed)
    follow_ups(found, table, query)


def _fits(question: str, table: Table) -> float:
    asked = content(question)
    return 3 * overlap(asked, stems(table.source)) + overlap(asked, stems(" ".join(table.columns)))


def _tables(listing: str, question: str) -> tuple[str, list[Table]]:
    """The database the question means (else the first), and its tables."""
    sections: dict[str, list[Table]] = {}
    name = ""
    for line in listing.splitlines():
        table = TABLE.match(line)
        named = NAMED.match(line)
        if table and (name or line.startswith((" ", "-", "*"))):
            sections.setdefault(name, []).append(_table(table))
        elif named and not line.startswith(" "):
            name = named["name"]
            sections.setdefault(name, [])
    if not sections:
        return "", []
    asked = content(question)
    fits = {
        each: 3 * overlap(asked, stems(each)) + max([_fits(question, t) for t in tables], default=0)
        for each, tables in sections.items()
    }
    best = max(fits, key=lambda each: fits[each])
    return best, sections[best]


def _table(match: re.Match[str]) -> Table:
    columns: dict[str, str] = {}
    for part in match["columns"].split(","):
        name, _, kind = part.strip().partition(" ")
        columns[name.strip('`"')] = _kind(name, kind)
    return Table("", 0, columns, match["name"], None)


def _kind(name: str, declared: str) -> str:
    """SQLite keeps dates as text, so a name counts too."""
    if not declared or declared.upper().startswith(("TEXT", "VARCHAR")):
        dated = bool({"date", "day", "at"} & set(stems(name)))
        return "DATE" if dated else "VARCHAR"
    return declared
