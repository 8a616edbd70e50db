"""Two files that came together: what changed from one table to the other, or between two texts."""

from __future__ import annotations

import re

from ..findings import Findings
from ..outputs import Document, Table, failed, parse_document, parse_tables, reason, unreadable
from ..phrasing import IT, phrase
from ..texts.documents import tell_differences
from ..view import View
from ..words import listed, shown
from .columns import identifies
from .reading import read_on
from .sql import quoted

ASKED = phrase(
    rf"compare (?:{IT}|\S+ (?:and|with|to) \S+)(?: and tell me what (?:changed|differs))?|(?:(?:what|which|show|list)(?:['’]s| is| are| has| have)? )?(?:the )?(?:rows )?"
    r"(?:changed?|changes|different|differences?|differs?|added|removed)(?: (?:between|from|in|to|of) .+)?|"
    rf"how do (?:{IT}|they) differ"
)
MOST_ROWS = 20


def told(view: View, found: Findings) -> bool:
    """Whether two files are to be compared, which is told; else False."""
    files = view.turn.files or view.files
    if len(files) != 2 or not ASKED.fullmatch(view.text):
        return False
    outputs = [view.do("read_file", f"I read {file.name}.", file_id=file.id) for file in files]
    for file, output in zip(files, outputs, strict=True):
        if failed(output):
            found.lower(unreadable(file.name, output))
    tables = [table for output in outputs for table in parse_tables(output)[:1]]
    documents = [document for output in outputs if (document := parse_document(output))]
    read: list[Table | Document] = [*tables, *documents]
    for each in read:
        found.source(each.source, each.url, "What was compared.")
    if len(documents) == 2:
        tell_differences(found, *documents)
        return True
    if len(tables) == 2 and (key := _key(tables)):
        _tell_changes(view, found, tables[0], tables[1], key)
    elif len(tables) == 2 and {*tables[0].columns} == {*tables[1].columns}:
        _tell_rows(view, found, *tables)
    else:
        found.summary = (
            "My rules compare two texts, or two tables with the same columns. These are neither."
        )
        found.sources.clear()
    return True


def _key(tables: list[Table]) -> str | None:
    """The column that names the rows of both: an id, else the first that tells each row apart."""
    one, other = tables
    common: list[str] = [column for column in one.columns if column in other.columns]
    apart = [
        column
        for column in common
        if (column in one.texts or identifies(column))  # an amount names no row
        and all(t.ranges.get(column, ("",))[0].replace(",", "") == str(t.total) for t in tables)
    ]
    named = [
        column
        for column in apart
        if re.search(r"(?:^|_)(?:id|no|number|code|name|sku)$", column, re.I)
    ]
    return next(iter(named + apart), None)


def _tell_changes(view: View, found: Findings, before: Table, after: Table, key: str) -> None:
    output = view.do(
        "compare_tables", "I compare the two row by row.", before=before.handle, after=after.handle, key=key
    )  # fmt: skip
    if result := _differences(view, found, output, before, after):
        number = "1 change" if result.total == 1 else f"{result.total:,} changes"
        counted = _counted([row[1] for row in result.rows])
        found.summary = f"From {before.source} to {after.source}, **{number}**: {counted}."
        found.caption = f"What changed, by {key.replace('_', ' ')}"


def _tell_rows(view: View, found: Findings, before: Table, after: Table) -> None:
    """Rows that only one of the two has, where no column names them."""
    columns = ", ".join(map(quoted, before.columns))
    old, new = (f"SELECT {columns} FROM {quoted(each.handle)}" for each in (before, after))  # noqa: S608 - every name is quoted
    sql = f"SELECT 'removed' AS what, * FROM ({old} EXCEPT ALL {new}) UNION ALL SELECT 'added', * FROM ({new} EXCEPT ALL {old})"  # noqa: S608 - as above
    output = view.do(
        "query_table", "I look for rows that only one of them has.", sql=sql,
        handles=[before.handle, after.handle], purpose="rows that only one of the two files has",
    )  # fmt: skip
    if result := _differences(view, found, output, before, after):
        counted = _counted([row[0] for row in result.rows])
        found.summary = (
            f"Rows from {before.source} to {after.source}: {counted}. A row that was changed counts as both, as no "
            "column names the rows."
        )
        found.caption = "Rows that only one of them has"


def _differences(
    view: View, found: Findings, output: str, before: Table, after: Table
) -> Table | None:
    """All that differs, of which the first rows are shown; says so when it is nothing."""
    if failed(output):
        found.summary = f"{before.source} and {after.source} could not be compared."
        found.lower(reason(output), "low")
        return None
    for one, other in ((before, after), (after, before)):
        if own := [f"`{column}`" for column in one.columns if column not in other.columns]:
            found.points.append(f"Only {one.source} has {listed(own)}.")
    first = next(iter(parse_tables(output)), None)
    if first is None or not first.rows:
        found.summary = f"Nothing: {before.source} and {after.source} hold the same rows{' in the columns that both have' * bool(found.points)}."
        return None
    result = read_on(view, found, first)
    found.columns = [name.replace("_", " ") for name in result.header]
    found.rows = _cells(result.rows[:MOST_ROWS])
    if result.total > len(found.rows):
        found.gaps.append(f"The table shows the first {len(found.rows)}.")
    return result


def _counted(kinds: list[str]) -> str:
    return listed([f"**{kinds.count(kind)}** {kind}" for kind in dict.fromkeys(kinds)])


def _cells(rows: list[list[str]]) -> list[list[str]]:
    whole = re.compile(r"(?<=\d)\.0(?=,|$)")
    return [[row[0], *(whole.sub("", shown(cell)) for cell in row[1:])] for row in rows]
