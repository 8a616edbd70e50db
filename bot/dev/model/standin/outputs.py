"""Reads what tools returned: tables and documents with their handles, charts, failures."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field

from .conversation import OVERTAKEN

HEAD = re.compile(
    r"handle: (?P<handle>\w+) · (?P<size>[^\n]*?)(?: · source: (?P<source>[^\n<]*)"
    r"(?:<(?P<url>[^>\n]+)>)?)?$",
    re.M,
)
COLUMNS = re.compile(r"^columns: (.+)$", re.M)
COLUMN = re.compile(r"(?P<name>.+?) (?P<kind>\S+ WITH TIME ZONE|\w+\(.*\)\S*|\S+)", re.DOTALL)
ROWS = re.compile(r"([\d,]+) rows?")
CHART = re.compile(r"\b(?:cht|chart)_\w+")
FAILED = re.compile(
    r"\b(not valid|could not|cannot|can't|failed|was stopped|not found|no such|is no |is not |"
    r"refused|denied|cancelled|not run|broke off|not acquired|nothing is told|is empty|unknown|error|not allowed|must)\b|"
    r"^there (?:is|are) no\b|^no ",
    re.IGNORECASE,
)
ELSEWHERE = re.compile(r" Say that you can\b[^.]* in a direct message\.")
NUMERIC = re.compile(r"INT|DOUBLE|FLOAT|DECIMAL|REAL|NUMERIC|HUGEINT", re.IGNORECASE)
IN_UNITS = re.compile(
    r"(?:^Read as numbers: |\), )(?P<name>(?:(?!\), ).)+?) \((?P<written>[^a-zA-Z]*?) as -?[\d.]+(?=\))"
)
DATED = re.compile(r"^(DATE|TIMESTAMP)", re.IGNORECASE)


@dataclass(frozen=True)
class Table:
    """A table as a tool described it; `rows` are those that were shown."""

    handle: str
    total: int
    columns: dict[str, str]
    source: str
    url: str | None
    rows: list[list[str]] = field(default_factory=list)
    header: list[str] = field(default_factory=list)
    ranges: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    """Distinct values, least and greatest value of a column, as the profile gives them."""
    nulls: dict[str, int] = field(default_factory=dict)
    """How many rows have nothing in a column, as the profile gives it."""
    listed: dict[str, list[str]] = field(default_factory=dict)
    """All values of the columns that have few, as the profile gives them."""
    notes: list[str] = field(default_factory=list)
    """What was said of how it was read."""
    units: dict[str, str] = field(default_factory=dict)
    """The per cent or currency sign that columns were written with."""
    joined: frozenset[str] = frozenset()
    """Columns that it has from tables it refers to."""

    def numeric(self, column: str) -> bool:
        """Whether a column holds numbers."""
        return bool(NUMERIC.search(self.columns.get(column, "")))

    def dated(self, column: str) -> bool:
        """Whether a column holds dates."""
        return bool(DATED.search(self.columns.get(column, "")))

    def flag(self, column: str) -> bool:
        """Whether a column says yes or no."""
        return self.columns.get(column, "").upper().startswith("BOOL")

    @property
    def texts(self) -> list[str]:
        """Columns that hold neither numbers nor dates."""
        return [each for each in self.columns if not self.numeric(each) and not self.dated(each)]

    @property
    def values(self) -> dict[str, str]:
        """Values seen in text columns, as they are written there, each with its column."""
        seen: dict[str, str] = {}
        for column in self.texts:
            cells = [dict(zip(self.header, row, strict=False)).get(column, "") for row in self.rows]
            ends = self.ranges.get(column, ("", "", ""))[1:]
            for value in (*self.listed.get(column, ()), *cells, *ends):
                seen.setdefault(value, column)
        seen.pop("", None)
        return seen


@dataclass(frozen=True)
class Document:
    """A text as a tool showed it."""

    handle: str
    source: str
    url: str | None
    text: str
    is_beginning: bool = False
    """Whether there is more of it than was shown."""


def sheet_of(table: Table) -> str:
    """The sheet of a workbook that a table is; "" for a file of one table."""
    return table.source.rpartition(" · ")[2] if " · " in table.source else ""


def failed(output: str) -> bool:
    """Whether an output reads like a failure: no handle, and its first line says so."""
    return not HEAD.search(output) and bool(FAILED.search(output.split("\n", 1)[0][:200]))


def reason(output: str) -> str:
    """Why a tool did not do it: the first line, without what is for the model alone."""
    output = output.replace("the bot and the person who asked are both", "you and I are both")
    output = output.replace("invite the bot", "invite me")
    output = re.sub(r"\bThe bot is not in (\S+) (.*) it\b", r"I am not in \1 \2 me", output)
    output = ELSEWHERE.sub(" Ask me in a direct message.", output)
    return re.split(r" (?:Do not|Ask the person|Say so|Say that)\b", output.split("\n", 1)[0])[0]


def not_done(what: str, output: str) -> str:
    """`what` was not done, and why, in one breath."""
    if OVERTAKEN.match(output):
        return f"{what}: you wrote again before you decided. Ask for it once more to have it done."
    return f"{what}: {reason(output).removeprefix('Not done: ')}"


def unreadable(name: str, output: str) -> str:
    """That a file could not be read, and why."""
    why = reason(output)
    return why if why.startswith(name) else f"{name} could not be read: {why}"


def parse_tables(output: str) -> list[Table]:
    """Every table that an output describes."""
    found = list(HEAD.finditer(output))
    ends = [*(match.start() for match in found[1:]), len(output)][: len(found)]
    tables = []
    for match, end in zip(found, ends, strict=True):
        body = output[match.end() : end]
        columns = COLUMNS.search(body)
        if columns and not match["handle"].startswith("out"):
            tables.append(_table(match, columns, body))
    return tables


def parse_document(output: str) -> Document | None:
    """The document that an output shows, if it is one."""
    match = HEAD.search(output)
    if match is None or COLUMNS.search(output):
        return None
    body = output[match.end() :].strip()
    body = re.sub(r"\A(?:(?:title|date|note): .*\n?)+", "", body).strip()
    text = re.sub(r"^\[(?:lines|rows|The first).*\]$", "", body, flags=re.M).strip()
    return Document(match["handle"], _source(match), match["url"], text, is_beginning=text != body)


def chart_handle(output: str) -> str | None:
    """The handle of a chart that an output names."""
    match = HEAD.search(output)
    if match and match["handle"].startswith(("cht", "chart")):
        return match["handle"]
    loose = CHART.search(output)
    return loose[0] if loose else None


def _table(match: re.Match[str], columns: re.Match[str], body: str) -> Table:
    size = ROWS.search(match["size"] or "")
    header, rows = _shown(body[columns.end() :])
    profile = _profile(body)
    return Table(
        handle=match["handle"],
        total=int(size[1].replace(",", "")) if size else 0,
        columns=_columns(columns[1]),
        source=_source(match),
        url=match["url"],
        rows=rows,
        header=header,
        ranges={
            row["column"]: (row.get("distinct") or "", row.get("min") or "", row.get("max") or "")
            for row in profile
        },
        nulls={row["column"]: int(row.get("nulls") or 0) for row in profile},
        listed={row["column"]: (row.get("values") or "").split(" | ") for row in profile},
        notes=(notes := re.findall(r"^note: (.+)$", body, re.M)),
        units={column: sign for note in notes for column, sign in _units(note)},
    )


def _units(note: str) -> Iterator[tuple[str, str]]:
    """The columns that a note tells to have been written with a sign, each with it."""
    for told in IN_UNITS.finditer(note):
        for sign in told["written"]:
            if sign == "%" or unicodedata.category(sign) == "Sc":
                yield told["name"], sign


def _source(match: re.Match[str]) -> str:
    return (match["source"] or "").strip() or match["handle"]


def _columns(line: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in re.split(r", (?![^(]*\))", line):
        column = COLUMN.fullmatch(part)
        if column and not part.startswith("…"):
            found[column["name"]] = column["kind"]
    return found


def _shown(body: str) -> tuple[list[str], list[list[str]]]:
    """The rows under "first N rows:", or right under the columns."""
    first = re.search(r"^first \d+ rows:\n", body, re.M)
    if first:
        body = body[first.end() :]
    elif re.search(r"^profile:", body, re.M):
        return [], []
    lines = [line for line in body.strip("\n").split("\n\n")[0].split("\n") if line]
    return _csv([line for line in lines if not re.match(r"\[(?:rows |cut: )|note: ", line)])


def _csv(lines: list[str]) -> tuple[list[str], list[list[str]]]:
    table = list(csv.reader(io.StringIO("\n".join(lines))))
    return (table[0], table[1:]) if table else ([], [])


def page_of_rows(output: str) -> list[list[str]]:
    """The rows of a table's later page; none if the output shows none."""
    head, _, body = output.partition("\n")
    return _csv(body.split("\n"))[1] if HEAD.match(head) else []


def _profile(body: str) -> list[dict[str, str]]:
    found = re.search(r"^profile:\n(.+?)(?:\nfirst \d+ rows:|\Z)", body, re.M | re.S)
    return list(csv.DictReader(io.StringIO(found[1]))) if found else []
