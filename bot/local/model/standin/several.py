"""Several files at once: what each holds, the same question to each, and what changed between two."""

from __future__ import annotations

import re

from . import data, wording
from .conversation import File
from .documents import tell_differences
from .findings import Findings
from .outputs import (
    Document,
    Table,
    failed,
    parse_document,
    parse_tables,
    reason,
    unreadable,
)
from .passages import cut, key_sentences, quote_from
from .query import understand
from .shaping import rows_and_columns
from .view import View
from .words import content, has, listed, number, shown

SEVERAL = r"files|both|these|them|two|each|all|compare|difference|changed?|changes|join|merge|combine|versus|vs"
GREW = r"(?:got|gone|went|became|become|getting)\b.*\b(?:more|up|higher|bigger|larger|dearer)|increased?|rose|risen|grew|grown"
FELL = r"(?:got|gone|went|became|become|getting)\b.*\b(?:less|down|lower|smaller|cheaper|fewer)|decreased?|fell|fallen|dropped|shrank"
CHANGED = r"(?:before|old|first|previous) (?:and|to|vs|versus|or) (?:after|new|second|now)|chang(?:ed|es?)|differ\w*|compare|versus|vs|added|removed"
EACH = (
    r"before and after|(?:in|of|for|from) (?:each|both|the two|all(?: files)?)|both files|each file"
)
GENERAL = r"what(?:'s| is| are)?(?: in)? (?:these|them|both|this|they|all)|summar\w+|describe|overview|compare"
TALK = r"threads?|channels?|messages"
MOST_FILES = 4
Read = Table | Document


def is_asked(view: View) -> bool:
    """Whether the message brings several files, or goes on about them, and speaks of more than one."""
    if not view.turn.files:
        of_both = has(view.text, f"{EACH}|{CHANGED}") or _is_of_changes(view)
        return len(view.files) > 1 and of_both and not has(view.text, TALK)
    return len(view.turn.files) > 1 and (has(view.text, SEVERAL) or view.text in ("", "(no words)"))


def _is_of_changes(view: View) -> bool:
    """Whether the question goes on with a comparison: what of it went up, or down."""
    compared = any(step.tool == "compare_tables" for step in view.earlier)
    return compared and not view.turn.files and has(view.text, f"{GREW}|{FELL}")


def answer(view: View, found: Findings) -> None:
    """Read them all, then compare two, ask each, or tell what each holds."""
    tables: list[Table] = []
    documents: list[Document] = []
    files = view.turn.files or view.files
    for file in files[:MOST_FILES]:
        _read(view, found, file, tables, documents)
    read: list[Read] = [*tables, *documents]
    for each in read:
        found.source(each.source, each.url, "What was compared.")
    asked = [each for each in tables if _asks(view, each)]
    of_changes = _is_of_changes(view)
    compared = has(view.text, CHANGED) or of_changes
    key = _key(tables) if compared and len(tables) == 2 else None
    if key and (of_changes or not asked):
        _tell_changes(view, found, tables[0], tables[1], key)
    elif asked:
        _ask_each(view, found, asked)
    elif len(documents) == 2 and has(view.text, CHANGED):
        tell_differences(found, *documents)
    elif documents and len(content(view.text)) > 1 and not has(view.text, GENERAL):
        _quote_each(view, found, documents)
    else:
        _describe_each(found, read)
    if len(files) > MOST_FILES:
        found.gaps.append(f"I read the first {MOST_FILES} of {len(files)} files.")


def _read(
    view: View, found: Findings, file: File, tables: list[Table], documents: list[Document]
) -> None:
    output = view.do("read_file", f"I read {file.name}.", file_id=file.id)
    if failed(output):
        found.lower(unreadable(file.name, output))
        return
    read = parse_tables(output)
    tables += read
    document = None if read else parse_document(output)
    documents += [document] if document else []


def _asks(view: View, table: Table) -> bool:
    """Whether the question names a figure of this table."""
    return understand(wording.understood(view.text, view.turn.day), table).measure is not None


def _ask_each(view: View, found: Findings, tables: list[Table]) -> None:
    """The same question to every table that can answer it."""
    summaries = []
    for table in tables:
        part = Findings()
        data.ask(view, part, table)
        summaries.append(f"{table.source}: {part.summary}")
        found.charts += part.charts
        if not found.columns:
            found.caption, found.columns, found.rows = part.caption, part.columns, part.rows
    found.summary, *found.points = summaries
    if len(tables) > 1:
        found.gaps.append(
            f"The table shows the figures of {tables[0].source}; I do not join files."
        )


def _quote_each(view: View, found: Findings, documents: list[Document]) -> None:
    """What every document says of the question."""
    for document in documents:
        part = Findings()
        quote_from(part, view.text, document.text, document.source)
        found.points.append(part.summary)
    found.summary = f"This is what the {len(documents)} files say of it:"
    found.lower("The sentences were chosen by the words they share with the question.")


def _key(tables: list[Table]) -> str | None:
    """The column that names the rows of both: an id, else the first that tells each row apart."""
    one, other = tables
    common = [column for column in one.columns if column in other.columns]
    apart = [
        column
        for column in common
        if all(t.ranges.get(column, ("",))[0].replace(",", "") == str(t.total) for t in tables)
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
    if failed(output):
        found.summary = f"{before.source} and {after.source} could not be compared."
        found.lower(reason(output), "low")
        return
    result = next(iter(parse_tables(output)), None)
    if result is None or not result.rows:
        found.summary = f"Nothing: {before.source} and {after.source} hold the same rows."
        return
    if _is_of_changes(view):
        _tell_moved(view, found, result, key)
        return
    kinds = [row[1] for row in result.rows]
    counts = [f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds)]
    found.summary = (
        f"From {before.source} to {after.source}, **{result.total} "
        f"{'change' if result.total == 1 else 'changes'}**: {listed(counts)}."
    )
    found.caption = f"What changed, by {key.replace('_', ' ')}"
    found.columns, found.rows = (
        [name.replace("_", " ") for name in result.header],
        _cells(result.rows[:20]),
    )
    if result.total > len(found.rows):
        found.gaps.append(f"The table shows the first {len(found.rows)} changes.")


def _tell_moved(view: View, found: Findings, changes: Table, key: str) -> None:
    """The rows of which a figure went up, or down."""
    up = has(view.text, GREW)
    figures = [(row, number(row[3]), number(row[4])) for row in changes.rows if row[1] == "changed"]
    moved = [
        row
        for row, old, new in figures
        if old is not None and new is not None and (new > old if up else new < old)
    ]
    way = "up" if up else "down"
    if not moved:
        found.summary = f"No figure went {way}, of those that are in both files."
        return
    found.summary = (
        f"{len(moved)} {'figure' if len(moved) == 1 else 'figures'} went {way}: "
        + listed(
            [
                f"{row[2].replace('_', ' ')} of **{row[0]}**, {' → '.join(_cells([row])[0][3:])}"
                for row in moved[:5]
            ]
        )
    )
    found.caption = f"What went {way}, by {key.replace('_', ' ')}"
    found.columns, found.rows = (
        [name.replace("_", " ") for name in changes.header],
        _cells(moved[:20]),
    )
    if changes.total > len(changes.rows):
        found.lower(f"I looked at the first {len(changes.rows)} of {changes.total:,} changes.")


def _cells(rows: list[list[str]]) -> list[list[str]]:
    whole = re.compile(r"(?<=\d)\.0(?=,|$)")
    return [[row[0], *(whole.sub("", shown(cell)) for cell in row[1:])] for row in rows]


def _describe_each(found: Findings, read: list[Read]) -> None:
    """What each file holds; of two tables also which columns they share."""
    found.points = [_described(each) for each in read]
    tables = [each for each in read if isinstance(each, Table)]
    files = {each.source.strip("`").split(" · ")[0] for each in read}
    found.summary = f"These are {len(files)} files:" if len(files) > 1 else "I read one file:"
    common = (
        [c for c in tables[0].columns if all(c in t.columns for t in tables)]
        if len(tables) > 1
        else []
    )
    if common:
        noun = "column" if len(common) == 1 else "columns"
        found.points.append(f"They share the {noun} {listed([f'`{c}`' for c in common])}")
    if len(tables) > 1:
        found.follow_ups = [f"What is in {tables[0].source.strip('`')}?"]


def _described(each: Read) -> str:
    if isinstance(each, Table):
        return rows_and_columns(each.source.strip("`"), each)
    picked = key_sentences(each.text, most=2)
    return f"**{each.source.strip('`')}**: {cut(' '.join(picked)) or 'no sentences to quote'}"
