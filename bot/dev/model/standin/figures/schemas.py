"""What there is in databases: their tables, and which refers to which."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ..findings import Findings
from ..outputs import Table
from ..words import listed as listed_words
from ..words import stem
from .sql import quoted

SECTION = re.compile(r"^database: (?P<name>\S+)(?: · (?P<dialect>\w+))?", re.M)
TABLE = re.compile(r"^(?P<name>\w+)\((?P<columns>.*)\)$", re.M)
COLUMN = re.compile(r"(?P<name>\w+) (?P<kind>[^,→]+?)(?: → (?P<table>\w+)\.(?P<key>\w+))?(?:, |$)")


@dataclass(frozen=True)
class Listed:
    """One table of a database, with the columns that refer to others."""

    table: Table
    links: dict[str, tuple[str, str]]


Section = tuple[str, bool, list[Listed]]
"""A database: its name, whether it speaks SQLite's dialect, and its tables."""


def sections_of(listing: str) -> list[Section]:
    """Each database."""
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


def joined(listed: Listed, tables: list[Listed]) -> tuple[Table, str]:
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
    others = frozenset(columns) - frozenset(listed.table.columns)
    return replace(listed.table, columns=columns, joined=others), of


def tell_sections(found: Findings, sections: list[Section]) -> None:
    """Which databases there are, with their tables and columns."""
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
